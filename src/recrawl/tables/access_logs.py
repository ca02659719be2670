"""Requests by people, from the logs of web servers: nginx, Apache, Caddy; combined or JSON.

A line says who asked for what, when, and what the answer was. Robots are left out by what they
call themselves, and so is everything that is no successful GET of a page. Nothing of who asked is
kept. Lines that cannot be read are counted, never guessed at.
"""

import gzip
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Final

import msgspec

from recrawl.errors import InvalidTable

_COMBINED: Final = re.compile(
    r"(?:(?P<vhost>[\w.:\[\]-]+) )?\S+ \S+ .{1,200}? \[(?P<at>[^\]]{20,40})\] "
    r'"(?P<method>[A-Z]{1,20}) (?P<target>\S{1,8000})(?: HTTP/[\d.]{1,5})?" (?P<status>\d{3}) \S+'
    r'(?: "(?:[^"\\]|\\.)*" "(?P<agent>(?:[^"\\]|\\.)*)")?'
)
_ROBOT: Final = re.compile(
    r"bot\b|bot[/;_-]|crawl|spider|slurp|scrap|archiv|fetch|monitor|preview|facebookexternal|curl/"
    r"|wget/|python|java/|go-http|okhttp|libwww|httpx|aiohttp|axios|node|ruby|perl|php/|feed|rss"
    r"|validator|scan|check|headless|lighthouse|uptime|pingdom|gptbot|claude|recrawl",
    re.IGNORECASE,
)
_AT_FORMAT: Final = "%d/%b/%Y:%H:%M:%S %z"
_MOST_LINE: Final = 65_536
_MOST_ADDRESSES: Final = 1_000_000
_EXAMPLES: Final = 3
# Names that the fields have in the JSON of Caddy, and that people give them elsewhere.
_NAMES: Final = {
    "method": ("method", "request_method"),
    "target": ("uri", "request_uri", "path", "url", "request_url"),
    "host": ("host", "http_host", "server_name", "vhost", "hostname"),
    "status": ("status", "response_status", "status_code"),
    "agent": ("http_user_agent", "user_agent", "agent", "useragent"),
    "at": ("ts", "time", "timestamp", "time_iso8601", "time_local", "msec", "@timestamp"),
}


@dataclass(slots=True)
class LogCounts:
    """Counts from a log.

    Parameters
    ----------
    counts : requests by host ("" where the log does not tell it) and path with query
    n_lines, n_broken, n_robots, n_other, n_old : all lines; those that cannot be read; robots;
        no successful GET; read before
    n_rare : requests for addresses that were asked for least, where there are over a million
    first_broken : numbers of the first lines that cannot be read
    latest_s : instant of the latest line, seconds since the epoch
    """

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    n_lines: int = 0
    n_broken: int = 0
    n_robots: int = 0
    n_other: int = 0
    n_old: int = 0
    n_rare: int = 0
    first_broken: list[int] = field(default_factory=list)
    latest_s: float = 0.0


@dataclass(frozen=True, slots=True)
class _Line:
    host: str
    target: str
    method: str
    status: int
    agent: str
    at_s: float


@contextmanager
def open_log(path: Path) -> Iterator[Iterator[bytes]]:
    """Open a log, compressed by gzip or not, for its lines.

    No more than 64 KiB of a line are held: a longer one comes without its rest, and is too long.

    Raises
    ------
    InvalidTable
        It cannot be read.
    """
    try:
        with path.open("rb") as file:
            head = file.read(2)
            file.seek(0)
            if head != b"\x1f\x8b":
                yield _lines(file)
                return
            with gzip.GzipFile(fileobj=file) as unpacked:
                yield _lines(unpacked)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InvalidTable(f"{path}: is no whole gzip file ({error})") from None
    except OSError as error:
        raise InvalidTable(f"{path}: {error.strerror or error}") from None


def _lines(file: IO[bytes] | gzip.GzipFile) -> Iterator[bytes]:
    while line := file.readline(_MOST_LINE + 1):
        rest = line
        while len(rest) > _MOST_LINE and not rest.endswith(b"\n"):
            rest = file.readline(_MOST_LINE + 1)
        yield line


