"""From the keys of the file to settings, each value checked once."""

import re
from pathlib import Path
from typing import Final

from recrawl.crawler.control.urls import host_of, normalise
from recrawl.crawler.ports import StatePlace
from recrawl.crawler.settings.checks import at_least, duration, points, share, size
from recrawl.crawler.settings.file import File, ImportanceKeys, Weight
from recrawl.crawler.settings.pages import (
    accept_language,
    access_settings,
    content_settings,
    kept_content,
    proxy_address,
    render_settings,
    variable,
)
from recrawl.crawler.settings.sinks import sink_settings
from recrawl.crawler.settings.sources import check_sources, source_settings
from recrawl.crawler.settings.values import DEFAULT_SHARES, Settings
from recrawl.crawler.settings.whole import (
    checked_contact,
    checked_name,
    checked_seeds,
    checked_state,
)
from recrawl.errors import InvalidSettings
from recrawl.quantities import parse_rate_per_s
from recrawl.terms import IMPORTANCE_SOURCES

_INDEXNOW_KEY: Final = re.compile(r"[A-Za-z0-9-]{8,128}")


def checked(file: File, folder: Path) -> Settings:
    """Return the settings that a file comes to.

    Parameters
    ----------
    file : as it was read
    folder : from which paths are meant

    Raises
    ------
    InputError
        A value is wrong, alone or beside another.
    """
    cluster = file.cluster
    settings = Settings(
        seeds=_seeds(file, folder),
        contact=checked_contact(file.contact),
        state=_state(file.state, folder),
        keep_visits_s=duration("keep_visits", file.keep_visits, 1.0),
        name=checked_name(file.name),
        budget_per_s=_budget(file.budget),
        n_robots=at_least("robots", file.robots, 1, 10_000),
        hosts=_hosts(file.scope.hosts),
        include=_patterns("scope.include", file.scope.include),
        exclude=_patterns("scope.exclude", file.scope.exclude),
        max_depth=at_least("scope.max_depth", file.scope.max_depth, 0),
        max_pages=at_least("scope.max_pages", file.scope.max_pages, 1),
        max_pages_per_host=at_least("scope.max_pages_per_host", file.scope.max_pages_per_host, 1),
        max_hosts_per_domain=at_least(
            "scope.max_hosts_per_domain", file.scope.max_hosts_per_domain, 1
        ),
        max_listings_per_host=at_least(
            "scope.max_listings_per_host", file.scope.max_listings_per_host, 0
        ),
        max_new_per_minute=at_least("scope.max_new_per_minute", file.scope.max_new_per_minute, 1),
        max_query_variants=at_least("scope.max_query_variants", file.scope.max_query_variants, 0),
        max_redirects=at_least("scope.max_redirects", file.scope.max_redirects, 0, 20),
        sitemaps=file.scope.sitemaps,
        feeds=file.scope.feeds,
        delay_s=duration("politeness.delay", file.politeness.delay, 0.0),
        per_address=file.politeness.per_address,
        first_backoff_s=duration("politeness.first_backoff", file.politeness.first_backoff, 1.0),
        longest_backoff_s=duration(
            "politeness.longest_backoff", file.politeness.longest_backoff, 1.0
        ),
        allow_private=tuple(file.politeness.allow_private),
        timeout_s=duration("fetch.timeout", file.fetch.timeout, 0.001),
        max_bytes=size("fetch.max_bytes", file.fetch.max_bytes),
        accept_language=accept_language(file.fetch.accept_language),
        proxy=proxy_address(file.fetch.proxy),
        proxy_login_env=variable("fetch.proxy_login_env", file.fetch.proxy_login_env),
        access=access_settings(file.access, folder),
        content=content_settings(file.content),
        render=render_settings(file.render),
        keep_markdown=kept_content(file.index.keep),
        reading_cpu_s=duration("reading.cpu", file.reading.cpu, 0.1),
        reading_memory_bytes=size("reading.memory", file.reading.memory, 384 * 2**20, 2**36),
        min_interval_s=duration("revisit.min_interval", file.revisit.min_interval, 0.001),
        max_interval_s=duration("revisit.max_interval", file.revisit.max_interval, 0.001),
        initial_interval_s=duration(
            "revisit.initial_interval", file.revisit.initial_interval, 0.001
        ),
        confirm_s=duration("revisit.confirm_after", file.revisit.confirm_after, 0.0),
        listing_s=duration("revisit.listings", file.revisit.listings, 0.001),
        weights=_weights(file.weights),
        half_lives=_half_lives(file.weights),
        importance=_importance(file.importance),
        count_half_life_s=duration("importance.half_life", file.importance.half_life, 1.0),
        importance_s=duration("importance.every", file.importance.every, 0.001),
        sources=tuple(map(source_settings, file.sources)),
        buffer_capacity=at_least("buffer.capacity", file.buffer.capacity, 1, 1_000_000),
        buffer_deadline_s=duration("buffer.deadline", file.buffer.deadline, 0.001),
        control=file.buffer.control,
        starvation_weight=_starvation_weight(file.buffer.starvation_weight),
        language=file.index.language,
        commit_s=duration("index.commit_every", file.index.commit_every, 0.001),
        index_command=_command(file.index.command),
        index_timeout_s=duration("index.timeout", file.index.timeout, 0.001),
        n_servers=at_least("index.servers", file.index.servers, 1, 64),
        warc=None
        if file.archive.warc is None
        else folder / _folder("archive.warc", file.archive.warc),
        warc_max_bytes=size("archive.max_file", file.archive.max_file),
        feed_keep_s=duration("feed.keep", file.feed.keep, 0.001),
        feed_importance=file.feed.importance,
        deliver=sink_settings(file.deliver, folder, importance=file.feed.importance),
        indexnow_key=_indexnow_key(file.signals.indexnow_key),
        policy=file.plan.policy,
        callback=_callback(file.signals.callback),
        replan_s=duration("plan.replan", file.plan.replan, 0.001),
        least_worth=points("plan.least_worth", file.plan.least_worth),
        first_pass=file.plan.first_pass,
        discovery_share=None
        if file.plan.discovery_share is None
        else share("plan.discovery_share", file.plan.discovery_share),
        shards=at_least("cluster.shards", cluster.shards, 1, 32_768),
        memory_bytes=size("cluster.memory", cluster.memory, 16 * 2**20, 2**44),
        lease_s=duration("cluster.lease", cluster.lease, 1.0),
        prior_rate_per_s=1.0 / duration("plan.typical_change", file.plan.typical_change, 0.001),
    )
    check_sources(settings)
    return settings


