"""Sources of signals: judged by visits that are told once, however often they are shown."""

import numpy as np
import pytest

from recrawl.crawler.control.signal_sources import SignalSources
from recrawl.learning.signals import SignalQuality


def shown(
    sources: SignalSources, n_visits: int, since: int, found: np.ndarray
) -> list[tuple[int, SignalQuality]]:
    """Show the visits of two pages, of sources 0 and 5, up to a number."""
    page = np.repeat([0, 1], n_visits - since)
    changed = np.tile(found[since:n_visits], 2)
    signals = np.concatenate([found[since:n_visits].astype(float), np.ones(n_visits - since)])
    elapsed = np.tile(0.5 + np.arange(since, n_visits) % 7, 2)
    return list(
        sources.observe(np.array([3, 1]), page, np.array([0, 5]), elapsed, signals, changed)
    )


def test_sources_are_judged_by_what_they_proved_and_each_visit_counts_once() -> None:
    """The first is right each time, the second cries at every visit.

    120 visits, shown anew every 30, are as if they had been shown at once.
    """
    found = np.random.default_rng(0).random(120) < 0.4
    at_once, by_parts = SignalSources(), SignalSources()

    whole = dict(shown(at_once, 120, 0, found))
    for n_visits in (30, 60, 90, 120):
        parts = dict(shown(by_parts, n_visits, 0, found))

    assert whole.keys() == parts.keys() == {0, 5}
    for source in (0, 5):
        assert parts[source].log_odds == pytest.approx(whole[source].log_odds)
    assert whole[0].precision > 0.9
    assert whole[0].recall > 0.8
    assert whole[5].log_odds < 0.3 * whole[0].log_odds


def test_sources_that_say_nothing_or_little_are_not_judged() -> None:
    """Fewer than twenty visits, or no signal in any of them."""
    found = np.ones(30, np.bool_)
    assert shown(SignalSources(), 12, 0, found) == []
    quiet = SignalSources().observe(
        np.array([0]), np.zeros(30, np.int64), np.array([0]), np.ones(30), np.zeros(30), found
    )
    assert list(quiet) == []


def test_of_a_page_with_more_visits_than_are_kept_the_latest_is_new() -> None:
    """Its last ten visits, shown after each further one: the twentieth makes it judged."""
    found, sources = np.random.default_rng(1).random(20) < 0.5, SignalSources()

    judged = [bool(shown(sources, last, max(last - 10, 0), found)) for last in range(5, 21)]

    assert judged == [False] * 15 + [True]
