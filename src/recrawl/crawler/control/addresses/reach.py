"""Reach of a crawl: which addresses it takes in, as its state keeps it from start to start."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace

from recrawl.crawler.control.addresses.admission import Admission
from recrawl.crawler.control.addresses.scope import Scope
from recrawl.crawler.control.urls import host_of


@dataclass(frozen=True, slots=True)
class Reach:
    """Patterns and bounds that let an address in.

    Parameters
    ----------
    hosts, include, exclude : as :class:`.Scope` has them
    follows : redirects in a row, and whether sitemaps and feeds are read: more lets more in
    bounds : on how much is taken in, of which a larger one lets more in where some was refused
    widened_s : when the crawl began to take more than before, in epoch seconds; None: it never did
    """

    hosts: tuple[str, ...]
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    follows: tuple[float, ...] = ()
    bounds: tuple[float, ...] = ()
    widened_s: float | None = None

    def as_text(self) -> str:
        """Return what a state keeps."""
        return json.dumps(asdict(self))

    @classmethod
    def of_text(cls, text: str | None) -> "Reach | None":
        """Return what was kept; None where nothing was that this version understands."""
        try:
            kept = json.loads(text or "")
            told = {
                one.name: tuple(kept[one.name]) for one in fields(cls) if one.name != "widened_s"
            }
            return cls(**told, widened_s=kept["widened_s"])
        except (ValueError, KeyError, TypeError):
            return None

    def takes_host(self, url: str) -> bool:
        """Tell whether the host of a URL in normal form belongs to the crawl."""
        return Scope(self.hosts).has_host(host_of(url))

    def after(
        self, before: "Reach | None", seeds: Sequence[str], now_s: float, *, has_refused: bool
    ) -> "Reach":
        """Return this reach with the instant at which it became wider than the one before.

        A host where the crawl has a seed makes it no wider: its pages are found from there.

        Parameters
        ----------
        before : of the last start; None: nobody knows
        seeds : addresses in normal form
        now_s : the instant
        has_refused : whether bounds have kept out any address
        """
        if before is None:
            return self
        is_wider = self._is_wider(before, [host_of(url) for url in seeds])
        is_wider |= has_refused and _has_more(self.bounds, before.bounds)
        return replace(self, widened_s=now_s if is_wider else before.widened_s)

    def _is_wider(self, before: "Reach", seeded: Sequence[str]) -> bool:
        hosts = set(self.hosts) - set(before.hosts)
        if any(not any(map(Scope((host,)).has_host, seeded)) for host in hosts):
            return True
        includes = before.include and not set(self.include) <= set(before.include)
        if includes or (before.include and not self.include):
            return True
        if set(before.exclude) - set(self.exclude):
            return True
        return _has_more(self.follows, before.follows)


def _has_more(after: Sequence[float], before: Sequence[float]) -> bool:
    return any(now > then for now, then in zip(after, before, strict=False))


def reach_of(admission: Admission, limits: Sequence[float]) -> Reach:
    """Return the reach of a crawl.

    Parameters
    ----------
    admission : its rules
    limits : on how many pages it takes in, in one order always
    """
    scope = admission.scope
    follows = (float(scope.max_hops), float(admission.sitemaps), float(admission.feeds))
    bounds = (float(scope.max_depth), *map(float, limits))
    return Reach(scope.hosts, scope.include, scope.exclude, follows, bounds)
