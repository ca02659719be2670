"""Checks of settings by themselves and beside each other, whoever made them."""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import is_dataclass
from ipaddress import ip_address
from math import inf
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Any, Final

from recrawl.crawler.control.addresses.scope import Scope
from recrawl.crawler.control.urls import host_of, in_punycode, normalise
from recrawl.crawler.ports import StatePlace
from recrawl.errors import InvalidSettings
from recrawl.quantities import show_duration
from recrawl.terms import IMPORTANCE_SOURCES, REVISIT_POLICIES, Database

_NOBODY: Final = re.compile(
    r"[@/.](?:example\.(?:org|com|net)|your\.domain)\.?(?:[:/?#]|$)", re.IGNORECASE
)
_NAME: Final = re.compile(r"(?:\*\.)?[^\s/:*?@\[\]]+")
_AGENT_LETTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-")
_ABOVE_NOTHING: Final = (
    "budget_per_s", "burst_s", "first_backoff_s", "longest_backoff_s", "timeout_s",
    "reading_cpu_s", "min_interval_s", "max_interval_s", "initial_interval_s", "listing_s",
    "buffer_deadline_s", "starvation_weight", "commit_s", "index_timeout_s", "replan_s",
    "prior_rate_per_s", "count_half_life_s", "importance_s", "warc_max_bytes", "max_bytes",
    "reading_memory_bytes", "feed_keep_s", "keep_visits_s", "memory_bytes", "lease_s",
)  # fmt: skip
_VAST: Final = 1e18  # beyond it nothing is counted or waited for, and a state cannot hold it
_NOT_NEGATIVE: Final = ("delay_s", "confirm_s", "least_worth")
_AT_LEAST_ONE: Final = (
    "n_robots", "max_pages", "max_pages_per_host", "max_hosts_per_domain", "max_new_per_minute",
    "buffer_capacity", "n_servers", "shards",
)  # fmt: skip
_FROM_ZERO: Final = (
    "max_depth", "max_listings_per_host", "max_query_variants", "max_redirects",
)  # fmt: skip
_WHOLE: Final = (*_AT_LEAST_ONE, *_FROM_ZERO)
_TEXTS: Final = (
    "contact", "name", "accept_language", "proxy", "control", "language", "indexnow_key",
    "callback", "first_pass", "policy",
)  # fmt: skip
_YES_OR_NO: Final = ("sitemaps", "feeds", "per_address", "keep_markdown", "feed_importance")
_TABLES: Final = ("sources", "deliver", "access", "content", "render")
_LANGUAGES: Final = (
    "auto", "arabic", "danish", "dutch", "english", "finnish", "french", "german", "greek",
    "hungarian", "italian", "norwegian", "none", "portuguese", "romanian", "russian", "spanish",
    "swedish", "tamil", "turkish",
)  # fmt: skip


def made_whole(settings: Any) -> dict[str, Any]:
    """Return the values of settings that have a normal form, in it.

    Parameters
    ----------
    settings : all values of :class:`~recrawl.crawler.settings.values.Settings`, as attributes

    Raises
    ------
    InvalidSettings
        A value is wrong, alone or beside another; the message names it and what would be right.
    """
    for name in (*_ABOVE_NOTHING, *_NOT_NEGATIVE, *_WHOLE):
        _check_number(name, getattr(settings, name))
    for name in _TEXTS:
        _check_kind(name, getattr(settings, name), str, "a text")
    for name in _YES_OR_NO:
        _check_kind(name, getattr(settings, name), bool, "true or false")
    for name in _TABLES:
        _check_tables(name, getattr(settings, name))
    _check_kind("proxy_login_env", settings.proxy_login_env, str | None, "a text, or left out")
    _check_kind("warc", settings.warc, str | PathLike | None, "a folder, or left out")
    importance = _shares(settings.importance)
    _check_words(settings)
    _check_beside(settings)
    _check_per_address(settings)
    seeds = checked_seeds(("seeds", seed) for seed in _listed("seeds", settings.seeds))
    hosts = tuple(map(in_punycode, _listed("hosts", settings.hosts)))
    starts = [("seeds", url) for url in seeds]
    starts += [("sources", source.url) for source in settings.sources]
    if hosts:
        scope = Scope(hosts=hosts)
        for where, url in starts:
            if not scope.has_host(host_of(url)):
                raise InvalidSettings(
                    f"{where}: {url} is not on any of scope.hosts ({', '.join(hosts)}); "
                    "add its host there, or leave it out"
                )
    else:
        hosts = tuple(dict.fromkeys(host_of(url).partition("://")[2] for _, url in starts))
    return {
        "seeds": seeds,
        "contact": checked_contact(settings.contact),
        "name": checked_name(settings.name),
        "state": checked_state(settings.state),
        "hosts": hosts,
        "include": _listed("include", settings.include),
        "exclude": _listed("exclude", settings.exclude),
        "allow_private": tuple(map(_named, _listed("allow_private", settings.allow_private))),
        "index_command": _listed("index_command", settings.index_command),
        "weights": _pairs("weights", settings.weights),
        "half_lives": _pairs("half_lives", settings.half_lives),
        "importance": importance,
        "warc": None if settings.warc is None else Path(settings.warc),
        **{name: tuple(getattr(settings, name)) for name in _TABLES},
    }


