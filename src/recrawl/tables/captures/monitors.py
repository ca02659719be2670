"""The datastore of changedetection.io: every snapshot it kept is a change."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import msgspec

from recrawl.errors import InvalidTable
from recrawl.tables.captures.looks import Look, Tally

WANTED: Final = "watches of changedetection.io: url-watches.json, or a watch.json in each folder"
_UNITS_S: Final = {"weeks": 604_800, "days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}


def read_changedetection(folder: Path, tally: Tally) -> Iterator[Look]:
    """Yield what the watches of a datastore saw.

    Between two snapshots it looked at its interval and saw no change, of which only the last look
    is told: the one before the change.

    Parameters
    ----------
    folder : of changedetection.io: url-watches.json, or a watch.json in each folder in it
    tally : counts and complaints, is written

    Raises
    ------
    InvalidTable
        The folder is no datastore.
    """
    for number, (name, watch) in enumerate(_watches(folder), start=1):
        tally.n_records += 1
        url = watch.get("url")
        if not isinstance(url, str) or not url.startswith(("http://", "https://")):
            tally.bad(folder, f"watch {number}", f"url {str(url)[:80]!r} is no address")
            continue
        times = sorted(set(_snapshots(folder / name, tally)))
        if not times:
            tally.n_left_out += 1
            continue
        every_s = _interval(watch.get("time_between_check"))
        yield Look(url, times[0], changed=True, status=200)
        for before, at_s in pairwise(times):
            if every_s and at_s - every_s > before:
                yield Look(url, at_s - every_s, changed=False, status=200)
            yield Look(url, at_s, changed=True, status=200)
        last = watch.get("last_checked")
        if isinstance(last, int | float) and last > times[-1]:
            yield Look(url, float(last), changed=False, status=200)


def _watches(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    whole = folder / "url-watches.json"
    if whole.is_file():
        told = _json(whole)
        watching = told.get("watching") if isinstance(told, dict) else None
        if isinstance(watching, dict) and watching:
            yield from ((str(name), one) for name, one in watching.items() if isinstance(one, dict))
            return
    each = sorted(folder.glob("*/watch.json"))
    if not each:
        raise InvalidTable(f"{folder}: holds no {WANTED}")
    for path in each:
        told = _json(path)
        if not isinstance(told, dict):
            raise InvalidTable(f"{path}: is no JSON object")
        yield path.parent.name, told


def _json(path: Path) -> Any:
    try:
        return msgspec.json.decode(path.read_bytes())
    except OSError as error:
        raise InvalidTable(f"{path}: {error.strerror}") from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidTable(f"{path}: is no JSON ({error})") from None


def _snapshots(folder: Path, tally: Tally) -> Iterator[float]:
    index = folder / "history.txt"
    if not index.is_file():
        return
    lines = index.read_text(encoding="utf-8", errors="replace").splitlines()
    for number, line in enumerate(lines, start=1):
        at = line.partition(",")[0].strip()
        if at.isascii() and at.isdigit() and len(at) <= 12:
            yield float(at)
        elif line.strip():
            tally.n_records += 1
            tally.bad(index, f"line {number}", f"{at[:40]!r} is no instant")


def _interval(told: object) -> float:
    if not isinstance(told, dict):
        return 0.0
    return float(
        sum(
            unit * value
            for name, unit in _UNITS_S.items()
            if isinstance(value := told.get(name), int) and 0 < value < 1_000_000
        )
    )
