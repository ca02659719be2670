"""Source for the verb ``probe``: pattern file, log of updates or probes, or printed pattern."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from recrawl.crawler.settings.toml import read_toml
from recrawl.crawler.settings.zones import find_zone
from recrawl.errors import InputError, InvalidModel, InvalidTable
from recrawl.probing import DBWORLD, MICRONET, Profile, work_hours
from recrawl.quantities import UNIT_S
from recrawl.tables.event_logs import fit_log, fit_probe_results, read_event_log, read_probe_results
from recrawl.tables.text_bytes import read_text_bytes

_PRINTED: Mapping[str, Profile] = {"dbworld": DBWORLD, "micronet": MICRONET}
_KEYS = ("unit", "period", "breaks", "intensity", "shape", "importance", "importance_breaks")
LONGEST_PERIOD_S = 10 * UNIT_S["y"]
_HOURS = re.compile(r"\s*(\d{1,2})(?::(\d\d))?\s*-\s*(\d{1,2})(?::(\d\d))?\s*")


@dataclass(frozen=True, eq=False)
class GivenSource:
    """Intensity over its own period, in a unit of time.

    Parameters
    ----------
    intensity : updates per unit of time
    importance : importance of its own, if the file has one
    unit_s : seconds in a unit of time
    unit : its name
    zone : time zone
    told : how it was found, for people
    """

    intensity: Profile
    importance: Profile | None
    unit_s: float
    unit: str
    zone: str
    told: str


@dataclass(frozen=True)
class Importance:
    """Options that say when being up to date matters."""

    work_hours: str | None = None
    preference: float | None = None

    def over_week(self, day: float) -> Profile | None:
        """The function over a week whose day has the given length; None if nothing was said."""
        if self.work_hours is None:
            if self.preference is not None:
                raise InputError("--preference: also say --work-hours, such as 9-18")
            return None
        match = _HOURS.fullmatch(self.work_hours)
        if match is None:
            raise InputError(
                f"--work-hours: {self.work_hours!r} is not a span of hours; write 9-18 or 8:30-17"
            )
        first, last = (int(match[g]) + int(match[g + 1] or 0) / 60 for g in (1, 3))
        ratio = 3.0 if self.preference is None else self.preference
        if not 0 <= ratio <= 1e12:
            raise InputError(f"--preference: must be between 0 and 1e12, got {ratio!r}")
        if not 0 <= first < last <= 24:
            raise InputError(f"--work-hours: {self.work_hours!r} must lie in 0-24 and go forward")
        return work_hours(first, last, ratio, day=day)


def read_source(path: Path, zone: str | None, name: str | None) -> GivenSource:
    """Read a pattern, or learn one from a log of updates or of probe results.

    Raises
    ------
    InputError
        If the file is none of these, or holds values outside their domain.
    """
    if zone is not None:
        find_zone(zone)
    if str(path) in _PRINTED and not path.exists():
        printed = _PRINTED[str(path)]
        return GivenSource(printed, None, UNIT_S["d"], "d", zone or "UTC", f"printed, {path}")
    content = _content(path)
    is_object = content.lstrip()[:1] == b"{" and b'"intensity"' in content
    if path.suffix.lower() == ".toml" or is_object:
        return _pattern(path, zone)
    where = zone or "UTC"
    results = read_probe_results(path)
    if results is not None:
        fitted = fit_probe_results(*results, where)
        told = f"learned from {results[0].size} probes of {path.name}: {fitted.chosen}"
        return GivenSource(_hourly(fitted.rates), None, 1.0, "s", where, told)
    logs = read_event_log(path, name)
    if len(logs) > 1:
        raise InvalidTable(
            f"{path}: has {len(logs)} sources; say one with --source, such as {logs[0].name!r}, or "
            "share a budget over all of them with --budget"
        )
    found, _ = fit_log(logs[0], where)
    level = found.level_now if found.has_trend else 1.0
    told = f"learned from {found.events} updates of {logs[0].name}: {found.chosen}"
    if found.has_trend:
        told += f", at the level of the record's end ({level:.2f} times its mean)"
    return GivenSource(_hourly(found.rates * level), None, 1.0, "s", where, told)


def repeat_to(profile: Profile, period: float, name: str) -> Profile:
    """Repeat a function to fill a period, of which its own must be a whole part.

    Raises
    ------
    InputError
        If it does not go in a whole number of times.
    """
    times = period / profile.period
    if times < 1 - 1e-9 or abs(times - round(times)) > 1e-6:
        raise InputError(
            f"--period: must be a whole number of times the period of the {name}, got {times:.4g} "
            "times"
        )
    return profile.repeat(round(times)) if round(times) > 1 else profile


def _hourly(rates: np.ndarray) -> Profile:
    return Profile.steps(np.arange(rates.size + 1) * 3600.0, rates)


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read()
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read: {error.strerror}; give a pattern, a log of updates, or "
            f"one of {', '.join(_PRINTED)}"
        ) from error


def _pattern(path: Path, zone: str | None) -> GivenSource:
    if path.suffix.lower() == ".toml":
        given = read_toml(path)
    else:
        try:
            given = msgspec.json.decode(read_text_bytes(path, is_json=True))
        except (ValueError, msgspec.DecodeError):
            raise InputError(f"{path}: is no JSON object with a pattern") from None
        if not isinstance(given, dict):
            raise InputError(f"{path}: is no JSON object with a pattern")
    unit = given.get("unit", "s")
    if not isinstance(unit, str) or unit not in UNIT_S:
        raise InputError(f"{path}: unit must be one of {', '.join(UNIT_S)}, got {unit!r}")
    where = zone or str(given.get("time_zone", "UTC"))
    find_zone(where)
    intensity = _function(path, given, "intensity", "breaks")
    importance = None
    if "importance" in given:
        breaks = "importance_breaks" if "importance_breaks" in given else "breaks"
        importance = _function(path, given, "importance", breaks)
    return GivenSource(intensity, importance, UNIT_S[unit], unit, where, f"pattern of {path.name}")


def _function(path: Path, given: Mapping[str, object], name: str, breaks: str) -> Profile:
    for key in (name, breaks):
        if not isinstance(given.get(key), list):
            raise InputError(f"{path}: {key} must be a list of numbers; the keys are {_KEYS}")
    try:
        at = np.array(given[breaks], dtype=np.float64)
        values = np.array(given[name], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{path}: {name} and {breaks} must be lists of numbers") from error
    if at.ndim != 1 or values.ndim != 1:
        raise InputError(f"{path}: {name} and {breaks} must be lists of numbers, not of lists")
    make = Profile.polygon if given.get("shape") == "linear" else Profile.steps
    try:
        return make(at, values)
    except InvalidModel as error:
        raise InputError(f"{path}: {name}: {error}") from error
