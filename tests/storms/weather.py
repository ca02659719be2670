"""Bad weather over hosts, from a seed, and what a crawler promises a host in any weather."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Final

import numpy as np
from typing_extensions import Unpack, override

from recrawl.crawler.ports import Clock, Fetcher, FetchOptions
from recrawl.errors import FetchError
from recrawl.terms import FetchResponse

__all__ = ["Broken", "FaultyFetcher", "Manners", "Weather", "in_weather"]

_SPELLS: Final = ["connect", "dns", "timeout", "429", "503", "500", "slow"]
_CLOUDS: Final = ["disconnected", "protocol", "too-large", "500"]
_BROKEN_OFF: Final = ("connect", "dns", "timeout", "disconnected", "protocol", "too-large")
_RETRY_AFTER: Final = ["", "5", "60", "soon", "-1"]


class Broken(AssertionError):
    """A promise of the crawler was broken."""


class Weather:
    """Spells of trouble on each host, and single troubles between them.

    Parameters
    ----------
    random : drawn from as the spells are made, and for every exchange
    hosts : names
    length_s : how long the weather lasts; afterwards it is fair
    start_s : when it begins
    """

    def __init__(
        self,
        random: np.random.Generator,
        hosts: Iterable[str],
        length_s: float,
        start_s: float = 0.0,
    ) -> None:
        self._random = random
        self._spells: dict[str, list[tuple[float, float, str]]] = {}
        self.fair_s = start_s + length_s
        for host in hosts:
            self._spells[host] = []
            at_s = start_s + random.exponential(length_s / 3)
            while at_s < self.fair_s:
                kind = str(random.choice(_SPELLS))
                until_s = at_s + random.exponential(length_s / 20)
                self._spells[host].append((at_s, until_s, kind))
                at_s = until_s + random.exponential(length_s / 3)

    def at(self, host: str, true_s: float) -> str | None:
        """Return the trouble of a host at a time, if any."""
        if true_s >= self.fair_s:
            return None
        for start_s, end_s, kind in self._spells[host]:
            if start_s <= true_s < end_s:
                return kind
        if self._random.random() < 0.03:
            return str(self._random.choice(_CLOUDS))
        return None

    def instead(self, url: str, kind: str | None) -> FetchResponse | None:
        """Return what comes in place of an answer; None: the answer itself.

        Raises
        ------
        FetchError
            No answer comes.
        """
        if kind in _BROKEN_OFF:
            raise FetchError(str(kind), "the weather")
        if kind in ("429", "503"):
            after = str(self._random.choice(_RETRY_AFTER)) or None
            return FetchResponse(url, int(kind), retry_after=after)
        return FetchResponse(url, 500) if kind == "500" else None


class Manners:
    """Holds each request to what was promised: one at a time, a rest between, a budget.

    Parameters
    ----------
    delay_s : the least rest of a host after an answer
    rate_per_s, burst : of all requests
    ended_s : when the last exchange of each host was over, by an earlier life
    slack_s : that clocks may be off by
    """

    def __init__(
        self,
        delay_s: float,
        rate_per_s: float,
        burst: float,
        ended_s: dict[str, float] | None = None,
        slack_s: float = 1e-6,
    ) -> None:
        self.starts: list[float] = []
        self._delay_s = delay_s
        self._rate, self._burst = rate_per_s, burst
        self._ended_s = {} if ended_s is None else ended_s
        self._slack_s = slack_s
        self._busy: set[str] = set()

    def begin(self, host: str, now_s: float) -> None:
        """Note a request; raises :class:`Broken`."""
        if host in self._busy:
            raise Broken(f"{host} was asked twice at a time")
        since_s = now_s - self._ended_s.get(host, -np.inf)
        if since_s < self._delay_s - self._slack_s:
            raise Broken(f"{host} was asked {since_s:.3f} s after the last answer")
        self.starts.append(now_s)
        for number, start_s in enumerate(reversed(self.starts[-200:]), start=1):
            if number > self._rate * (now_s - start_s + self._slack_s) + self._burst + 1e-6:
                raise Broken(f"{number} requests in {now_s - start_s:.3f} s are over the budget")
        self._busy.add(host)

    def end(self, host: str, now_s: float) -> None:
        """Note that an exchange is over, however it ended."""
        self._busy.discard(host)
        self._ended_s[host] = now_s

    def longest_pause_s(self, since_s: float, until_s: float) -> float:
        """Return the longest time without a request between two instants."""
        inside = [at_s for at_s in self.starts if since_s <= at_s <= until_s]
        return float(np.diff([since_s, *inside, until_s]).max())


class FaultyFetcher(Fetcher):
    """Asks another fetcher, in bad weather, and holds the crawler to its manners.

    Parameters
    ----------
    inner : what is asked
    clock : the time of crawl and web
    weather, manners : of the hosts
    """

    def __init__(self, inner: Fetcher, clock: Clock, weather: Weather, manners: Manners) -> None:
        self._inner = inner
        self._clock = clock
        self._weather = weather
        self._manners = manners

    @override
    async def fetch(self, url: str, **asked: Unpack[FetchOptions]) -> FetchResponse:
        host = url[: url.index("/", 8)]
        now_s = self._clock.now_s()
        self._manners.begin(host, now_s)
        try:
            kind = self._weather.at(host, now_s)
            if kind in ("slow", "timeout"):
                await asyncio.sleep(1.0 if kind == "slow" else 10.0)
            instead = self._weather.instead(url, kind)
            if instead is not None:
                return instead
            return await self._inner.fetch(url, **asked)
        finally:
            self._manners.end(host, self._clock.now_s())


def in_weather(
    seed: int,
    *,
    hosts: Iterable[str],
    start_s: float,
    length_s: float,
    manners: Manners,
) -> Callable[[Fetcher, Clock], Fetcher]:
    """Return what puts a fetcher into weather that is drawn from a seed."""
    weather = Weather(np.random.default_rng(seed), hosts, length_s, start_s)
    return lambda inner, clock: FaultyFetcher(inner, clock, weather, manners)
