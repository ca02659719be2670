"""Sources of signals, judged by their latest visits."""

from dataclasses import replace

import numpy as np
import pytest

from recrawl.crawler.control.evidence import Evidence
from recrawl.crawler.control.revisiting.signal_sources import SignalSources
from recrawl.learning.signals import SignalQuality


def visits(elapsed: np.ndarray, changed: np.ndarray, signals: np.ndarray) -> Evidence:
    """Return visits of one page."""
    page, undated = np.zeros(elapsed.size, np.int64), np.full(elapsed.size, np.nan)
    return Evidence(np.zeros(1, np.int64), page, elapsed, changed, signals, undated, ["/"])


def shown(
    sources: SignalSources, n_visits: int, since: int, found: np.ndarray
) -> dict[int, SignalQuality | None]:
    """Show the visits of two pages, of sources 0 and 5, up to a number."""
    source = np.repeat([0, 5], n_visits - since)
    changed = np.tile(found[since:n_visits], 2)
    signals = np.concatenate([found[since:n_visits].astype(float), np.ones(n_visits - since)])
    elapsed = np.tile(0.5 + np.arange(since, n_visits) % 7, 2)
    return dict(sources.observe(source, visits(elapsed, changed, signals)))


def test_sources_are_judged_by_what_they_proved() -> None:
    """The first is right each time, the second cries at every visit.

    120 visits, shown by thirties, are as if they had been shown at once.
    """
    found = np.random.default_rng(0).random(120) < 0.4
    at_once, by_parts = SignalSources(), SignalSources()

    whole = shown(at_once, 120, 0, found)
    for n_visits in (30, 60, 90, 120):
        parts = shown(by_parts, n_visits, n_visits - 30, found)

    right, cries = whole[0], whole[5]
    assert whole.keys() == parts.keys() == {0, 5}
    assert right is not None
    assert cries is not None
    for source in (0, 5):
        one, other = parts[source], whole[source]
        assert one is not None
        assert other is not None
        assert one.log_odds == pytest.approx(other.log_odds)
    assert right.precision > 0.9
    assert right.recall > 0.8
    assert cries.log_odds < 0.3 * right.log_odds


def test_sources_that_say_nothing_or_little_are_not_judged() -> None:
    """Fewer than twenty visits, or no signal in any of them; one that is silent is not known."""
    found, sources = np.ones(30, np.bool_), np.zeros(30, np.int64)
    assert shown(SignalSources(), 12, 0, found) == {0: None, 5: None}
    quiet = SignalSources().observe(sources, visits(np.ones(30), found, np.zeros(30)))
    assert list(quiet) == [(0, None)]
    silent = SignalSources().observe(sources, visits(np.ones(30), found, np.full(30, np.nan)))
    assert list(silent) == []


def test_the_twentieth_visit_judges_and_the_latest_two_thousand_do() -> None:
    found, sources = np.random.default_rng(1).random(5_000) < 0.5, SignalSources()

    judged = [shown(sources, last, last - 1, found)[0] is not None for last in range(1, 21)]
    shown(sources, 5_000, 20, found)

    assert judged == [False] * 19 + [True]
    assert sources.told[0].size == 2_000
    assert sources.told[0]["changed"].tolist() == found[-2_000:].tolist()


def test_visits_before_which_nothing_was_heard_tell_nothing_of_a_source() -> None:
    """Most changes are found by those; of the rest all but few were announced."""
    random, sources = np.random.default_rng(2), SignalSources()
    found = random.random(4_000) < 0.4
    is_heard = np.arange(found.size) < 100
    elapsed = 0.5 + np.arange(found.size) % 7
    signals = np.where(found & is_heard, 1.0, 0.0)
    told = visits(elapsed, found, signals)
    told.unheard_s[:] = np.where(is_heard, 0.1, 1.0) * elapsed

    ((source, quality),) = sources.observe(np.zeros(found.size, np.int64), told)

    assert source == 0
    assert quality is not None
    assert quality.recall > 0.8
    assert sources.told[0].size == 600
    assert np.count_nonzero(sources.told[0]["signals"]) == np.count_nonzero(signals)


def test_where_every_visit_followed_a_signal_most_changes_are_taken_to_be_signalled() -> None:
    """Nothing tells of the others then; visits without a signal that find changes do."""
    random, sources = np.random.default_rng(3), SignalSources()
    n_visits = 180
    elapsed = random.uniform(80.0, 300.0, n_visits)
    told = visits(elapsed, np.ones(n_visits, np.bool_), 1.0 + random.poisson(0.5, n_visits))
    told = replace(told, page_ids=np.arange(n_visits), page=np.arange(n_visits))
    told.unheard_s[:] = random.uniform(0.0, 0.4, n_visits) * elapsed

    ((_, quality),) = sources.observe(np.zeros(n_visits, np.int64), told)
    assert quality is not None
    assert quality.recall > 0.6

    silent = replace(told, signalled=np.zeros(n_visits))
    ((_, after),) = sources.observe(np.zeros(n_visits, np.int64), silent)
    assert after is not None
    assert after.recall < 0.5
