"""Beliefs about change rates: against exact posteriors, against the truth, and under drift."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import special, stats
from tests.oracles.regular_visits import estimate_from_regular_visits, naive_rates

from recrawl.crawler.control.revisiting.planning import even_freshness
from recrawl.errors import InvalidModel
from recrawl.learning.beliefs import RateBeliefs, long_run_rate
from recrawl.learning.change_rates import estimate_change_rates, maximise_likelihood
from recrawl.learning.gamma_priors import (
    digamma,
    gamma_shape,
    learn_gamma_priors,
    trigamma,
)
from recrawl.learning.signals import learn_signal_quality, page_precisions
from recrawl.learning.visits import intervals_between

Vector = NDArray[np.float64]


def visited(
    rates: Vector, n_visits: int, seed: int
) -> tuple[NDArray[np.int64], Vector, NDArray[np.bool_]]:
    """Visit every page at uneven intervals of about a change each."""
    random = np.random.default_rng(seed)
    page = np.repeat(np.arange(rates.size), n_visits)
    elapsed = random.exponential(1.0, page.size) / rates[page]
    return page, elapsed, random.random(page.size) < -np.expm1(-rates[page] * elapsed)


def test_visits_leave_the_exact_posterior_of_the_grid() -> None:
    """Bayes' rule written out: prior times likelihood of three visits, rate by rate."""
    elapsed, changed = np.array([3.0, 0.5, 8.0]), np.array([False, True, True])
    beliefs = RateBeliefs(1, prior_rate=0.4, prior_shape=0.7)
    prior, rates = beliefs.laws[0].copy(), beliefs.rates_known

    given = beliefs.observe(np.zeros(3, np.int64), elapsed, changed)

    posterior = prior.copy()
    for t, found, chance in zip(elapsed, changed, given, strict=True):
        likelihood = -np.expm1(-t * rates) if found else np.exp(-t * rates)
        posterior *= likelihood
        assert chance == pytest.approx(posterior.sum(), rel=1e-5)
        posterior /= posterior.sum()
    assert beliefs.rates(np.arange(1))[0][0] == pytest.approx(posterior @ rates, rel=1e-5)


def test_the_chance_of_a_finding_is_right_for_any_interval() -> None:
    """Both findings at intervals from a millionth to ten thousand mean times between changes."""
    elapsed = np.repeat(10.0 ** np.linspace(-6.0, 4.0, 301), 2)
    changed = np.arange(elapsed.size) % 2 == 0
    beliefs = RateBeliefs(elapsed.size, prior_rate=1.0)
    x = elapsed[:, None] * beliefs.rates_known
    likelihood = np.where(changed[:, None], -np.expm1(-x), np.exp(-x))

    given = beliefs.observe(np.arange(elapsed.size), elapsed, changed)

    exact = likelihood @ beliefs.laws[0].astype(np.float64)
    np.testing.assert_allclose(given, exact, rtol=2e-6, atol=1e-10)


def test_freshness_is_promised_as_it_will_be() -> None:
    """Pages as the prior says, seen five times each: what is expected of all is what they have.

    Judged by each page's average rate it would be far less.
    """
    n = 40_000
    beliefs = RateBeliefs(n, prior_rate=1.0, prior_shape=0.5)
    random, known = np.random.default_rng(2), beliefs.rates_known
    chances = beliefs.laws[0].astype(np.float64)
    rates = random.choice(known, n, p=chances / chances.sum())
    page, elapsed = np.repeat(np.arange(n), 5), random.exponential(1.0, 5 * n)
    changed = random.random(5 * n) < -np.expm1(-rates[page] * elapsed)
    beliefs.observe(page, elapsed, changed)
    crawl_rates = random.uniform(0.2, 3.0, n)

    expected = beliefs.freshness(np.arange(n), crawl_rates)

    true = even_freshness(rates, crawl_rates)
    at_the_average = even_freshness(beliefs.rates(np.arange(n))[0], crawl_rates)
    error = 4.0 * float(np.std(true - expected)) / np.sqrt(n)
    assert expected.mean() == pytest.approx(true.mean(), abs=error)
    assert at_the_average.mean() < true.mean() - 5.0 * error
    unknown = RateBeliefs(1, prior_rate=1.0).freshness(np.arange(1), np.full(1, 2.0))
    assert unknown[0] == pytest.approx(chances @ even_freshness(known, np.full(24, 2.0)), rel=1e-6)


