"""What was learned, as a state keeps it: it comes back, and what cannot be read is left alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.evidence import BelievedBefore, Evidence
from recrawl.crawler.control.revisiting.believed import Believed
from recrawl.crawler.control.revisiting.kept_beliefs import (
    KeptHost,
    KeptPages,
    host_as_bytes,
    host_of_bytes,
    pages_of_bytes,
)
from recrawl.crawler.control.revisiting.signal_sources import SIGNALLED_VISIT

SHAPE, PRIOR, DAY_S, N = (3, 24), 1e-6, 86_400.0, 12


def pages(evidence: np.ndarray) -> KeptPages:
    n = len(evidence)
    visits = np.stack([np.arange(n) + 7, np.arange(n)])
    last_s, memory_s = 1.8e9 + np.arange(n) / 3.0, 1e6 + np.arange(n) / 7.0
    return KeptPages(last_s, memory_s, visits, evidence.astype(np.float32))


@given(st.integers(0, 5), st.integers(0, 2**31))
def test_pages_come_back_nearly_as_they_were(n: int, seed: int) -> None:
    """All but the posterior exactly, and that to half a percent, over all its magnitudes."""
    rng = np.random.default_rng(seed)
    kept = pages(10.0 ** rng.uniform(-30.0, 30.0, (n, *SHAPE)))

    whole, found = pages_of_bytes(kept.as_bytes(PRIOR), PRIOR, SHAPE)

    assert whole.tolist() == list(range(n))
    assert found.last_visit_s.tolist() == kept.last_visit_s.tolist()
    assert found.memory_s.tolist() == kept.memory_s.tolist()
    assert found.visits.tolist() == kept.visits.tolist()
    assert np.allclose(found.evidence, kept.evidence, rtol=2.0**-7, atol=0.0)


def broken(kind: str) -> list[bytes]:
    """Three pages, of which the second cannot be read."""
    evidence = np.ones((3, *SHAPE))
    told = pages(evidence).as_bytes(PRIOR)
    if kind == "shorter":
        told[1] = told[1][:-1]
    elif kind == "empty":
        told[1] = b""
    elif kind == "another version":
        told[1] = b"\x02" + told[1][1:]
    elif kind == "another prior":
        told[1] = pages(evidence).as_bytes(2.0 * PRIOR)[1]
    else:
        evidence[1] = {"nan": np.nan, "negative": -1.0, "endless": np.inf, "nothing": 0.0}[kind]
        told = pages(evidence).as_bytes(PRIOR)
    return told


@pytest.mark.parametrize(
    "kind",
    [
        *("shorter", "empty", "another version", "another prior"),
        *("nan", "negative", "endless", "nothing"),
    ],
)
def test_pages_that_cannot_be_read_are_left_out(kind: str) -> None:
    assert pages_of_bytes(broken(kind), PRIOR, SHAPE)[0].tolist() == [0, 2]


@given(st.binary(max_size=400))
def test_any_bytes_are_read_or_left_out(said: bytes) -> None:
    pages_of_bytes([said], PRIOR, SHAPE)
    host = host_of_bytes(said)
    assert host is None or host.told.size == (len(said) - 65) // 21


def host(**other: object) -> KeptHost:
    told = np.zeros(5, SIGNALLED_VISIT)
    told["elapsed"], told["signals"], told["changed"] = 3.5, [0, 1, 0, 2, 0], [0, 1, 1, 0, 0]
    tally = np.array([[30.0, 29.0, 0.0], [10.0, 9.5, 2.0]])
    named = {"precision": 0.75, "recall": float("nan"), "tally": tally, "told": told} | other
    return KeptHost(**named)  # type: ignore[arg-type]


def test_hosts_come_back_as_they_were() -> None:
    kept = host()

    found = host_of_bytes(host_as_bytes(kept))

    assert found is not None
    assert found.precision == 0.75
    assert np.isnan(found.recall)
    assert found.tally.tolist() == kept.tally.tolist()
    assert found.told.tolist() == kept.told.tolist()


@pytest.mark.parametrize(
    "wrong",
    [
        {"precision": 1.5},
        {"recall": -0.1},
        {"tally": np.full((2, 3), np.nan)},
        {"tally": np.full((2, 3), -1.0)},
        {"tally": np.array([[1.0, 2.0, 0.0], [1.0, 1.0, 0.0]])},
        {"told": np.zeros(1, SIGNALLED_VISIT)},
        {"told": np.array([(7, 1.0, 0.0, -1.0, True)], SIGNALLED_VISIT)},
        {"told": np.array([(7, np.nan, 0.0, 1.0, True)], SIGNALLED_VISIT)},
        {"told": np.array([(7, 1.0, np.nan, 1.0, True)], SIGNALLED_VISIT)},
    ],
)
def test_hosts_that_make_no_sense_are_left_out(wrong: dict[str, object]) -> None:
    assert host_of_bytes(host_as_bytes(host(**wrong))) is None
    assert host_of_bytes(b"\x00" + host_as_bytes(host())[1:]) is None
    assert host_of_bytes(host_as_bytes(host())[:-1]) is None


class Web:
    """Pages that change every other day, of a host that announces it and dates it truthfully."""

    def __init__(self) -> None:
        rng = np.random.default_rng(4)
        self.intervals_s = rng.uniform(0.5, 3.0, (N, 60)) * DAY_S
        ages_s = rng.exponential(2.0 * DAY_S, (N, 60))
        self.changed = ages_s < self.intervals_s
        self.ages_s = np.where(self.changed, ages_s, self.intervals_s + ages_s)
        self.signalled = (self.changed & (rng.random((N, 60)) < 0.8)).astype(float)

    def told(self, n_visits: int, ids: np.ndarray | None = None) -> Evidence:
        """The first so many visits of pages, as a frontier tells them."""
        page_ids = np.arange(1, N + 1) if ids is None else ids
        rows = page_ids - 1
        intervals_s = self.intervals_s[rows, :n_visits].ravel()
        told = (intervals_s, self.changed[rows, :n_visits].ravel())
        signalled = self.signalled[rows, :n_visits].ravel()
        ages_s = self.ages_s[rows, :n_visits].ravel()
        urls = [f"https://a.test/d{page_id % 3}/{page_id}" for page_id in page_ids]
        last_s = 1.7e9 + self.intervals_s[rows, :n_visits].sum(axis=1)
        page = np.repeat(np.arange(rows.size), n_visits)
        numbers = 1_000 * page + np.tile(np.arange(n_visits), rows.size)
        return Evidence(
            page_ids,
            page,
            *told,
            signalled,
            ages_s,
            urls,
            last_visit_s=last_s,
            visit_ids=numbers,
        )


def made(prior_rate_per_s: float = PRIOR, budget_per_s: float = 1e-4) -> Believed:
    return Believed(
        RevisitRules(),
        budget_per_s=budget_per_s,
        prior_rate_per_s=prior_rate_per_s,
        prior_shape=0.5,
    )


def before(
    web: Web, n_visits: int, kept: tuple[list[bytes], list[tuple[str, bytes]]]
) -> BelievedBefore:
    now = web.told(n_visits)
    return BelievedBefore(
        now.page_ids, now.urls, now.lasting, now.last_visit_s, kept[0], dict(kept[1])
    )


def kept_by(
    believed: Believed, web: Web, n_visits: int
) -> tuple[list[bytes], list[tuple[str, bytes]]]:
    now = web.told(n_visits)
    return believed.keep(now.page_ids, now.last_visit_s)


def rates_of(believed: Believed) -> np.ndarray:
    control, rows = believed.control_of(np.arange(1, N + 1))
    return np.asarray(control.beliefs.rates(rows)[0])


def test_who_goes_on_with_what_was_kept_knows_as_much_as_who_never_stopped() -> None:
    """Rates, what announcements and dates are worth, and no visit counts twice."""
    web, whole, first, second = Web(), made(), made(), made()
    whole.learn(web.told(30))
    first.learn(web.told(30))
    kept = kept_by(first, web, 30)

    known = second.recall(before(web, 30, kept))

    assert known.tolist() == list(range(1, N + 1))
    assert rates_of(second) == pytest.approx(rates_of(whole), rel=0.01)
    assert second.trust_in_dates(known) == pytest.approx(whole.trust_in_dates(known), rel=1e-3)
    assert (second.trust_in_dates(known) > 0.5).all()
    whole.learn(web.told(60))
    second.learn(web.told(60))
    assert rates_of(second) == pytest.approx(rates_of(whole), rel=1e-6)
    assert second.trust_in_dates(known) == pytest.approx(whole.trust_in_dates(known), rel=1e-3)
    # What they keep is the same, too: every visit counted once.
    assert kept_by(first, web, 30)[1] == [], "nothing new of the host"
    told, expected = (dict(kept_by(one, web, 60)[1]) for one in (second, whole))
    assert told == expected
    assert told.keys() == {"https://a.test"}


def test_pages_visited_since_are_to_be_learned_and_others_are_not() -> None:
    web, first, second = Web(), made(), made()
    first.learn(web.told(30))
    kept = kept_by(first, web, 30)
    stale = before(web, 30, kept)
    stale.last_visit_s[3] += 1.0

    known = second.recall(stale)

    assert known.tolist() == [1, 2, 3, *range(5, N + 1)]
    assert second.knows(np.array([4, N, N + 1])).tolist() == [True, True, False]


def test_another_prior_begins_anew() -> None:
    """What was learned about it would be weighed wrongly; what hosts announce holds."""
    web, first, second = Web(), made(), made(3.0 * PRIOR)
    first.learn(web.told(30))

    known = second.recall(before(web, 30, kept_by(first, web, 30)))

    assert known.tolist() == []
    assert (second.trust_in_dates(np.arange(1, N + 1)) > 0.5).all()


def test_what_is_known_of_a_host_by_now_stays() -> None:
    """As another part of its pages is recalled later: they say what it was before."""
    web, first, second = Web(), made(), made()
    first.learn(web.told(30))
    kept = kept_by(first, web, 30)
    second.learn(web.told(60, np.arange(1, 5)))
    trust = second.hosts.trust(np.zeros(1, np.int64))

    second.recall(before(web, 30, kept))

    assert second.hosts.trust(np.zeros(1, np.int64)).tolist() == trust.tolist()


def test_of_pages_that_are_new_nothing_is_known_yet() -> None:
    """Whatever is asked first."""
    assert np.isnan(made().trust_in_dates(np.array([7, 8]))).all()


def latest(evidence: Evidence, n: int) -> Evidence:
    """The last so many visits of each page."""
    back = np.arange(evidence.page.size)[::-1] % (evidence.page.size // evidence.page_ids.size)
    return evidence.only(back < n)


def test_visits_that_are_new_are_enough_of_pages_that_are_known() -> None:
    """As if all were learned at once, but for what hosts turned out to be worth meanwhile."""
    web, one_by_one, anew = Web(), made(), made()
    one_by_one.learn(web.told(25))
    for n in range(26, 61):
        assert one_by_one.may_go_on(np.arange(1, N + 1)).all()
        assert one_by_one.go_on(latest(web.told(n), 3)).all()
        assert one_by_one.go_on(latest(web.told(n), 3)).all(), "told again: nothing is new"
    anew.learn(web.told(60))

    assert rates_of(one_by_one) == pytest.approx(rates_of(anew), rel=0.1)
    trust, expected_trust = (made.hosts.trust(np.zeros(1, np.int64)) for made in (one_by_one, anew))
    assert trust == pytest.approx(expected_trust, rel=1e-6)
    told, expected = (kept_by(one, web, 60)[1] for one in (one_by_one, anew))
    assert len(dict(told)["https://a.test"]) == len(dict(expected)["https://a.test"])
    assert one_by_one._visits.tolist() == anew._visits.tolist()


def test_pages_of_which_more_may_be_new_are_told_and_left() -> None:
    web, believed = Web(), made()
    believed.learn(web.told(25))
    before = rates_of(believed)

    assert not believed.go_on(latest(web.told(30), 3)).any()
    assert rates_of(believed).tolist() == before.tolist()
    assert believed.go_on(latest(web.told(27), 3)).all()
    assert (rates_of(believed) != before).all()


def test_which_pages_may_go_on() -> None:
    """Not those with few visits, nor of which silence was learned, nor those recalled of late."""
    web, few, many = Web(), made(), made()
    few.learn(web.told(19))
    many.learn(web.told(25))
    ids = np.arange(1, N + 1)
    recalled = made()
    recalled.recall(before(web, 25, kept_by(many, web, 25)))

    assert not few.may_go_on(ids).any()
    assert many.may_go_on(ids).all()
    assert not many.may_go_on(ids + N).any()
    assert not recalled.may_go_on(ids).any(), "which visits are new is not known"
    recalled.recall(before(web, 25, kept_by(many, web, 25)), last_visit=13_000)
    assert recalled.may_go_on(ids).all()
    many._quiet_s[2] = 1.8e9
    assert np.flatnonzero(~many.may_go_on(ids)).tolist() == [2]


@pytest.mark.parametrize(
    ("times", "goes_on"), [(0.2, False), (0.3, True), (3.0, True), (5.0, False)]
)
def test_what_was_learned_with_other_memories_is_learned_anew(times: float, goes_on: bool) -> None:
    """As after another budget: they last for so many visits, not for so long."""
    web, first, second = Web(), made(), made(budget_per_s=times * 1e-4)
    first.learn(web.told(30))
    ids = np.arange(1, N + 1)

    known = second.recall(before(web, 30, kept_by(first, web, 30)), last_visit=13_000)

    assert known.tolist() == (ids.tolist() if goes_on else [])
    assert second.may_go_on(ids).all() == goes_on
    control, _ = first.control_of(ids)
    control.budget *= times
    control.grow(control.weights)
    assert first.may_go_on(ids).all() == goes_on
    first.learn(web.told(30))
    assert first.may_go_on(ids).all()
