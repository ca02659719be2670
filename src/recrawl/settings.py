"""The configuration of a crawl: TOML and environment in, frozen settings out, read nowhere else.

Every value is checked here, once, and a message names the file, the key, the value and what would
be right. ``RECRAWL_CONTACT``, ``RECRAWL_BUDGET`` and ``RECRAWL_STATE`` override the file.
"""

import difflib
import os
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import msgspec

from recrawl.control.urls import host_of, normalise
from recrawl.errors import InputError, InvalidSettings
from recrawl.quantities import parse_bytes, parse_duration_s, parse_rate_per_s

__all__ = ["Settings", "load_settings"]

_AGENT_LETTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-")


class _Scope(msgspec.Struct, forbid_unknown_fields=True):
    hosts: list[str] | None = None
    include: list[str] = []
    exclude: list[str] = []
    max_depth: int = 20
    max_pages: int = 1_000_000
    max_pages_per_host: int = 1_000_000
    max_query_variants: int = 100
    max_redirects: int = 5
    sitemaps: bool = True
    feeds: bool = True


class _Politeness(msgspec.Struct, forbid_unknown_fields=True):
    delay: str = "1s"
    first_backoff: str = "60s"
    longest_backoff: str = "1d"
    allow_private: list[str] = []


class _Fetch(msgspec.Struct, forbid_unknown_fields=True):
    timeout: str = "30s"
    max_bytes: str = "4MiB"


class _Revisit(msgspec.Struct, forbid_unknown_fields=True):
    min_interval: str = "10m"
    max_interval: str = "30d"
    initial_interval: str = "1d"
    confirm_after: str = "1h"
    listings: str = "1d"


class _Weight(msgspec.Struct, forbid_unknown_fields=True):
    path: str
    weight: float


class _Buffer(msgspec.Struct, forbid_unknown_fields=True):
    capacity: int = 32
    deadline: str = "10m"


class _Index(msgspec.Struct, forbid_unknown_fields=True):
    language: str = "english"
    commit_every: str = "2s"


class _Plan(msgspec.Struct, forbid_unknown_fields=True):
    replan: str = "5m"
    discovery_share: float = 0.5
    typical_change: str = "14d"


