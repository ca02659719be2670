"""Options of a plan for a table of pages, read and checked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from recrawl.errors import InputError
from recrawl.quantities import UNIT_S, parse_duration_s, parse_rate_per_s
from recrawl.tables.spool import Common

ARMS: Final = ("uniform", "proportional")
MEASURES: Final = ("freshness", "staleness", "age", "harmonic")


@dataclass(frozen=True, kw_only=True)
class PlanQuestion:
    """Options of a plan for a table of pages, as people write them.

    Parameters
    ----------
    budget : fetches that may be made, as ``1000/h``; a page of fetch_cost 2 counts twice
    measure : one of ``MEASURES``
    spacing : ``even`` or ``random``, of the visits to a page
    host_limits : greatest rates, as ``6/min`` for every host or ``https://example.com=1/s`` for one
    site_limit : greatest rate for every registrable domain
    min_interval, max_interval : between visits of any page, as ``1h``
    half_life : in which what is new on a page loses half of its worth, as ``6h``
    unit : of the table's rates and intervals: s, min, h, d, w; None: per day
    arms : classic policies to evaluate beside, of ``ARMS``
    called : what a message calls a parameter
    """

    budget: str
    measure: str = "freshness"
    spacing: str = "even"
    host_limits: Sequence[str] = ()
    site_limit: str | None = None
    min_interval: str | None = None
    max_interval: str | None = None
    half_life: str | None = None
    unit: str | None = None
    arms: Sequence[str] = ()
    called: Callable[[str], str] = str

    def check(self) -> None:
        """Refuse words that are unknown.

        Raises
        ------
        InputError
            Naming the parameter, the word and those that are known.
        """
        for name, words, known in (
            ("measure", (self.measure,), MEASURES),
            ("spacing", (self.spacing,), ("even", "random")),
            ("compare", self.arms, ARMS),
        ):
            for word in words:
                if word not in known:
                    raise InputError(
                        f"{self.called(name)}: {word!r} is unknown; choose from {', '.join(known)}"
                    )
        if self.half_life is not None and self.measure not in ("freshness", "staleness"):
            raise InputError(
                f"{self.called('half_life')}: content that fades is planned for freshness, not for "
                f"{self.measure}; leave one of them out"
            )
        if self.unit is not None and self.unit not in UNIT_S:
            raise InputError(
                f"{self.called('unit')}: {self.unit!r} is no unit of time; choose from "
                f"{', '.join(UNIT_S)}"
            )

    @property
    def unit_s(self) -> float:
        """Length of the table's unit of time, s."""
        return UNIT_S[self.unit or "d"]

    def rate_per_s(self, name: str, text: str) -> float:
        """Return a rate > 0, per second."""
        rate = parse_rate_per_s(text, name=self.called(name))
        if not rate > 0:
            raise InputError(f"{self.called(name)}: {text} must be > 0")
        return rate

    def common(self) -> Common:
        """Return what holds for every page; bounds on intervals are in order."""
        low, high = (
            self._interval_s(name, text)
            for name, text in (
                ("min_interval", self.min_interval),
                ("max_interval", self.max_interval),
            )
        )
        if low is not None and high is not None and low > high:
            raise InputError(
                f"{self.called('min_interval')}: {self.min_interval} is above "
                f"{self.called('max_interval')}, {self.max_interval}"
            )
        life = self._interval_s("half_life", self.half_life)
        return Common(low, high, life, self.measure)

    def _interval_s(self, name: str, text: str | None) -> float | None:
        if text is None:
            return None
        seconds = parse_duration_s(text, name=self.called(name))
        if not seconds > 0:
            raise InputError(f"{self.called(name)}: {text} must be > 0")
        return seconds

    def limits_of_hosts(self) -> tuple[float, dict[str, float]]:
        """Return the limit of all hosts, and those of single ones, per second."""
        common, own = np.inf, {}
        for text in self.host_limits:
            name, equals, rate = text.rpartition("=")
            if equals:
                own[name.strip().lower()] = self.rate_per_s(f"host_limit {name}", rate)
            else:
                common = self.rate_per_s("host_limit", text)
        return common, own
