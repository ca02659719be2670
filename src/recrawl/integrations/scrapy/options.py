"""The settings of a Scrapy project that begin with ``RECRAWL_``, checked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import time
from typing import Any, Final

from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object

from recrawl.crawler.control.addresses.scope import Weights
from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.errors import InputError, InvalidSettings
from recrawl.integrations.revisits.options import RevisitOptions
from recrawl.quantities import parse_duration_s, parse_rate_per_s
from recrawl.terms import REVISIT_POLICIES

PREFIX: Final = "RECRAWL_"
INNER: Final = "RECRAWL_SCHEDULER"  # the scheduler that ours wraps
CHANGES: Final = ("body", "text", "items")
DEFAULTS: Final[Mapping[str, Any]] = {
    "RECRAWL_ENABLED": True,
    "RECRAWL_STATE": "recrawl-state",
    "RECRAWL_BUDGET": "1000/h",
    "RECRAWL_CHANGE": "body",
    "RECRAWL_VOLATILE": (),
    "RECRAWL_UNCHANGED": "skip",
    "RECRAWL_CONTINUOUS": False,
    "RECRAWL_MIN_INTERVAL": "10min",
    "RECRAWL_MAX_INTERVAL": "30d",
    "RECRAWL_INITIAL_INTERVAL": "1d",
    "RECRAWL_REPLAN": "5min",
    "RECRAWL_POLICY": "recrawl",
    "RECRAWL_WEIGHTS": {},
    "RECRAWL_CLOCK": None,
    INNER: "scrapy.core.scheduler.Scheduler",
}
_KEPT_IN_MEMORY: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(RevisitOptions):
    """Options of the add-on, whose ``host_cap_per_s`` is what Scrapy's delay lets a host have.

    Parameters
    ----------
    change : what counts as a change: of the ``body``, the ``text``, or the ``items``
    volatile : fields of items that are no change
    skip_unchanged : whether an unchanged page ends before its callback
    continuous : whether the spider stays open until something is due
    weights : what fresh copies are worth, by their addresses
    clock : seconds since the epoch
    n_waiting : requests that wait in memory for their first visit; more wait on disk
    whole : schemes that are asked for whole pages: another program than Scrapy fetches them, and a
        browser waits for ever for the page that a 304 does not bring
    """

    change: str
    volatile: frozenset[str]
    skip_unchanged: bool
    continuous: bool
    weights: Weights
    clock: Callable[[], float] = time
    n_waiting: int = _KEPT_IN_MEMORY
    whole: frozenset[str] = frozenset()

    def asks_whole(self, url: str) -> bool:
        """Tell whether a page is asked for whole, though a copy of it is known."""
        return url.partition(":")[0] in self.whole


def read_options(settings: BaseSettings) -> Options:
    """Read the settings of a project.

    Raises
    ------
    InvalidSettings
        A name is unknown or a value wrong; the message names it and what would be right.
    """
    unknown = sorted(name for name in settings if name.startswith(PREFIX) and name not in DEFAULTS)
    if unknown:
        known = ", ".join(name for name in DEFAULTS if name not in (INNER, "RECRAWL_CLOCK"))
        raise InvalidSettings(f"{unknown[0]}: there is no such setting; there are {known}")
    delay_s = float(settings.getfloat("DOWNLOAD_DELAY"))
    shortest_s = _duration(settings, "RECRAWL_MIN_INTERVAL")
    longest_s = _duration(settings, "RECRAWL_MAX_INTERVAL")
    if shortest_s > longest_s:
        raise InvalidSettings(
            f"RECRAWL_MIN_INTERVAL: {_of(settings, 'RECRAWL_MIN_INTERVAL')!r} is longer than "
            f"RECRAWL_MAX_INTERVAL, {_of(settings, 'RECRAWL_MAX_INTERVAL')!r}"
        )
    clock = _of(settings, "RECRAWL_CLOCK")
    return Options(
        state=Path(_text(settings, "RECRAWL_STATE")),
        budget_per_s=_above_nothing(parse_rate_per_s, settings, "RECRAWL_BUDGET"),
        change=_one_of(settings, "RECRAWL_CHANGE", CHANGES),
        volatile=frozenset(_names(settings, "RECRAWL_VOLATILE")),
        skip_unchanged=_one_of(settings, "RECRAWL_UNCHANGED", ("skip", "callback")) == "skip",
        continuous=_yes(settings, "RECRAWL_CONTINUOUS"),
        rules=RevisitRules(
            min_interval_s=shortest_s,
            max_interval_s=longest_s,
            initial_interval_s=_duration(settings, "RECRAWL_INITIAL_INTERVAL"),
        ),
        replan_s=_duration(settings, "RECRAWL_REPLAN"),
        policy=_one_of(settings, "RECRAWL_POLICY", REVISIT_POLICIES),
        weights=_weights(settings),
        clock=time if clock is None else load_object(clock),
        host_cap_per_s=1.0 / delay_s if delay_s > 0.0 else float("inf"),
        whole=frozenset(
            scheme
            for scheme, handler in settings.getdict("DOWNLOAD_HANDLERS").items()
            if handler is not None and not _is_scrapys(handler)
        ),
    )


def _is_scrapys(handler: Any) -> bool:
    path = handler if isinstance(handler, str) else handler.__module__
    return bool(path.startswith("scrapy."))


def _of(settings: BaseSettings, name: str) -> Any:
    return settings.get(name, DEFAULTS[name])


def _text(settings: BaseSettings, name: str) -> str:
    value = _of(settings, name)
    if not isinstance(value, str | Path) or not str(value).strip():
        raise InvalidSettings(f"{name}: {value!r} must be a text, such as {DEFAULTS[name]!r}")
    return str(value)


def _one_of(settings: BaseSettings, name: str, choices: tuple[str, ...]) -> str:
    value = _of(settings, name)
    if value not in choices:
        raise InvalidSettings(f"{name}: {value!r} is none of {', '.join(choices)}")
    return str(value)


def _yes(settings: BaseSettings, name: str) -> bool:
    try:
        return bool(settings.getbool(name, DEFAULTS[name]))
    except ValueError:
        raise InvalidSettings(f"{name}: {_of(settings, name)!r} must be True or False") from None


def _duration(settings: BaseSettings, name: str) -> float:
    return _above_nothing(parse_duration_s, settings, name)


def _above_nothing(parse: Callable[..., float], settings: BaseSettings, name: str) -> float:
    text = _text(settings, name)
    try:
        value = parse(text, name=name)
    except InputError as error:
        raise InvalidSettings(str(error)) from None
    if not value > 0:
        raise InvalidSettings(f"{name}: {text!r} must be > 0")
    return value


def _names(settings: BaseSettings, name: str) -> list[str]:
    value = _of(settings, name)
    listed = value.split(",") if isinstance(value, str) else value
    if not isinstance(listed, list | tuple | set | frozenset):
        raise InvalidSettings(f"{name}: {value!r} must be a list of names")
    return [str(one).strip() for one in listed if str(one).strip()]


def _weights(settings: BaseSettings) -> Weights:
    value = _of(settings, "RECRAWL_WEIGHTS")
    good = isinstance(value, Mapping) and all(
        isinstance(weight, int | float) and weight >= 0 for weight in value.values()
    )
    if not good:
        raise InvalidSettings(
            f"RECRAWL_WEIGHTS: {value!r} must give weights >= 0 to patterns of addresses, such as "
            "{'/news/*': 5}"
        )
    return Weights(tuple((str(pattern), float(weight)) for pattern, weight in value.items()))