class _File(msgspec.Struct, forbid_unknown_fields=True):
    seeds: list[str] = []
    seed_file: str | None = None
    contact: str = ""
    name: str = "recrawl"
    budget: str = "1000/h"
    robots: int = 8
    state: str = "recrawl-state"
    scope: _Scope = msgspec.field(default_factory=_Scope)
    politeness: _Politeness = msgspec.field(default_factory=_Politeness)
    fetch: _Fetch = msgspec.field(default_factory=_Fetch)
    revisit: _Revisit = msgspec.field(default_factory=_Revisit)
    weights: list[_Weight] = []
    buffer: _Buffer = msgspec.field(default_factory=_Buffer)
    index: _Index = msgspec.field(default_factory=_Index)
    plan: _Plan = msgspec.field(default_factory=_Plan)


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that a crawl can be told. Seconds, bytes and rates per second."""

    seeds: tuple[str, ...]
    contact: str
    state: Path
    name: str = "recrawl"
    budget_per_s: float = 1000 / 3600
    burst_s: float = 10.0
    n_robots: int = 8
    hosts: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_depth: int = 20
    max_pages: int = 1_000_000
    max_pages_per_host: int = 1_000_000
    max_query_variants: int = 100
    max_redirects: int = 5
    sitemaps: bool = True
    feeds: bool = True
    delay_s: float = 1.0
    first_backoff_s: float = 60.0
    longest_backoff_s: float = 86_400.0
    allow_private: tuple[str, ...] = ()
    timeout_s: float = 30.0
    max_bytes: int = 4 * 2**20
    min_interval_s: float = 600.0
    max_interval_s: float = 30 * 86_400.0
    initial_interval_s: float = 86_400.0
    confirm_s: float = 3_600.0
    listing_s: float = 86_400.0
    weights: tuple[tuple[str, float], ...] = ()
    buffer_capacity: int = 32
    buffer_deadline_s: float = 600.0
    language: str = "english"
    commit_s: float = 2.0
    replan_s: float = 300.0
    discovery_share: float = 0.5
    prior_rate_per_s: float = 1.0 / (14 * 86_400.0)
    measure: str = "even-freshness"

    @property
    def user_agent(self) -> str:
        """What the crawler calls itself."""
        from recrawl import __version__

        return f"{self.name}/{__version__} (+{self.contact.removeprefix('mailto:')})"


def load_settings(path: Path) -> Settings:
    """Read a configuration file.

    Raises
    ------
    InvalidSettings
        The file cannot be read, or says something that cannot be; nothing has been written.
    """
    try:
        text = path.read_bytes()
        parsed = tomllib.loads(text.decode("utf-8"))
    except OSError as error:
        hint = "; `recrawl init URL` writes one" if isinstance(error, FileNotFoundError) else ""
        raise InvalidSettings(f"{path}: {error.strerror}{hint}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidSettings(f"{path}: not valid TOML: {error}") from error
    try:
        file = msgspec.convert(parsed, _File)
    except msgspec.ValidationError as error:
        raise InvalidSettings(f"{path}: {_explained(str(error))}") from error
    for variable in ("contact", "budget", "state"):
        value = os.environ.get(f"RECRAWL_{variable.upper()}")
        if value is not None:
            file = msgspec.structs.replace(file, **{variable: value})
    try:
        return _checked(file, path.parent)
    except InputError as error:
        raise InvalidSettings(f"{path}: {error}") from error


def _explained(text: str) -> str:
    """Add the nearest known key to a complaint about an unknown one."""
    if "unknown field" not in text:
        return text.replace(" - at `$.", ": key `").replace("$.", "")
    name = text.split("`")[1]
    where = text.split("at `$")[1].strip("`. ") if "at `$" in text else ""
    section: Any = {
        "scope": _Scope, "politeness": _Politeness, "fetch": _Fetch, "revisit": _Revisit,
        "buffer": _Buffer, "index": _Index, "plan": _Plan, "": _File,
    }.get(where.partition("[")[0], _Weight)  # fmt: skip
    known = [item.name for item in msgspec.structs.fields(section)]
    near = difflib.get_close_matches(name, known, n=1)
    meant = f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(known)}"
    return f"unknown key {name!r}{f' in [{where}]' if where else ''}; {meant}"


def _checked(file: _File, folder: Path) -> Settings:
    settings = Settings(
        seeds=_seeds(file, folder),
        contact=_contact(file.contact),
        state=folder / file.state,
        name=_name(file.name),
        budget_per_s=_budget(file.budget),
        n_robots=_at_least("robots", file.robots, 1, 10_000),
        include=_patterns("scope.include", file.scope.include),
        exclude=_patterns("scope.exclude", file.scope.exclude),
        max_depth=_at_least("scope.max_depth", file.scope.max_depth, 0),
        max_pages=_at_least("scope.max_pages", file.scope.max_pages, 1),
        max_pages_per_host=_at_least("scope.max_pages_per_host", file.scope.max_pages_per_host, 1),
        max_query_variants=_at_least("scope.max_query_variants", file.scope.max_query_variants, 0),
        max_redirects=_at_least("scope.max_redirects", file.scope.max_redirects, 0, 20),
        sitemaps=file.scope.sitemaps,
        feeds=file.scope.feeds,
        delay_s=_duration("politeness.delay", file.politeness.delay, 0.0),
        first_backoff_s=_duration("politeness.first_backoff", file.politeness.first_backoff, 1.0),
        longest_backoff_s=_duration(
            "politeness.longest_backoff", file.politeness.longest_backoff, 1.0
        ),
        allow_private=tuple(file.politeness.allow_private),
        timeout_s=_duration("fetch.timeout", file.fetch.timeout, 0.001),
        max_bytes=_size("fetch.max_bytes", file.fetch.max_bytes),
        min_interval_s=_duration("revisit.min_interval", file.revisit.min_interval, 0.001),
        max_interval_s=_duration("revisit.max_interval", file.revisit.max_interval, 0.001),
        initial_interval_s=_duration(
            "revisit.initial_interval", file.revisit.initial_interval, 0.001
        ),
        confirm_s=_duration("revisit.confirm_after", file.revisit.confirm_after, 0.0),
        listing_s=_duration("revisit.listings", file.revisit.listings, 0.001),
        weights=tuple((_pattern(rule.path), _weight(rule)) for rule in file.weights),
        buffer_capacity=_at_least("buffer.capacity", file.buffer.capacity, 1, 1_000_000),
        buffer_deadline_s=_duration("buffer.deadline", file.buffer.deadline, 0.001),
        language=_language(file.index.language),
        commit_s=_duration("index.commit_every", file.index.commit_every, 0.001),
        replan_s=_duration("plan.replan", file.plan.replan, 0.001),
        discovery_share=_share("plan.discovery_share", file.plan.discovery_share),
        prior_rate_per_s=1.0 / _duration("plan.typical_change", file.plan.typical_change, 0.001),
    )
    if settings.min_interval_s > settings.max_interval_s:
        raise InvalidSettings(
            f"revisit.min_interval ({file.revisit.min_interval}) is longer than "
            f"revisit.max_interval ({file.revisit.max_interval})"
        )
    if file.scope.hosts is not None:
        if not file.scope.hosts:
            raise InvalidSettings(
                "scope.hosts is empty; leave it out to mean the hosts of the seeds"
            )
        return replace(settings, hosts=tuple(file.scope.hosts))
    own = dict.fromkeys(host_of(seed).partition("://")[2] for seed in settings.seeds)
    return replace(settings, hosts=tuple(own))


def _seeds(file: _File, folder: Path) -> tuple[str, ...]:
    given = [("seeds", seed) for seed in file.seeds]
    if file.seed_file is not None:
        path = folder / file.seed_file
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
            raise InvalidSettings(f"seed_file {path}: {reason}") from error
        given += [
            (f"{path}, line {number}", line.strip())
            for number, line in enumerate(lines, start=1)
            if line.strip() and not line.startswith("#")
        ]
    seeds = []
    for where, text in given:
        url = normalise(text)
        if url is None:
            raise InvalidSettings(
                f"{where}: {text!r} is no http or https address, such as https://example.org/"
            )
        seeds.append(url)
    if not seeds:
        raise InvalidSettings(
            'seeds: give at least one address, as seeds = ["https://example.org/"]'
        )
    return tuple(dict.fromkeys(seeds))


def _contact(text: str) -> str:
    usable = text.startswith(("mailto:", "https://", "http://")) or (
        "@" in text and " " not in text
    )
    if not usable or text.endswith("example.org") or text in ("mailto:", "https://", "http://"):
        said = repr(text) if text else "nothing"
        raise InvalidSettings(
            f"contact: {said} is no way to reach you; site owners must be able to, so write a mail "
            "address (mailto:you@your.domain) or a page about your crawler (https://...)"
        )
    if not text.isascii() or not text.isprintable():
        raise InvalidSettings(f"contact: {text!r} must be printable ASCII")
    return f"mailto:{text}" if "://" not in text and not text.startswith("mailto:") else text


def _name(text: str) -> str:
    if not text or not set(text) <= _AGENT_LETTERS:
        raise InvalidSettings(
            f"name: {text!r} is no product token; robots.txt knows only letters, '_' and '-'"
        )
    return text


def _budget(text: str) -> float:
    rate = parse_rate_per_s(text, name="budget")
    if rate <= 0:
        raise InvalidSettings(
            f"budget: {text!r} buys nothing; write a rate above 0, such as 1000/h"
        )
    if rate > 100_000:
        raise InvalidSettings(f"budget: {text!r} is more than 100000/s, which no machine can spend")
    return rate


def _duration(name: str, text: str, least: float) -> float:
    value = parse_duration_s(text, name=name)
    if value < least:
        raise InvalidSettings(f"{name}: {text!r} is too short; at least {least:g}s")
    return value


def _size(name: str, text: str) -> int:
    value = parse_bytes(text, name=name)
    if not 1_000 <= value <= 2**30:
        raise InvalidSettings(f"{name}: {text!r} is not between 1kB and 1GiB")
    return value


def _at_least(name: str, value: int, least: int, most: int | None = None) -> int:
    if value < least or (most is not None and value > most):
        bound = f"at least {least}" + (f" and at most {most}" if most is not None else "")
        raise InvalidSettings(f"{name}: {value} must be {bound}")
    return value


def _share(name: str, value: float) -> float:
    if not 0.0 <= value <= 1.0:
        raise InvalidSettings(f"{name}: {value} must be between 0 and 1")
    return value


def _pattern(text: str) -> str:
    if not text:
        raise InvalidSettings("a path pattern is empty; write one such as /docs/*")
    return text


def _patterns(name: str, given: list[str]) -> tuple[str, ...]:
    if any(not pattern for pattern in given):
        raise InvalidSettings(f"{name}: a path pattern is empty; write one such as /docs/*")
    return tuple(given)


def _weight(rule: _Weight) -> float:
    if not 0.0 <= rule.weight < float("inf"):
        raise InvalidSettings(f"weights: {rule.weight} for {rule.path!r} must be finite and >= 0")
    return float(rule.weight)


def _language(text: str) -> str:
    known = (
        "arabic danish dutch english finnish french german greek hungarian italian norwegian none "
        "portuguese romanian russian spanish swedish tamil turkish"
    ).split()
    if text not in known:
        raise InvalidSettings(f"index.language: {text!r} is not one of {', '.join(known)}")
    return text