def test_a_rate_drawn_anew_is_that_of_the_group() -> None:
    """The filter of a rate that is redrawn with chance 1 - 2^(-t/h) at each visit, written out."""
    beliefs = RateBeliefs(1, prior_rate=1.0, half_lives=(np.inf, 2.0))
    law, rates = beliefs.laws[0].copy(), beliefs.rates_known
    lasting, drawn = 0.5 * law, 0.5 * law
    for t, found in ((1.0, True), (0.3, False), (4.0, True)):
        beliefs.observe(np.zeros(1, np.int64), np.array([t]), np.array([found]))
        likelihood = -np.expm1(-t * rates) if found else np.exp(-t * rates)
        lasting, drawn = lasting * likelihood, drawn * likelihood
        ended = 1.0 - 0.5 ** (t / 2.0)
        drawn = (1.0 - ended) * drawn + ended * drawn.sum() * law

    posterior = (lasting + drawn) / (lasting + drawn).sum()

    assert beliefs.rates(np.arange(1))[0][0] == pytest.approx(posterior @ rates, rel=1e-5)


def test_what_is_learned_visit_by_visit_is_what_all_visits_say() -> None:
    """Constant memory against the maximum over all visits, and both against the truth."""
    rates = np.random.default_rng(3).gamma(0.5, 2.0, 1500) + 1e-4
    page, elapsed, changed = visited(rates, 60, 4)
    mean = float(rates.mean())

    beliefs = RateBeliefs(rates.size, prior_rate=mean, prior_shape=0.5)
    beliefs.observe(page, elapsed, changed)
    online, errors = beliefs.rates(np.arange(rates.size))
    batch = estimate_change_rates(
        rates.size, page, elapsed, changed, prior_rate=mean, prior_shape=0.5
    )

    # Rates a factor of two apart are told apart no better than that.
    assert np.median(np.abs(np.log(online / batch.rates))) < 0.5 * np.median(batch.log_errors)
    told_apart = rates > 2.0 * beliefs.rates_known[0]  # slower ones the grid takes for its slowest
    z = (np.log(online / rates) / np.hypot(errors, 0.2))[told_apart]
    assert abs(z.mean()) < 0.3
    assert np.var(z) == pytest.approx(1.0, abs=0.3)


def test_rates_that_drift_are_remembered_for_as_long_as_they_last() -> None:
    """Rates redrawn every 40 units of time: of 5 half-lives, neither endless nor hasty wins."""
    random = np.random.default_rng(5)
    n, n_visits = 300, 200
    page = np.repeat(np.arange(n), n_visits)
    eras = random.gamma(0.5, 2.0, (n, 5))
    rates = np.repeat(eras, 40, axis=1).ravel()
    changed = random.random(page.size) < -np.expm1(-rates)
    beliefs = RateBeliefs(n, prior_rate=1.0, half_lives=(np.inf, 400.0, 30.0, 2.0, 0.2))

    beliefs.observe(page, np.ones(page.size), changed)
    beliefs.learn(np.arange(n))

    assert beliefs.half_lives[np.argmax(beliefs.shares)] == 30.0


def test_constant_rates_are_never_forgotten() -> None:
    """Where nothing drifts, the endless memory predicts best."""
    rates = np.random.default_rng(6).gamma(0.5, 2.0, 500) + 1e-3
    page, elapsed, changed = visited(rates, 50, 7)
    beliefs = RateBeliefs(500, prior_rate=1.0, half_lives=(np.inf, 20.0, 1.0))

    beliefs.observe(page, elapsed, changed)
    beliefs.learn(np.arange(500))

    assert beliefs.half_lives[np.argmax(beliefs.shares)] == np.inf