def _check_number(name: str, value: Any) -> None:
    _check_kind(name, value, Real, "a finite number")
    if isinstance(value, bool) or not -_VAST < value < _VAST:
        raise InvalidSettings(f"{name}: {value!r:.80} must be a finite number")
    if name in _WHOLE and not isinstance(value, Integral):
        raise InvalidSettings(f"{name}: {value!r} must be a whole number")
    if name in _AT_LEAST_ONE and value < 1:
        raise InvalidSettings(f"{name}: {value!r} must be at least 1")
    if name in _ABOVE_NOTHING and value <= 0:
        raise InvalidSettings(f"{name}: {value!r} must be > 0")
    if value < 0:
        raise InvalidSettings(f"{name}: {value!r} must be >= 0")


def _check_kind(name: str, value: Any, kind: Any, wanted: str) -> None:
    if not isinstance(value, kind):
        raise InvalidSettings(f"{name}: {value!r:.80} must be {wanted}")


def _check_tables(name: str, given: Any) -> None:
    """Refuse what is no list of the parts that a file has as tables."""
    if not isinstance(given, list | tuple) or not all(map(is_dataclass, given)):
        raise InvalidSettings(
            f"{name}: {given!r:.80} is no list of {name} settings; recrawl.load_settings makes "
            f"them from the [[{name}]] of a file"
        )


def _shares(given: Any) -> tuple[tuple[str, float], ...]:
    """Return the sources of importance with the share of each, of a mapping or of pairs."""
    pairs = _items("importance", given)
    for pair in pairs:
        match pair:
            case [str() as name, int() | float() as value]:
                if name in IMPORTANCE_SOURCES and 0.0 <= value <= 1.0:
                    continue
                said = f"{name!r} with {value!r}"
            case _:
                said = f"{pair!r:.80}"
        raise InvalidSettings(
            f"importance: {said} is no share; the sources are "
            f"{', '.join(IMPORTANCE_SOURCES)}, and a share lies in 0 .. 1"
        )
    if abs(sum(value for _, value in pairs) - 1.0) > 1e-6:
        raise InvalidSettings(f"importance: the shares {pairs} must add up to 1")
    return pairs


def _check_words(settings: Any) -> None:
    """Refuse words that are none of those that are known."""
    if settings.control not in ("optimal", "room"):
        raise InvalidSettings(f"buffer.control: {settings.control!r} is not one of optimal, room")
    if settings.first_pass not in ("budget", "polite"):
        raise InvalidSettings(
            f'plan.first_pass: {settings.first_pass!r} is neither "budget" (every request counts) '
            'nor "polite" (pages never seen are fetched as fast as politeness allows)'
        )
    if settings.language not in _LANGUAGES:
        raise InvalidSettings(
            f"index.language: {settings.language!r} is not one of {', '.join(_LANGUAGES)}"
        )
    if settings.policy not in REVISIT_POLICIES:
        known = ", ".join(REVISIT_POLICIES)
        raise InvalidSettings(f"plan.policy: {settings.policy!r} is none of {known}")


def _check_beside(settings: Any) -> None:
    if settings.n_servers > 1 and not settings.index_command:
        raise InvalidSettings(
            f"index.servers: {settings.n_servers} commands are to run at a time, but there is no "
            "index.command; the index itself is written by one"
        )
    if settings.n_servers > settings.buffer_capacity:
        raise InvalidSettings(
            f"index.servers: {settings.n_servers} pages are to be indexed at a time, but the "
            f"buffer holds only {settings.buffer_capacity} (buffer.capacity)"
        )
    for section, first, last in (
        ("revisit", "min_interval", "max_interval"),
        ("politeness", "first_backoff", "longest_backoff"),
    ):
        low, high = getattr(settings, f"{first}_s"), getattr(settings, f"{last}_s")
        if low > high:
            raise InvalidSettings(
                f"{section}.{first} ({show_duration(low)}) is longer than {section}.{last} "
                f"({show_duration(high)})"
            )
    given = settings.discovery_share
    _check_kind("discovery_share", given, Real | None, "between 0 and 1, or left out")
    if given is not None and (isinstance(given, bool) or not 0.0 <= given <= 1.0):
        raise InvalidSettings(f"discovery_share: {given!r} must be between 0 and 1, or left out")


