"""Schedules as files that other programs obey: JSON, CSV, iCalendar, crontab."""

import csv
import datetime as dt
import io
import re
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from recrawl.errors import InputError
from recrawl.whole_files import whole_file

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_ENDINGS = (".json", ".csv", ".ics", ".cron", ".crontab")
_DAY_S, _WEEK_S = 86_400.0, 604_800.0


_WEEKDAYS = tuple(day.lower() for day in _DAYS)
_START = re.compile(r"([a-z]{3})[a-z]*(?:\s+(\d{1,2}):(\d\d))?", re.IGNORECASE)
_A_MONDAY = dt.date(2026, 1, 5)


@dataclass(frozen=True, eq=False)
class WallTimes:
    """Probes on the wall clock of a source.

    Parameters
    ----------
    name : of the source
    zone : time zone
    start_s : start of the period, seconds since a Monday 0:00 on that clock
    monday : date of that Monday
    probes_s : times from the start of the period, seconds
    period_s : length of the period
    """

    name: str
    zone: str
    start_s: float
    monday: dt.date
    probes_s: np.ndarray
    period_s: float

    def instants(self) -> list[dt.datetime]:
        """Local times, to the second, in the order of the probes."""
        first = dt.datetime.combine(self.monday, dt.time())
        return [
            first + dt.timedelta(seconds=round(self.start_s + probe)) for probe in self.probes_s
        ]

    def lines(self) -> list[str]:
        """Weekday and time of each probe, with the week where the period has several."""
        shown = []
        for number, at in enumerate(self.instants()):
            week = int((self.start_s + self.probes_s[number] - 1e-6) // _WEEK_S) + 1
            prefix = f"week {week} " if self.period_s > _WEEK_S else ""
            shown.append(f"{prefix}{_DAYS[at.weekday()]} {at:%H:%M:%S}")
        return shown


def period_start(text: str | None) -> tuple[float, dt.date]:
    """Seconds from the Monday before to the start of the period, and that Monday.

    Raises
    ------
    InputError
        The text is neither a weekday nor a date.
    """
    if text is None:
        return 0.0, _A_MONDAY
    match = _START.fullmatch(text.strip())
    if match is not None and match[1].lower() in _WEEKDAYS:
        hours = int(match[2] or 0) * 3600 + int(match[3] or 0) * 60
        if hours < 86_400 and int(match[3] or 0) < 60:
            return _WEEKDAYS.index(match[1].lower()) * 86_400.0 + hours, _A_MONDAY
    try:
        at = dt.datetime.fromisoformat(text)
    except ValueError:
        raise InputError(
            f"--start: {text!r} is neither a weekday (mon .. sun, 'wed 09:00') nor a date "
            "(2026-09-02, 2026-09-02T09:00)"
        ) from None
    at = at.replace(tzinfo=None)
    monday = at.date() - dt.timedelta(days=at.weekday())
    return (at - dt.datetime.combine(monday, dt.time())).total_seconds(), monday


def check_out(path: Path) -> None:
    """Refuse a name whose ending says no known form, before any work is done."""
    if path.suffix.lower() not in _ENDINGS:
        raise InputError(f"--out: {path}: the name must end in {', '.join(_ENDINGS)}")


def write_schedule(path: Path, times: WallTimes, answer: dict[str, object]) -> None:
    """Write a schedule in the form that the ending of the name says.

    Raises
    ------
    InputError
        If crontab lines cannot express the period, or the file cannot be written.
    """
    ending = path.suffix.lower()
    if ending == ".json":
        text = msgspec.json.format(msgspec.json.encode(answer), indent=2).decode() + "\n"
    elif ending == ".csv":
        text = _csv(times)
    elif ending == ".ics":
        text = _calendar(times)
    else:
        text = _crontab(times)
    with whole_file(path, option="--out", raises=InputError) as part:
        part.write_text(text, encoding="utf-8", newline="")


def _csv(times: WallTimes) -> str:
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["probe", "seconds_from_start", "local_time", "time_zone"])
    for number, (probe, shown) in enumerate(zip(times.probes_s, times.lines(), strict=True), 1):
        rows.writerow([number, f"{probe:.3f}", shown, times.zone])
    return out.getvalue()


def _calendar(times: WallTimes) -> str:
    if times.period_s % _DAY_S:
        raise InputError("--out: a calendar needs a period of whole days")
    days = round(times.period_s / _DAY_S)
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//recrawl//probe//EN"]
    zone = "" if times.zone == "UTC" else f";TZID={times.zone}"
    mark = "Z" if times.zone == "UTC" else ""
    stamp = dt.datetime.combine(times.monday, dt.time())
    for number, at in enumerate(times.instants(), 1):
        lines += [
            "BEGIN:VEVENT",
            f"UID:probe-{number}-{times.name}@recrawl",
            f"DTSTAMP:{stamp:%Y%m%dT%H%M%S}Z",
            f"DTSTART{zone}:{at:%Y%m%dT%H%M%S}{mark}",
            f"RRULE:FREQ=DAILY;INTERVAL={days}",
            f"SUMMARY:Probe {times.name} ({number} of {times.probes_s.size})",
            "END:VEVENT",
        ]
    return "\r\n".join([*lines, "END:VCALENDAR", ""])


def _crontab(times: WallTimes) -> str:
    if times.period_s not in {_DAY_S, _WEEK_S}:
        raise InputError(
            "--out: crontab lines can express a period of 1d or 1w only; write .json, .csv or .ics"
        )
    lines = [f"# probes of {times.name}; to the minute", f"CRON_TZ={times.zone}"]
    seen = set()
    for at in times.instants():
        minute = at.replace(second=0) + dt.timedelta(minutes=round(at.second / 60))
        day = "*" if times.period_s == _DAY_S else str((minute.weekday() + 1) % 7)
        line = f"{minute.minute} {minute.hour} * * {day} recrawl-probe {times.name}"
        if line not in seen:
            seen.add(line)
            lines.append(line)
    return "\n".join([*lines, ""])
