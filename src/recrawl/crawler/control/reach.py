"""Reach of a crawl: which addresses it takes in, as its state keeps it from start to start."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace

from recrawl.crawler.control.admission import Admission
from recrawl.crawler.control.scope import Scope
from recrawl.crawler.control.urls import host_of

__all__ = ["Reach", "reach_of"]


@dataclass(frozen=True, slots=True)
class Reach:
    """Patterns and bounds that let an address in.

    Parameters
    ----------
    hosts, include, exclude : as :class:`.Scope` has them
    bounds : numbers, of which a larger one lets more in
    widened_s : when the crawl began to take more than before, in epoch seconds; None: it never did
    """

    hosts: tuple[str, ...]
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
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

    def after(self, before: "Reach | None", seeds: Sequence[str], now_s: float) -> "Reach":
        """Return this reach with the instant at which it became wider than the one before.

        A host where the crawl has a seed makes it no wider: its pages are found from there.

        Parameters
        ----------
        before : of the last start; None: nobody knows
        seeds : addresses in normal form
        now_s : the instant
        """
        if before is None:
            return self
        is_wider = self._is_wider(before, [host_of(url) for url in seeds])
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
        pairs = zip(self.bounds, before.bounds, strict=False)
        return any(now > then for now, then in pairs)


def reach_of(admission: Admission, limits: Sequence[float]) -> Reach:
    """Return the reach of a crawl.

    Parameters
    ----------
    admission : its rules
    limits : on how many pages it takes in, in one order always
    """
    scope = admission.scope
    bounds = (scope.max_depth, scope.max_hops, admission.sitemaps, admission.feeds, *limits)
    return Reach(scope.hosts, scope.include, scope.exclude, tuple(map(float, bounds)))