def _hosts(given: list[str] | None) -> tuple[str, ...]:
    if given is None:
        return ()
    if not given:
        raise InvalidSettings("scope.hosts is empty; leave it out to mean the hosts of the seeds")
    return tuple(map(_host, given))


def _host(text: str) -> str:
    if not text.strip() or "/" in text:
        raise InvalidSettings(
            f"scope.hosts: {text!r} is no host; write a name, such as example.org or *.example.org"
        )
    return text


def _seeds(file: File, folder: Path) -> tuple[str, ...]:
    given = [("seeds", seed) for seed in file.seeds]
    if file.seed_file is not None:
        path = folder / file.seed_file
        try:
            lines = path.read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
            raise InvalidSettings(f"seed_file {path}: {reason}") from error
        given += [
            (f"{path}, line {number}", line.strip())
            for number, line in enumerate(lines, start=1)
            if line.strip() and not line.strip().startswith("#")
        ]
    return checked_seeds(given)


def _folder(key: str, text: str) -> str:
    if not text.strip() or "\0" in text:
        raise InvalidSettings(f"{key}: {text!r} names no folder; write one such as recrawl-state")
    return text


def _state(text: str, folder: Path) -> StatePlace:
    place = checked_state(_folder("state", text))
    return folder / place if isinstance(place, Path) else place


def _budget(text: str) -> float:
    rate = parse_rate_per_s(text, name="budget")
    if rate <= 0:
        raise InvalidSettings(
            f"budget: {text!r} buys nothing; write a rate above 0, such as 1000/h"
        )
    if rate > 100_000:
        raise InvalidSettings(f"budget: {text!r} is more than 100000/s, which no machine can spend")
    return rate


def _pattern(text: str) -> str:
    if not text:
        raise InvalidSettings("a path pattern is empty; write one such as /docs/*")
    return text


def _patterns(name: str, given: list[str]) -> tuple[str, ...]:
    if any(not pattern for pattern in given):
        raise InvalidSettings(f"{name}: a path pattern is empty; write one such as /docs/*")
    return tuple(given)


def _weights(rules: list[Weight]) -> tuple[tuple[str, float], ...]:
    for rule in rules:
        _pattern(rule.path)
        if rule.weight is None and rule.half_life is None:
            raise InvalidSettings(f"weights: {rule.path!r} needs a weight, a half_life or both")
        if rule.weight is not None and not 0.0 <= rule.weight < float("inf"):
            raise InvalidSettings(
                f"weights: {rule.weight} for {rule.path!r} must be finite and >= 0"
            )
    return tuple((rule.path, float(rule.weight)) for rule in rules if rule.weight is not None)


def _half_lives(rules: list[Weight]) -> tuple[tuple[str, float], ...]:
    return tuple(
        (rule.path, duration("weights.half_life", rule.half_life, 1.0))
        for rule in rules
        if rule.half_life is not None
    )


def _importance(keys: ImportanceKeys) -> tuple[tuple[str, float], ...]:
    given = {name: getattr(keys, name) for name in IMPORTANCE_SOURCES}
    if all(share is None for share in given.values()):
        return DEFAULT_SHARES
    for name, value in given.items():
        if value is not None and not 0.0 <= value <= 1.0:
            raise InvalidSettings(f"importance.{name}: {value} must lie in 0 .. 1")
    told = {name: float(value) for name, value in given.items() if value}
    if abs(sum(told.values()) - 1.0) > 1e-6:
        said = ", ".join(f"{name} = {share:g}" for name, share in told.items()) or "nothing"
        raise InvalidSettings(
            f"importance: the shares ({said}) come to {sum(told.values()):g}, they must add up to "
            '1; give what is left to "even", by which all pages are alike'
        )
    return tuple(told.items())


def _indexnow_key(text: str) -> str:
    if text and not _INDEXNOW_KEY.fullmatch(text):
        raise InvalidSettings(
            f"signals.indexnow_key: {text[:200]!r} must be 8 to 128 letters, digits and dashes"
        )
    return text


def _callback(text: str) -> str:
    if not text:
        return ""
    url = normalise(text)
    if url is None or url != f"{host_of(url)}/":
        raise InvalidSettings(
            f"signals.callback: {text[:200]!r} must be the http or https address at which hubs "
            'reach recrawl serve, without a path, such as "https://crawl.example.org"'
        )
    return url.rstrip("/")


def _starvation_weight(value: float) -> float:
    if not 0.0 < value < float("inf"):
        raise InvalidSettings(f"buffer.starvation_weight: {value} must be finite and > 0")
    return float(value)


def _command(given: list[str]) -> tuple[str, ...]:
    if given and not given[0]:
        raise InvalidSettings(
            'index.command: its first word is empty; write a program, as ["python3", "embed.py"]'
        )
    if any("\0" in word for word in given):
        raise InvalidSettings("index.command: no word of a command can hold a NUL")
    return tuple(given)