def test_pages_added_later_are_as_unknown_as_the_first() -> None:
    """And what is forgotten is unknown again."""
    beliefs = RateBeliefs(1, prior_rate=2.0)
    beliefs.observe(np.zeros(1, np.int64), np.ones(1), np.ones(1, np.bool_))
    beliefs.grow(3)

    assert beliefs.rates(np.arange(3))[0][1:] == pytest.approx([2.0, 2.0], rel=0.05)
    beliefs.forget_all(np.array([0]))
    assert beliefs.rates(np.arange(1))[0] == pytest.approx([2.0], rel=0.05)


def test_derivatives_of_the_gamma_function() -> None:
    """As scipy has them; and the shape solves its equation."""
    x = 10.0 ** np.linspace(-3, 4, 200)

    np.testing.assert_allclose(digamma(x), special.digamma(x), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(trigamma(x), special.polygamma(1, x), rtol=1e-9)
    shapes = np.array([0.05, 0.5, 3.0, 15.0])
    np.testing.assert_allclose(gamma_shape(np.log(shapes) - special.digamma(shapes)), shapes)


def test_laws_of_rates_are_learned_from_visits_whatever_their_form() -> None:
    """Half of the pages of a host all but sleep, half are busy, none is between: no gamma law.

    Of 600 pages with 12 visits each; a second host, with three pages, keeps near the law of all.
    A tenth of each law stays as it was.
    """
    rates = np.where(np.arange(600) % 2, 0.01, 4.0)
    page, elapsed, changed = visited(rates, 12, 20)
    elapsed = np.minimum(elapsed, 3.0)
    random = np.random.default_rng(21)
    changed = random.random(page.size) < -np.expm1(-rates[page] * elapsed)
    host = np.where(np.arange(600) < 597, 0, 1)
    beliefs = RateBeliefs(600, prior_rate=1.0)
    vague = beliefs.laws[0]

    beliefs.observe(page, elapsed, changed)
    for _ in range(5):
        beliefs.learn(np.arange(600), [host])

    busy, between = (
        beliefs.rates_known > 1.5,
        (beliefs.rates_known > 0.2) & (beliefs.rates_known < 1.0),
    )
    assert beliefs.laws[0, busy].sum() == pytest.approx(0.5, abs=0.05)
    assert (beliefs.laws[0] - 0.1 * vague)[between].sum() < 0.03
    assert np.all(beliefs.laws >= 0.0999 * vague)
    assert beliefs.laws[1, busy].sum() == pytest.approx(0.5, abs=0.2)


def test_priors_are_learned_from_the_pages() -> None:
    """5,000 pages known exactly: shape and mean within 5 standard errors of the truth."""
    rates = np.random.default_rng(8).gamma(0.3, 0.02, 5000)

    shapes, means = learn_gamma_priors(rates, np.log(rates))

    assert shapes[0] == pytest.approx(0.3, abs=5 * 0.3 * 1.2 / np.sqrt(5000))
    assert means[0] == pytest.approx(0.006, rel=5 / np.sqrt(0.3 * 5000))


def test_pages_borrow_from_their_group_and_small_groups_from_all() -> None:
    """The law around counts as 30 pages: 500 pages have a prior of their own, one page has not."""
    rates = np.concatenate([np.full(500, 1.0), np.full(500, 0.01), [1.0]])
    host = np.repeat([0, 1, 2], [500, 500, 1])

    shapes, means = learn_gamma_priors(rates, np.log(rates), [host])

    overall = rates.mean()
    expected = [(500 * 1.0 + 30 * overall) / 530, (500 * 0.01 + 30 * overall) / 530]
    assert means[[0, 500, 1000]] == pytest.approx([*expected, (1.0 + 30 * overall) / 31])
    assert means[500] < means[1000] < means[0]
    assert shapes[0] > shapes[1000]


@pytest.mark.parametrize("rate", [0.3, 1.0, 2.0])
def test_regular_visits_without_bias(rate: float) -> None:
    """The known bias of the naive rate is there, and the corrected one is within its errors.

    100,000 pages visited 20 times; the naive estimate tends to (1 - exp(-rate)), below the rate.
    """
    random, n_visits, n = np.random.default_rng(9), 20, 100_000
    found = random.binomial(n_visits, -np.expm1(-rate), n)

    naive = naive_rates(np.full(n, n_visits), found, 1.0)
    better = estimate_from_regular_visits(np.full(n, n_visits), found, 1.0)

    assert naive.mean() == pytest.approx(-np.expm1(-rate), abs=5 * naive.std() / np.sqrt(n))
    assert abs(better.rates.mean() - rate) < 0.1 * abs(naive.mean() - rate)
    held = int(np.sum(np.abs(better.rates - rate) < 1.96 * better.errors))
    assert 0.90 * n < held < 0.985 * n  # counts of twenty are coarse


def test_the_likelihood_alone_says_zero_and_infinity() -> None:
    """And recovers rates within its errors where both outcomes were seen."""
    page = np.array([0, 0, 1, 1, 2, 2])
    found = maximise_likelihood(
        3, page, np.ones(6), np.array([False, False, True, True, True, False])
    )

    assert found.rates.tolist()[:2] == [0.0, np.inf]
    assert np.all(np.isinf(found.log_errors[:2]))
    assert found.rates[2] == pytest.approx(np.log(2.0))

    rates = np.random.default_rng(10).gamma(2.0, 1.0, 2000)
    known = maximise_likelihood(2000, *visited(rates, 100, 11))
    z = np.log(known.rates / rates) / known.log_errors
    assert int(np.sum(np.abs(z) < 1.96)) >= stats.binom.ppf(1e-6, 2000, 0.95) - 20


def test_counts_alone_tell_the_rate_in_the_long_run() -> None:
    """100,000 visits of a Poisson process at rate 2, one change a unit of time: within 5 errors."""
    random = np.random.default_rng(12)
    gaps = random.exponential(0.5, 100_000)
    found = np.array([float(np.sum(random.random(100_000) < -np.expm1(-gaps)))])

    assert long_run_rate(np.array([1e5]), found, 2.0)[0] == pytest.approx(1.0, rel=0.03)


@pytest.mark.parametrize(("recall", "false_rate"), [(0.4, 0.3), (0.95, 0.02), (0.1, 1.0)])
def test_signals_are_worth_what_they_prove(recall: float, false_rate: float) -> None:
    """Precision, recall and rates within five errors of the simulated source."""
    random, n, rate = np.random.default_rng(13), 30_000, 0.5
    elapsed = random.exponential(1.0, n)
    told = random.poisson(rate * recall * elapsed)
    silent = random.poisson(rate * (1 - recall) * elapsed)
    signals = (told + random.poisson(false_rate * elapsed)).astype(float)

    found = learn_signal_quality(elapsed, signals, (told + silent) > 0)

    precision = rate * recall / (rate * recall + false_rate)
    assert found.log_odds == pytest.approx(-np.log1p(-precision), abs=5 * found.log_odds_error)
    assert found.precision == pytest.approx(precision, abs=0.05)
    assert found.recall == pytest.approx(recall, abs=0.08)
    assert found.change_rate == pytest.approx(rate, rel=0.06)


def test_pages_that_are_visited_for_their_signals_do_not_hide_silent_changes() -> None:
    """Those that change fast are signalled, so that silent visits are mostly of slow ones."""
    random = np.random.default_rng(21)
    rates = np.exp(1.5 * random.standard_normal(120))
    recall, false, reading = 0.5, 0.05, 1.0
    pages, elapsed, signals, changed, unheard = [], [], [], [], []
    for page, rate in enumerate(rates):
        for _ in range(12):
            told = random.exponential(1.0 / (recall * rate + false))
            due = random.uniform(2.0, 8.0)
            late = min(due, told) % reading if due < told else 0.0
            t = min(told, due)
            is_true = random.random() < recall * rate / (recall * rate + false)
            hidden = random.poisson(rate * ((1.0 - recall) * t + recall * late * (told > due)))
            pages.append(page)
            elapsed.append(t)
            signals.append(float(told <= due))
            unheard.append(late)
            changed.append(hidden > 0 or (told <= due and is_true))
    columns = np.array(elapsed), np.array(signals), np.array(changed)

    found = learn_signal_quality(*columns, pages=np.array(pages), unheard=np.array(unheard))

    assert found.recall == pytest.approx(recall, abs=0.06)
    true = recall * rates.mean()
    assert found.precision == pytest.approx(true / (true + false), abs=0.05)
    assert learn_signal_quality(*columns).recall > 0.65, "as if all changed alike"
    assert learn_signal_quality(*columns, pages=np.array(pages)).recall < found.recall - 0.03


@given(
    st.lists(
        st.tuples(
            st.integers(0, 4),
            st.floats(1e-3, 1e9),
            st.floats(0.0, 0.5),
            st.integers(0, 20),
            st.booleans(),
        ),
        min_size=1,
        max_size=30,
    )
)
def test_whatever_visits_found_signals_have_a_quality(visits: list[tuple[float, ...]]) -> None:
    pages, elapsed, unheard, signals, changed = map(np.array, zip(*visits, strict=True))

    found = learn_signal_quality(
        elapsed, signals * 1.0, changed, pages=pages, unheard=unheard * elapsed
    )

    assert 0.0 < found.recall < 1.0
    assert 0.0 < found.precision < 1.0
    assert found.log_odds > 0.0
    assert np.isfinite([found.change_rate, found.signal_rate, found.log_odds_error]).all()


def test_likelihoods_tell_whether_signals_are_mostly_true() -> None:
    """Of one page: by the formula, and highest where nothing is given."""
    random, n = np.random.default_rng(6), 200
    told, silent = random.poisson(0.5, (2, n))
    elapsed, false = np.full(n, 2.0), random.poisson(0.1, n)
    visits = elapsed, (told + false).astype(float), told + silent > 0
    found = learn_signal_quality(*visits)
    doubted = learn_signal_quality(*visits, precision=0.5)
    lies = elapsed, np.ones(n), random.random(n) < 0.9
    lied = learn_signal_quality(*lies).log_likelihood
    half_lied = learn_signal_quality(*lies, precision=0.5).log_likelihood

    assert doubted.precision == pytest.approx(0.5)
    assert found.precision > 0.7
    assert found.log_likelihood > doubted.log_likelihood + 10.0
    assert lied < half_lied + 0.5
    changes, rate = found.recall * found.change_rate, found.signal_rate
    hazard = found.silent_rate * 2.0 + visits[1] * np.log(rate / (rate - changes))
    chances = np.where(visits[2], np.log(-np.expm1(-hazard)), -hazard)
    signals = visits[1] * np.log(rate) - 2.0 * rate
    whole = float((chances + signals).sum())
    spread = 0.5 * 1.5 / (found.change_rate + 0.5 * (visits[2].sum() + 0.5) / (2.0 * n))
    prior = 0.5 * np.log(spread * found.change_rate) - spread * found.change_rate
    assert found.log_likelihood == pytest.approx(whole + prior)
    with pytest.raises(InvalidModel, match="precision must lie in"):
        learn_signal_quality(*visits, precision=1.0)


def test_of_pages_that_change_seldom_more_signals_are_false() -> None:
    precisions, sources = np.array([0.9, 0.9, 0.5, 0.0, 1.0]), np.array([0, 0, 1, 2, 3])

    found = page_precisions(precisions, np.array([0.1, 1.9, 7.0, 1.0, 2.0]), sources)

    assert found == pytest.approx([0.09 / 0.19, 1.71 / 1.81, 0.5, 0.0, 0.999])
    assert page_precisions(np.zeros(0), np.zeros(0), np.zeros(0, np.int64)).size == 0


def test_signals_that_say_nothing_are_worth_nothing() -> None:
    """Noise, and a source that was hardly seen."""
    random = np.random.default_rng(14)
    elapsed = random.exponential(1.0, 20_000)
    noise = random.poisson(elapsed).astype(float)
    changed = random.random(20_000) < -np.expm1(-0.5 * elapsed)

    assert learn_signal_quality(elapsed, noise, changed).precision < 0.02
    one = learn_signal_quality(np.ones(1), np.ones(1), np.ones(1, np.bool_))
    assert one.precision < 0.6


HASTE = 2_000.0  # times as fast as the prior has it


def after_one_plan(fast: Vector, *, scales: int, seed: int = 0) -> Vector:
    """Look at half of 800 pages in two groups again; return all rates as a multiple of the truth.

    Parameters
    ----------
    fast : shape (2,), share of each group's pages that change in haste; the rest hardly ever does
    """
    random = np.random.default_rng(seed)
    group = np.repeat([0, 1], 400)
    truth = np.where(random.random(800) < fast[group], HASTE, 0.1)
    seen = np.flatnonzero(np.arange(800) % 2 == 0)
    beliefs = RateBeliefs(800, prior_rate=1.0, octaves=(-11, 13), scales=scales)
    elapsed = np.full(seen.size, 0.5 / HASTE)
    beliefs.observe(seen, elapsed, random.random(seen.size) < -np.expm1(-truth[seen] * elapsed))
    beliefs.learn(np.arange(800), [group])
    found = beliefs.rates(np.arange(800))[0]
    return np.array([found[group == one].mean() / truth[group == one].mean() for one in (0, 1)])


@pytest.mark.parametrize("share", [0.03, 0.2, 0.9])
def test_pages_a_thousand_times_as_fast_as_the_prior_are_believed_at_the_first_plan(
    share: float,
) -> None:
    """Those that nobody looked at again too, within a factor of three; else ten are missing."""
    both = np.array([share, share])

    assert np.all(np.abs(np.log(after_one_plan(both, scales=9))) < np.log(3.0))
    assert np.all(after_one_plan(both, scales=0) < 0.1)


def test_a_group_in_haste_leaves_a_calm_one_as_it_is() -> None:
    """But for the ten pages that it borrows from the law around it, which is half in haste."""
    both = after_one_plan(np.array([0.5, 0.0]), scales=9) * [0.5 * HASTE, 0.1]

    assert 0.5 * HASTE / 3.0 < both[0] < 0.5 * HASTE * 3.0
    assert both[1] < 2.0 * 10.0 / 410.0 * both[0]


@pytest.mark.parametrize(("looks", "spoken_for"), [(5, False), (40, True)])
def test_many_pages_speak_for_groups_that_nobody_looked_at_a_handful_does_not(
    looks: int, spoken_for: bool
) -> None:
    """Five front pages that change at each look say nothing of five hundred others."""
    beliefs = RateBeliefs(500, prior_rate=1.0, octaves=(-11, 13), scales=9)
    hubs = np.arange(looks)
    for _ in range(4):
        beliefs.observe(hubs, np.full(looks, 1.0 / HASTE), np.ones(looks, np.bool_))
    beliefs.learn(np.arange(500), [np.where(np.arange(500) < looks, 0, 1)])
    rates = beliefs.rates(np.arange(500))[0]

    assert rates[hubs].min() > 0.1 * HASTE
    assert bool(rates[looks:].mean() > 0.1 * HASTE) is spoken_for


@pytest.mark.parametrize("seed", range(20))
def test_pages_that_are_as_the_prior_says_never_ask_for_another_scale(seed: int) -> None:
    """Drawn from the law itself, one in twenty looked at again."""
    random = np.random.default_rng(seed)
    n, told = 200, (np.arange(10), np.full(10, 0.3))
    truth = random.gamma(0.5, 2.0, n)
    found = random.random(10) < -np.expm1(-truth[:10] * 0.3)
    laws = []
    for scales in (0, 9):
        beliefs = RateBeliefs(n, prior_rate=1.0, octaves=(-11, 13), scales=scales)
        beliefs.observe(*told, found)
        beliefs.learn(np.arange(n))
        laws.append(beliefs.laws.copy())
    np.testing.assert_array_equal(laws[0], laws[1])


def test_visits_become_intervals_of_each_page() -> None:
    """In whatever order pages come; a first visit only starts the clock."""
    told = intervals_between(
        np.array([1, 0, 1, 0, 1]),
        np.array([1.0, 2.0, 4.0, 7.0, 9.0]),
        np.array([1, 1, 1, 0, 0], bool),
    )

    assert told.page.tolist() == [0, 1, 1]
    assert told.elapsed.tolist() == [5.0, 3.0, 5.0]
    assert told.changed.tolist() == [False, True, False]
    assert told.rows.tolist() == [3, 2, 4]


@pytest.mark.parametrize(
    ("message", "call"),
    [
        ("row 2: the visit is before that of row 1", lambda: intervals_between(
            np.zeros(2, np.int64), np.array([2.0, 1.0]), np.zeros(2, bool))),
        ("row 2: the visit is at the same time", lambda: intervals_between(
            np.zeros(2, np.int64), np.ones(2), np.zeros(2, bool))),
        ("prior_rate must be finite and > 0, got 0", lambda: RateBeliefs(1, prior_rate=0)),
        ("half_lives must be > 0", lambda: RateBeliefs(1, prior_rate=1.0, half_lives=())),
        (r"octaves must span 24, got \(-9, 11\)", lambda: RateBeliefs(
            1, prior_rate=1.0, octaves=(-9, 11))),
        ("the first infinite", lambda: RateBeliefs(1, prior_rate=1.0, half_lives=(2.0,))),
        ("elapsed must be finite and > 0", lambda: RateBeliefs(1, prior_rate=1.0).observe(
            np.zeros(1, np.int64), np.zeros(1), np.zeros(1, bool))),
        ("page must lie in 0 .. 0", lambda: RateBeliefs(1, prior_rate=1.0).observe(
            np.ones(1, np.int64), np.ones(1), np.zeros(1, bool))),
        ("means must be finite", lambda: learn_gamma_priors(np.zeros(0), np.zeros(0))),
        ("elapsed must be", lambda: learn_signal_quality(np.ones(0), np.ones(0), np.ones(0) > 0)),
        ("n_signals must", lambda: learn_signal_quality(np.ones(1), -np.ones(1), np.ones(1) > 0)),
        (
            "priors must",
            lambda: learn_signal_quality(np.ones(1), np.ones(1), np.ones(1) > 0, prior_told=0.0),
        ),
        ("unheard must", lambda: learn_signal_quality(
            np.ones(1), np.ones(1), np.ones(1) > 0, unheard=np.nan)),
        ("interval must be", lambda: estimate_from_regular_visits(3, 1, 0.0)),
        ("n_changed lie in", lambda: estimate_from_regular_visits(3, 4, 1.0)),
        ("stabiliser must be", lambda: long_run_rate(np.ones(1), np.ones(1), 1.0, 0.0)),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(message: str, call) -> None:
    """Rather than learned from."""
    with pytest.raises(InvalidModel, match=message):
        call()


def test_a_hundred_thousand_pages_need_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """It stays in memory, a hundred MB of it, and is no sooner through than numpy is."""
    monkeypatch.setattr("recrawl.kernels.compile.Loop.__call__", lambda *_: 1 / 0)
    beliefs = RateBeliefs(100_000, prior_rate=0.4, prior_shape=0.7)

    rates, _ = beliefs.rates(np.arange(100_000))

    assert rates == pytest.approx(np.full(100_000, 0.4), rel=0.1)
