"""What hosts announce and date: learned, kept, and what it makes of visits."""

from dataclasses import replace

import numpy as np
import pytest

from recrawl.crawler.control.evidence import Evidence
from recrawl.crawler.control.revisiting.host_signals import HostSignals
from recrawl.crawler.control.revisiting.kept_beliefs import KeptHost, host_as_bytes
from recrawl.crawler.control.revisiting.signal_sources import SIGNALLED_VISIT

DAY_S, N = 86_400.0, 120
NOTHING = np.full(N, np.nan)
FOUND = np.arange(N) % 3 == 0


def visits(signalled: np.ndarray = NOTHING, ages_s: np.ndarray = NOTHING) -> Evidence:
    """Daily visits of a page, of which every third finds a change."""
    page, every_s = np.zeros(N, np.int64), np.full(N, DAY_S)
    return Evidence(np.array([1]), page, every_s, FOUND, signalled, ages_s, ["http://a.test/"])


def learned(evidence: Evidence, *hosts: str) -> HostSignals:
    """What is known after these visits of each host, in the order in which they are numbered."""
    made = HostSignals()
    for number in made.number(hosts):
        made.learn(np.full(N, number), evidence)
    return made


TRUE = visits(signalled=FOUND.astype(float))
DATED = visits(ages_s=np.where(FOUND, 0.5 * DAY_S, 2.0 * DAY_S))


def test_a_visit_that_was_announced_is_split_by_what_announcements_are_worth() -> None:
    """What was not announced within it, and for how long nothing was."""
    made = learned(TRUE, "http://a.test")
    zero = np.zeros(N, np.int64)
    (recall,), (precision,) = made.worth_of(zero[:1])

    rows, elapsed, changed, lapse = made.split(zero, zero, TRUE)

    assert 0.5 < recall < 1.0
    assert 0.5 < precision < 1.0
    assert rows.size == N + FOUND.sum()
    assert changed.sum() == FOUND.sum()
    assert elapsed[changed] == pytest.approx((1.0 - precision) * DAY_S)
    assert elapsed[np.flatnonzero(changed) + 1] == pytest.approx(recall * DAY_S)
    assert lapse[np.flatnonzero(changed) + 1] == pytest.approx(DAY_S)
    assert not lapse[changed].any()
    unannounced = visits(signalled=np.zeros(N))
    hidden = made.split(zero, zero, unannounced)[1][made.split(zero, zero, unannounced)[2]]
    assert hidden == pytest.approx((1.0 - recall) * DAY_S)


def test_a_visit_of_a_page_in_no_list_is_not_split() -> None:
    made, zero = learned(TRUE, "http://a.test"), np.zeros(N, np.int64)

    assert made.split(zero, zero, visits())[0].size == N


def test_a_dated_change_is_of_a_moment() -> None:
    made, zero = learned(DATED, "http://a.test"), np.zeros(N, np.int64)

    _, elapsed, changed, _ = made.split(zero, zero, DATED)

    assert elapsed[changed] == pytest.approx(1.0)
    assert elapsed[np.flatnonzero(changed) + 1] == pytest.approx(0.5 * DAY_S)


def test_what_was_kept_of_hosts_is_gone_on_with() -> None:
    """Those that announce, those that date, and none whose bytes cannot be read."""
    announces, dates = "http://a.test", "http://b.test"
    told = learned(TRUE, announces)
    (dated,) = told.number([dates])
    told.learn(np.full(N, dated), DATED)
    told.number(["http://c.test"])
    kept = dict(told.news())
    again = HostSignals()
    again.number(["http://first.test"])

    half = host_as_bytes(KeptHost(0.9, np.nan, np.zeros((2, 3)), np.zeros(0, SIGNALLED_VISIT)))
    again.recall({"http://broken.test": b"?", "http://half.test": half} | kept)

    assert kept.keys() == {announces, dates}
    assert told.news() == []
    one, other, broken = again.number([announces, dates, "http://broken.test"])
    assert again.trust(np.array([one, other, broken])) == pytest.approx(
        told.trust(np.array([0, 1, 2])), nan_ok=True
    )
    assert np.isnan(again.trust(np.array(again.number(["http://half.test"]))))
    assert again.change_times.truthful == {other}
    assert again.worth_of(np.array([one])) == told.worth_of(np.array([0]))
    assert again.news() == [], "they are kept already"


def test_announcements_that_are_mostly_wrong_are_worth_nothing() -> None:
    """Nor is their silence: those of a host that announces at every visit."""
    cries = learned(visits(signalled=np.ones(N)), "http://a.test")
    host = np.zeros(1, np.int64)

    assert cries.trust(host)[0] < 0.5
    assert cries.trust(np.array([1]), otherwise=0.25).tolist() == [0.25]
    assert [one.tolist() for one in cries.worth_of(host)] == [[0.0], [0.0]]


def test_a_host_is_not_gone_by_before_visits_tell_lies_from_truth() -> None:
    """Pages seldom visited have mostly changed, whatever was announced of them.

    Where all are announced and all have changed, nothing tells one from the other.
    """
    host = np.zeros(1, np.int64)

    def trust_of(n: int, signalled: np.ndarray, changed: np.ndarray) -> float:
        made = HostSignals()
        made.number(["http://a.test"])
        made.learn(
            np.zeros(n, np.int64),
            Evidence(
                np.arange(n),
                np.arange(n),
                np.full(n, DAY_S),
                changed,
                signalled,
                np.full(n, np.nan),
                [f"http://a.test/{number}" for number in range(n)],
            ),
        )
        return float(made.trust(host)[0])

    for n in (20, 40):  # all are announced, whether they have changed or not
        assert np.isnan(trust_of(n, np.ones(n), np.arange(n) % 10 != 0))
        assert np.isnan(trust_of(n, np.ones(n), np.ones(n, np.bool_)))
    assert trust_of(80, np.ones(80), np.arange(80) % 10 != 0) < 0.5
    for each in (2, 3):  # those that have changed are announced, and no others
        changed = np.arange(20) % each == 0
        assert trust_of(20, changed.astype(float), changed) > 0.8


def test_pages_that_change_often_do_not_pass_for_all() -> None:
    """Half of the changes are announced; one page changes daily, one in fifty days."""
    random, per_day = np.random.default_rng(4), np.where(np.arange(400) % 2, 1.0, 0.02)
    days = np.where(per_day == 1.0, 3.0, 10.0)
    told, silent = random.poisson(0.5 * per_day * days, (2, 400))
    evidence = Evidence(
        np.arange(2),
        np.arange(400) % 2,
        days * DAY_S,
        told + silent > 0,
        told.astype(float),
        np.full(400, np.nan),
        ["http://a.test/", "http://a.test/1"],
    )
    as_one = replace(evidence, page_ids=np.zeros(2, np.int64))
    recalls = []
    for told in (as_one, evidence):
        made = HostSignals()
        made.number(["http://a.test"])
        made.learn(np.zeros(400, np.int64), told)
        recalls.append(made.worth_of(np.zeros(1, np.int64))[0][0])

    assert recalls[0] > 0.63
    assert 0.45 < recalls[1] < 0.58
