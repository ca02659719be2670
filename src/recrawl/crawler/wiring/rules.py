"""Settings as rules of the core."""

import zlib
from dataclasses import replace
from math import inf
from pathlib import Path

import numpy as np

from recrawl.crawler.control.addresses.admission import Admission
from recrawl.crawler.control.addresses.scope import Scope, Weights
from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.dispatching.politeness import PolitenessRules
from recrawl.crawler.control.dispatching.retry import Backoff
from recrawl.crawler.control.fleet.activation import ActivationPolicy
from recrawl.crawler.control.revisiting.revisit_policy import RevisitPolicy
from recrawl.crawler.control.revisiting.timetables import ProbedBy
from recrawl.crawler.ports import AdmissionLimits
from recrawl.crawler.runtime.crawl import CrawlPlan
from recrawl.crawler.runtime.parts import ImportanceRules, Rules
from recrawl.crawler.settings import Settings, SourceSettings
from recrawl.crawler.settings.zones import find_zone
from recrawl.crawler.wiring.reading import reading_mark, step_mark
from recrawl.crawler.wiring.zones import local_clock
from recrawl.terms import Discovery, Kind

_ASKED_EVERY_S = 0.5
_ZONE_FROM_S, _ZONE_TO_S = 1_577_836_800.0, 2_208_988_800.0  # the years 2020 to 2039


def crawl_rules(settings: Settings) -> Rules:
    """Return the rules that settings stand for."""
    scope = Scope(
        hosts=tuple(settings.hosts),
        include=tuple(settings.include),
        exclude=tuple(settings.exclude),
        signed_in=tuple(host for one in settings.access if one.has_login for host in one.hosts),
        max_depth=settings.max_depth,
        max_hops=settings.max_redirects,
    )
    admission = Admission(
        scope, Weights(settings.weights), sitemaps=settings.sitemaps, feeds=settings.feeds
    )
    revisit = RevisitRules(
        min_interval_s=settings.min_interval_s,
        max_interval_s=settings.max_interval_s,
        initial_interval_s=settings.initial_interval_s,
        confirm_s=settings.confirm_s,
        retry_s=max(settings.min_interval_s, settings.first_backoff_s),
        listing_s=settings.listing_s,
    )
    limits = AdmissionLimits(
        max_pages=settings.max_pages,
        max_pages_per_host=settings.max_pages_per_host,
        max_hosts_per_domain=settings.max_hosts_per_domain,
        max_listings_per_host=settings.max_listings_per_host,
        max_query_variants=settings.max_query_variants,
        max_new_per_minute=settings.max_new_per_minute,
    )
    return Rules(
        agent=settings.name,
        admission=admission,
        limits=limits,
        revisit=revisit,
        importance=ImportanceRules(
            dict(settings.importance), settings.count_half_life_s, settings.importance_s
        ),
        sources=tuple(map(_probed_by, settings.sources)),
        n_robots=settings.n_robots,
        n_servers=settings.n_servers,
        buffer_capacity=settings.buffer_capacity,
        buffer_deadline_s=settings.buffer_deadline_s,
        # A page that is leased may wait for the budget: at two requests an hour, half an hour.
        lease_s=2.0 * (settings.buffer_deadline_s + 1.0 / settings.budget_per_s)
        + 20.0 * settings.timeout_s,
        discovery_share=settings.discovery_share,
        replan_s=settings.replan_s,
        settings_mark=settings_mark(settings),
        callback=settings.callback,
        asked_every_s=_ASKED_EVERY_S,
        first_free=settings.first_pass == "polite",
        least_worth=settings.least_worth,
        prior_rate_per_s=settings.prior_rate_per_s,
        half_lives=Weights(settings.half_lives, otherwise=inf) if settings.half_lives else None,
        commit_s=settings.commit_s,
        mark_of=reading_mark(settings),
        step_mark=step_mark(settings),
        feed_keep_s=settings.feed_keep_s,
        feed_importance=settings.feed_importance,
        keep_visits_s=settings.keep_visits_s,
    )


def settings_mark(settings: Settings) -> float:
    """Return a number that no other configuration has, whichever machine reads it."""
    anywhere = replace(settings, state=Path(), memory_bytes=2**30)
    return float(zlib.crc32(repr(anywhere).encode()))


def crawl_plan(settings: Settings) -> CrawlPlan:
    """Return the budget and the manners that settings stand for."""
    backoff = Backoff(first_s=settings.first_backoff_s, longest_s=settings.longest_backoff_s)
    return CrawlPlan(
        budget_per_s=settings.budget_per_s,
        burst_s=settings.burst_s,
        politeness=PolitenessRules(
            delay_s=settings.delay_s, backoff=backoff, per_address=settings.per_address
        ),
        revisit=settings.policy,
        starvation_weight=settings.starvation_weight if settings.control == "optimal" else None,
    )


def with_policies(
    plan: CrawlPlan, revisit: RevisitPolicy | None, activation: ActivationPolicy | None
) -> CrawlPlan:
    """Return a plan that goes by the policies of a program, where it brings some."""
    if revisit is not None:
        plan = replace(plan, revisit=revisit)
    if activation is not None:
        plan = replace(plan, policy=activation, starvation_weight=None)
    return plan


def seeds_of(settings: Settings, rules: Rules) -> list[Discovery]:
    """Return where a crawl starts: its seeds, and the sources that it probes.

    Parameters
    ----------
    settings : say the seeds
    rules : made of the same settings: what is admitted, and the sources
    """
    found = rules.admission.of(settings.seeds)
    named = replace(rules.admission, sitemaps=True, feeds=True)  # whatever is followed elsewhere
    for source in rules.sources:
        found += named.of([source.url], kind=source.kind)
    return found


def _probed_by(source: SourceSettings) -> ProbedBy:
    hours = np.arange(168)
    importance = np.ones(168)
    if source.work_hours is not None:
        first, last = source.work_hours
        middle = hours % 24 + 0.5
        at_work = (first <= middle) & (middle < last) & (hours < 5 * 24)
        importance[at_work] = source.preference
    zone = find_zone(source.time_zone)
    return ProbedBy(
        url=source.url,
        kind=Kind(source.kind),
        n_probes=source.n_probes,
        gap_s=source.gap_s,
        importance=importance,
        clock=local_clock(zone, _ZONE_FROM_S, _ZONE_TO_S),
    )
