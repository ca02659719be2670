"""Visits that tell when a page last changed: the exact likelihood, and who is believed."""

import numpy as np
import pytest

from recrawl.errors import InvalidModel
from recrawl.learning.beliefs import RateBeliefs
from recrawl.learning.last_change import judge_truthfulness, split_visits

MOMENT = 1e-6


def seen(n: int, visits: int, interval: float, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Rates; page, elapsed, changed, age of the last change, of visits at even intervals."""
    rng = np.random.default_rng(seed)
    rates = np.exp(rng.normal(0, 1.5, n))
    page = np.repeat(np.arange(n), visits)
    age = rng.exponential(1 / rates[page])
    changed = age < interval
    elapsed = np.full(page.size, interval)
    return rates, page, elapsed, changed, np.where(changed, age, interval + age)


def test_the_posterior_is_that_of_the_exact_likelihood() -> None:
    """Two changes seen at ages 0.3 and 2, one visit without: rate**2 exp(-rate (0.3 + 2 + 4))."""
    beliefs = RateBeliefs(1, prior_rate=1.0)
    page, elapsed = np.zeros(3, np.int64), np.array([5.0, 4.0, 4.0])
    changed = np.array([True, False, True])

    beliefs.observe(*split_visits(page, elapsed, changed, np.array([0.3, 9.0, 2.0]), moment=MOMENT))

    rates = beliefs.rates_known
    exact = beliefs.laws[0] * rates**2 * np.exp(-6.3 * rates)
    mean, _ = beliefs.rates(np.zeros(1, np.int64))
    assert mean[0] == pytest.approx(float(exact @ rates / exact.sum()), rel=1e-3)


@pytest.mark.parametrize(("interval", "ratio"), [(1.0, 0.9), (3.0, 0.65)])
def test_rates_are_nearer_to_the_truth(interval: float, ratio: float) -> None:
    """Error of the logarithm, 800 pages, ten visits each; rare visits gain most."""
    rates, page, elapsed, changed, age = seen(800, 10, interval)
    errors = []
    for visits in (
        (page, elapsed, changed),
        split_visits(page, elapsed, changed, np.where(changed, age, np.nan), moment=1e-4),
    ):
        beliefs = RateBeliefs(800, prior_rate=1.0)
        beliefs.observe(*visits)
        beliefs.learn(np.arange(800))
        found, _ = beliefs.rates(np.arange(800))
        errors.append(np.sqrt(np.mean(np.log(found / rates) ** 2)))

    assert errors[1] < ratio * errors[0]


def test_who_tells_the_truth_is_believed() -> None:
    """The truthful; not one who tells the present, or anything, or one with few visits."""
    _, _, elapsed, changed, age = seen(60, 10, 1.0)
    rng = np.random.default_rng(1)
    now = rng.uniform(0, 1e-3, age.size)

    assert judge_truthfulness(elapsed, changed, age).is_truthful
    assert not judge_truthfulness(elapsed, changed, now).is_truthful
    always = np.ones_like(changed)
    always[:40] = False  # it seldom finds nothing new, and then it tells the truth
    assert not judge_truthfulness(elapsed, always, np.where(always, now, elapsed + 1)).is_truthful
    assert not judge_truthfulness(elapsed, changed, rng.uniform(0, 2, age.size)).is_truthful
    few = judge_truthfulness(elapsed[:8], changed[:8], age[:8])
    assert (few.n_told, few.is_truthful) == (8, False)
    nothing = judge_truthfulness(elapsed, changed, np.full(age.size, np.nan))
    assert (nothing.n_told, nothing.is_truthful) == (0, False)


def test_what_is_not_known_stays_as_it_is() -> None:
    """No time, a time before the visit before, a page that did not change."""
    page, elapsed = np.array([0, 0, 1, 1]), np.array([5.0, 4.0, 3.0, 2.0])
    changed, ages = np.array([True, True, False, True]), np.array([np.nan, 6.0, 9.0, 0.5])

    rows, times, found, lapse = split_visits(page, elapsed, changed, ages, moment=0.1)

    assert rows.tolist() == [0, 0, 1, 1, 1]
    assert times.tolist() == [5.0, 4.0, 3.0, 0.1, 0.5]
    assert lapse.tolist() == [5.0, 4.0, 3.0, 0.0, 2.0]
    assert found.tolist() == [True, True, False, True, False]
    with pytest.raises(InvalidModel, match="moment must be > 0, got 0"):
        split_visits(page, elapsed, changed, ages, moment=0.0)


def heard(n: int, recall: float, seed: int) -> tuple[np.ndarray, ...]:
    """Rates; visits right after each announced change and every 60 else, until 200 have passed."""
    rng = np.random.default_rng(seed)
    rates = np.exp(rng.normal(-3.0, 1.0, n))
    visits: list[tuple[int, float, bool, bool]] = []
    for page, rate in enumerate(rates):
        changes = np.sort(rng.uniform(0.0, 200.0, rng.poisson(200.0 * rate)))
        told = changes[rng.random(changes.size) < recall]
        last, due = 0.0, 60.0
        while True:
            later = told[told > last]
            called = bool(later.size and later[0] < due)
            now = float(later[0]) + 1e-9 if called else due
            if now >= 200.0:
                break
            found = bool(np.any((changes > last) & (changes <= now)))
            visits.append((page, now - last, found, called))
            last, due = now, now + 60.0
        visits.append((page, 200.0 - last, False, False))  # nothing was told until the end
    return rates, *(np.array(column) for column in zip(*visits, strict=True))


@pytest.mark.parametrize("recall", [0.5, 1.0])
def test_rates_hold_where_announcements_bring_the_visits(recall: float) -> None:
    """Each visit that was called finds a change: told without the silence, rates are far off."""
    rates, page, elapsed, changed, called = heard(1_500, recall, 3)
    last = np.append(page[1:] != page[:-1], True)
    plain, told = RateBeliefs(1_500, prior_rate=0.05), RateBeliefs(1_500, prior_rate=0.05)
    nan = np.full(page.size, np.nan)

    plain.observe(page[~last], elapsed[~last], changed[~last])
    seen_last = np.where(last, recall * elapsed, elapsed)  # only what is announced is known of it
    told.observe(
        *split_visits(
            page,
            seen_last,
            changed,
            nan,
            moment=1e-6,
            announced=called,
            recall=recall,
            precision=1.0,
        )
    )

    errors = []
    for beliefs in (plain, told):
        beliefs.learn(np.arange(1_500))
        found, _ = beliefs.rates(np.arange(1_500))
        errors.append(abs(float(np.log(found.sum() / rates.sum()))))
    assert errors[0] > 0.4
    assert errors[1] < 0.08


def test_many_changes_heard_before_one_visit_rule_no_rate_out_that_they_fit() -> None:
    """Twenty, in forty days of which a quarter was heard: evidence has a floor, and rates a top."""
    days = 86_400.0
    beliefs = RateBeliefs(1, prior_rate=0.3 / days, half_lives=(np.inf,))
    one = np.array([0])

    beliefs.observe(
        *split_visits(
            one,
            np.array([40.0 * days]),
            np.array([True]),
            np.array([np.nan]),
            moment=1.0,
            announced=np.array([20.0]),
            unheard=np.array([30.0 * days]),
            recall=1.0,
            precision=0.999,
        )
    )

    assert beliefs.rates(one)[0][0] * days == pytest.approx(2.0, rel=0.3)