def count_requests(
    path: Path, lines: Iterable[bytes], *, later_than_s: float = float("-inf")
) -> LogCounts:
    """Count the requests by people.

    Parameters
    ----------
    path : of the log, for messages
    lines : of the log
    later_than_s : lines up to this instant are left out: they were counted before

    Raises
    ------
    InvalidTable
        There is no line that can be read.
    """
    found = LogCounts()
    for raw in lines:
        if not raw.strip():
            continue
        found.n_lines += 1
        line = read_line(raw)
        if line is None:
            found.n_broken += 1
            if len(found.first_broken) < _EXAMPLES:
                found.first_broken.append(found.n_lines)
            continue
        found.latest_s = max(found.latest_s, line.at_s)
        if line.at_s <= later_than_s:
            found.n_old += 1
        elif not line.agent or line.agent == "-" or _ROBOT.search(line.agent):
            found.n_robots += 1
        elif line.method != "GET" or not (200 <= line.status < 300 or line.status == 304):
            found.n_other += 1
        else:
            found.counts[line.host, line.target] += 1
            if len(found.counts) > _MOST_ADDRESSES:
                _keep_most_asked(found)
    if found.n_lines == found.n_broken:
        raise InvalidTable(
            f"{path}: no line is of the combined format or a JSON object with method, uri, status, "
            "time and user agent"
            if found.n_lines
            else f"{path}: the log is empty"
        )
    return found


def _keep_most_asked(found: LogCounts) -> None:
    """Keep the half of the addresses that were asked for most: their memory is bounded."""
    kept = Counter(dict(found.counts.most_common(_MOST_ADDRESSES // 2)))
    found.n_rare += found.counts.total() - kept.total()
    found.counts = kept


def read_line(raw: bytes) -> _Line | None:
    """Return what a line says, or None where it cannot be read."""
    if len(raw) > _MOST_LINE:
        return None
    return _of_json(raw) if raw.lstrip().startswith(b"{") else _combined(raw)


def _combined(raw: bytes) -> _Line | None:
    match = _COMBINED.match(raw.decode("utf-8", "replace"))
    if match is None:
        return None
    at_s = _instant(match["at"])
    if at_s is None:
        return None
    vhost = match["vhost"] or ""
    host = vhost if "." in vhost and not vhost.replace(".", "").isdigit() else ""
    return _placed(
        host, match["target"], match["method"], int(match["status"]), match["agent"] or "", at_s
    )


def _of_json(raw: bytes) -> _Line | None:
    try:
        told = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(told, dict):
        return None
    request = told.get("request")
    inner: dict[str, Any] = request if isinstance(request, dict) else {}
    headers = inner.get("headers")
    flat = {str(name).lower(): value for name, value in (told | inner).items()}
    values = {
        key: next((flat[name] for name in names if name in flat), None)
        for key, names in _NAMES.items()
    }
    agents = headers.get("User-Agent") if isinstance(headers, dict) else None
    agent = agents[0] if isinstance(agents, list) and agents else values["agent"]
    if isinstance(request, str):  # nginx's own "$request"
        parts = request.split(" ")
        values["method"], values["target"] = [*parts, None, None][:2]
    at_s = _instant(values["at"])
    try:
        status = int(str(values["status"]))
    except ValueError:
        return None
    if at_s is None or not isinstance(values["target"], str):
        return None
    host = values["host"] if isinstance(values["host"], str) else ""
    return _placed(
        host, values["target"], str(values["method"] or "GET"), status, str(agent or ""), at_s
    )


def _placed(host: str, target: str, method: str, status: int, agent: str, at_s: float) -> _Line:
    """Take the host off a target that names it, as requests to a proxy do."""
    if "://" in target[:12]:
        host, _, rest = target.partition("://")[2].partition("/")
        target = f"/{rest}"
    return _Line(host.lower(), target, method, status, agent, at_s)


def _instant(value: object) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        # Seconds, or thousandths of them as some write.
        seconds = float(value) / 1000.0 if value > 1e11 else float(value)
        return seconds if 0.0 < seconds < 1e11 else None
    if not isinstance(value, str):
        return None
    for read in (_iso, _written, _number):
        try:
            return read(value)
        except (ValueError, OverflowError):
            continue
    return None


def _iso(text: str) -> float:
    at = datetime.fromisoformat(text)
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


def _written(text: str) -> float:
    return datetime.strptime(text, _AT_FORMAT).astimezone(UTC).timestamp()


def _number(text: str) -> float | None:
    return _instant(float(text))