def _check_per_address(settings: Any) -> None:
    if settings.per_address and settings.proxy:
        raise InvalidSettings(
            "politeness.per_address: a proxy (fetch.proxy) resolves the names, so nobody here "
            "knows which hosts share an IP address; leave one of the two out"
        )
    if settings.per_address and settings.render:
        raise InvalidSettings(
            "politeness.per_address: a page that a browser fills ([[render]]) asks other hosts by "
            "itself, whatever their IP address; leave one of the two out"
        )


def _listed(name: str, given: Iterable[str]) -> tuple[str, ...]:
    if isinstance(given, str):
        raise InvalidSettings(f"{name}: {given!r} is one text; write a list, as [{given!r}]")
    if not isinstance(given, Iterable):
        raise InvalidSettings(f"{name}: {given!r:.80} is no list of texts")
    listed = tuple(given)
    for text in listed:
        _check_kind(name, text, str, "a text")
    return listed


def _named(text: str) -> str:
    """Return a host by its name, or ``*.name`` for all below one, as names are compared."""
    name = text.strip("[]")
    with suppress(ValueError):
        return str(ip_address(name))
    if not _NAME.fullmatch(name):
        raise InvalidSettings(
            f"politeness.allow_private: {text!r} is no host; write a name or an address without "
            "its port, such as wiki.example.org or 10.0.0.7, or *.example.org for all below one"
        )
    return in_punycode(name)


def _items(name: str, given: Any) -> tuple[Any, ...]:
    if not isinstance(given, Iterable):
        raise InvalidSettings(f"{name}: {given!r:.80} must be a mapping, or pairs")
    pairs = given.items() if isinstance(given, Mapping) else given
    return tuple(tuple(pair) if isinstance(pair, list) else pair for pair in pairs)


def _pairs(name: str, given: Any) -> tuple[tuple[str, float], ...]:
    """Return patterns of addresses with a number for each, of a mapping or of pairs."""
    pairs = _items(name, given)
    for pair in pairs:
        match pair:
            case [str(), int() | float() as value] if 0.0 <= value < inf:
                continue
        raise InvalidSettings(
            f"{name}: {pair!r} must be a pattern with a finite number >= 0, as in "
            '{"https://example.org/news/*": 5.0}'
        )
    return tuple((pattern, float(value)) for pattern, value in pairs)


def checked_seeds(given: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return addresses in normal form, each once; given with where each stands.

    Raises
    ------
    InvalidSettings
        One is no address, or there is none.
    """
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


def checked_state(given: StatePlace | str) -> StatePlace:
    """Return the directory or the database that is meant.

    Raises
    ------
    InvalidSettings
        It is an address of something else.
    """
    if isinstance(given, Database):
        return given
    if not isinstance(given, str | PathLike):
        raise InvalidSettings(f"state: {given!r} is no place for a state; write a folder")
    text = str(given)
    if text.startswith(("postgresql://", "postgres://")):
        return Database(text)
    if "://" in text:
        raise InvalidSettings(
            f"state: {text.partition('://')[0]}:// is no place for a state; write a folder, or "
            "postgresql://user@host/database"
        )
    return Path(text)


def checked_contact(text: str) -> str:
    """Return a way to reach whoever runs the crawl.

    Raises
    ------
    InvalidSettings
        It cannot be one.
    """
    usable = text.startswith(("mailto:", "https://", "http://")) or (
        "@" in text and " " not in text
    )
    if usable and _NOBODY.search(text):
        raise InvalidSettings(
            f"contact: {text!r} reaches nobody: your.domain and example.org, .com and .net stand "
            "for names of yours; write a mail address or a page of your own"
        )
    if not usable or text in ("mailto:", "https://", "http://"):
        said = repr(text) if text else "nothing"
        raise InvalidSettings(
            f"contact: {said} is no way to reach you; site owners must be able to, so write a mail "
            "address (mailto:you@your.domain) or a page about your crawler (https://...)"
        )
    if not text.isascii() or not text.isprintable():
        raise InvalidSettings(f"contact: {text!r} must be printable ASCII")
    return f"mailto:{text}" if "://" not in text and not text.startswith("mailto:") else text


def checked_name(text: str) -> str:
    """Return the product token that robots.txt knows the crawler by.

    Raises
    ------
    InvalidSettings
        It cannot be one.
    """
    if not text or not set(text) <= _AGENT_LETTERS:
        raise InvalidSettings(
            f"name: {text!r} is no product token; robots.txt knows only letters, '_' and '-'"
        )
    return text
