"""Clocks of groups: exact where no change was found, near the truth where one was."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InvalidModel
from recrawl.kernels import revisit_vectors, revisits
from recrawl.kernels.group_clocks import aged, aged_ahead, believed_time, clocked
from recrawl.learning.beliefs import RateBeliefs
from recrawl.learning.companions import companions_of
from recrawl.learning.group_clocks import GroupClocks

PACE = 16.0  # bins of one


def clocks(names: list[str], shrink: float = 0.5, born: np.ndarray | None = None) -> GroupClocks:
    """Directories of one site, drawn to speed one; the groups around them hardly move."""
    return GroupClocks(
        companions_of([("", name) for name in names]),
        PACE,
        start=0.0,
        born=np.zeros(len(names)) if born is None else born,
        shrinks=(1e9, 1e9, shrink),
        relied=1.0,
    )


def speed(made: GroupClocks, page: int, now: float) -> float:
    passed, _ = made.read(np.array([page]), np.array([now - 0.5]), now)
    return 2.0 * float(passed[0])


def exact(shrink: float, rates: list[float], changed: list[bool], lasted: float) -> float:
    """Mean speed given the visits, by integration over a gamma law of mean one."""
    x = np.geomspace(1e-60, 4_000.0, 200_001)
    log_law = shrink * np.log(x) - shrink * x  # in the logarithm of the speed
    for rate, found in zip(rates, changed, strict=True):
        stays = np.exp(-rate * lasted * x)
        log_law += np.log(np.maximum(1.0 - stays, 1e-300)) if found else -rate * lasted * x
    law = np.exp(log_law - log_law.max())
    return float(np.sum(law * x) / np.sum(law))


@given(
    shrink=st.floats(0.2, 4.0),
    rates=st.lists(st.floats(0.01, 3.0), min_size=1, max_size=6),
)
def test_visits_that_find_nothing_are_taken_in_exactly(shrink: float, rates: list[float]) -> None:
    """The gamma law is conjugate to them."""
    made = clocks([f"d/{row}" for row in range(len(rates))], shrink)

    for row, rate in enumerate(rates):
        made.tell(row, 4.0, 4.9, changed=False, hazard=rate, stays=0.5)

    # Told visits share one bin, from 4 on.
    assert speed(made, 0, 4.9) == pytest.approx(
        exact(shrink, rates, [False] * len(rates), 0.9), rel=1e-4
    )


@pytest.mark.slow
def test_a_change_is_taken_in_nearly_as_exact_inference_would() -> None:
    """Over 200 cases of up to six visits in one bin: the logarithm of the speed is off by little.

    The filter takes each visit in once, by the speed before it, so that it is no fixed point.
    """
    random, off, sizes = np.random.default_rng(0), [], []
    for _ in range(200):
        n = int(random.integers(1, 7))
        shrink, rates = float(random.choice([0.3, 1.0, 3.0])), random.uniform(0.05, 1.5, n)
        true = random.gamma(shrink, 1.0 / shrink)
        found = random.random(n) < -np.expm1(-rates * 0.9 * true)
        made = clocks([f"d/{row}" for row in range(n)], shrink)
        for row in range(n):
            stays = float(np.exp(-rates[row] * 0.9 * speed(made, row, 4.9)))
            made.tell(row, 4.0, 4.9, bool(found[row]), hazard=float(rates[row]), stays=stays)
        answer = exact(shrink, rates.tolist(), found.tolist(), 0.9)
        off.append(np.log(speed(made, 0, 4.9) / answer))
        sizes.append(abs(np.log(answer)))

    assert np.mean(np.abs(off)) < 0.12
    assert np.mean(sizes) > 0.5  # what there is to learn


def test_a_change_tells_of_the_time_since_the_visit_before_and_of_companions_only() -> None:
    """Neighbours are older for it, pages elsewhere are not, nor what comes after."""
    made = clocks(["d/a", "d/b", "e/c"])
    before = made.read(np.arange(3), np.full(3, 2.0), 6.5)[0]

    made.tell(0, 2.0, 6.5, changed=True, hazard=0.1, stays=np.exp(-0.45))

    after = made.read(np.arange(3), np.full(3, 2.0), 6.5)[0]
    assert before == pytest.approx([4.5, 4.5, 4.5])
    assert after[1] > 1.2 * before[1]
    assert after[2] == pytest.approx(4.5, rel=1e-6)
    later = made.read(np.array([1]), np.array([7.0]), 8.5)[0]
    assert later == pytest.approx([1.5])


def test_a_page_of_two_groups_shares_a_change_between_them() -> None:
    """Where it has a translation as well as neighbours, either may be why it changed."""
    made = clocks(["d/a.xml", "d/a.xml.fr", "d/b.xml", "d/b.xml.fr"])

    made.tell(0, 2.0, 6.0, changed=True, hazard=0.1, stays=np.exp(-0.4))

    french, other = made.read(np.array([1, 2]), np.full(2, 2.0), 6.0)[0]
    assert french > other > 4.0  # of both, and of the directory alone


def test_what_is_older_than_the_bins_passes_as_it_is() -> None:
    """And nothing told about it is kept."""
    made = clocks(["d/a", "d/b"])
    made.tell(0, 2.0, 6.0, changed=True, hazard=0.1, stays=0.6)

    passed, _ = made.read(np.array([1]), np.array([2.0]), 100.0)

    assert passed == pytest.approx([98.0])


def test_young_pages_that_change_more_are_believed_to() -> None:
    """Found at four times the pages' own rates in their first bin, and as expected afterwards."""
    n = 200
    made = clocks([f"{row}/x" for row in range(n)], born=np.linspace(1.0, 90.0, n))
    for row in range(n):
        at = 1.0 + 89.0 * row / (n - 1)
        for step, often in enumerate((2, 1, 2, 1)):
            now = at + step + 1.0
            passed, _ = made.read(np.array([row]), np.array([now - 1.0]), now)
            stays = float(np.exp(-0.3 * passed[0]))
            made.tell(row, now - 1.0, now, (row % 4) < often, 0.3, stays)

    _, young = made.read(np.array([n - 1]), np.array([90.0]), 90.0)

    assert made.age_factors[2] > 1.3
    assert young[0] == pytest.approx(made.age_factors[3])
    _, unknown = clocks(["d/a"]).read(np.array([0]), np.array([0.0]), 3.0)
    assert unknown[0] == 1.0


def test_what_is_told_late_is_told_of_its_own_time() -> None:
    """As visits of several pages that are read one page after another."""
    made, late = clocks(["d/a", "d/b"]), clocks(["d/a", "d/b"])
    made.tell(0, 2.0, 6.0, changed=True, hazard=0.1, stays=0.6)
    late.tell(1, 11.5, 12.0, changed=False, hazard=1e-9, stays=1.0)

    late.tell(0, 2.0, 6.0, changed=True, hazard=0.1, stays=0.6)

    spans = np.array([1]), np.array([2.0]), 12.0
    assert late.read(*spans)[0] == pytest.approx(made.read(*spans)[0])


@pytest.mark.parametrize("together", [True, False])
def test_clocks_are_relied_on_where_they_foretell_visits(together: bool) -> None:
    """A hundred pages in ten directories, which change at once or each on its own."""
    random, n, rounds = np.random.default_rng(0), 100, 60
    page = np.tile(random.permutation(n), rounds)
    at = 1.0 + np.arange(page.size) * PACE / n
    since = np.maximum(at - PACE, 0.0)
    burst = random.random((10 if together else n, 10_000)) < 0.005  # in each tenth of a bin
    passed = np.cumsum(burst, axis=1)
    group = page // 10 if together else page
    changed = passed[group, (10 * at).astype(int)] > passed[group, (10 * since).astype(int)]
    made = GroupClocks(
        companions_of([("", f"{row // 10}/{row}") for row in range(n)]),
        PACE,
        start=0.0,
        born=np.zeros(n),
    )
    beliefs = RateBeliefs(n, prior_rate=0.05, prior_shape=8.0)

    revisits.tell_groups(
        page, since, at, changed, np.ones(page.size), beliefs.arrays(), made.arrays()
    )

    assert (made.relied > 0.99) if together else (made.relied < 0.3)


def test_visits_told_in_numpy_are_those_told_by_the_compiled_loop() -> None:
    """Pages of one group and two, old and young, announced and not, over more time than bins."""
    random, n, n_visits = np.random.default_rng(3), 40, 2_000
    names = [f"http://a.test/{row % 3}/{row % 5}.html" for row in range(n)]
    page, at = random.integers(0, n, n_visits), np.sort(random.uniform(1.0, 8.0 * PACE, n_visits))
    since = np.maximum(at - random.exponential(PACE, n_visits), 0.0)
    changed, silent = random.random(n_visits) < 0.4, random.choice([1.0, 0.3, 0.0], n_visits)
    heard = []
    for form in (revisits, revisit_vectors):
        made = GroupClocks(
            companions_of([("", name) for name in names]),
            PACE,
            start=0.0,
            born=np.where(np.arange(n) % 2, PACE * np.arange(n) / n, 0.0),
        )
        beliefs = RateBeliefs(n, prior_rate=0.05, half_lives=(np.inf, 3.0 * PACE))
        beliefs.observe(page[:500], at[:500], changed[:500])
        form.tell_groups(page, since, at, changed, silent, beliefs.arrays(), made.arrays())
        passed, speeds = made.read(np.arange(n), np.full(n, 7.0 * PACE), 8.0 * PACE)
        heard.append((passed, speeds, made.age_factors, [made.relied], *made.lately(8.0 * PACE)))

    for one, other in zip(*heard, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4)


def test_what_is_no_clock_is_refused() -> None:
    """A pace or a number of changes that is not greater than zero."""
    pages = companions_of([("", "d/a")])
    with pytest.raises(InvalidModel, match="pace must be finite and > 0, got 0"):
        GroupClocks(pages, 0.0, start=0.0, born=np.zeros(1))
    with pytest.raises(InvalidModel, match="shrinks must be > 0"):
        GroupClocks(pages, 1.0, start=0.0, born=np.zeros(1), shrinks=(1.0, 0.0))


@pytest.mark.parametrize("born", [0.0, 60.0])
def test_vectors_say_what_the_loop_says(born: float) -> None:
    """Time on the clocks of pages of one group and two, visited lately, long ago, or never."""
    random = np.random.default_rng(5)
    names = [f"http://a.test/{n % 3}/{n % 5}.html" for n in range(40)]
    made = GroupClocks(
        companions_of([("", name) for name in names]), PACE, start=0.0, born=np.full(40, born)
    )
    for k in range(300):
        now = 1.0 + 0.3 * k
        made.tell(int(random.integers(40)), max(now - 9.0, 0.0), now, bool(k % 3), 0.05, 0.6)
    rows = np.arange(40)
    since = np.where(rows % 7 == 0, np.inf, random.uniform(-50.0 if born == 0 else born, 91.0, 40))
    for now in (91.0, 200.0, 5_000.0, 95.0):
        at = np.minimum(since, np.where(np.isinf(since), np.inf, now))
        passed, speeds = made.read(rows, at, now)
        arrays = made.arrays()
        for row in np.flatnonzero(np.isfinite(at)).tolist():
            told, older = clocked(row, at[row], now, arrays), aged(row, at[row], now, arrays)
            believed = believed_time(told, now - at[row], older, arrays)
            assert passed[row] == pytest.approx(believed, rel=1e-9, abs=1e-9)
            assert speeds[row] == aged_ahead(row, now, arrays)
        assert not passed[np.isinf(at)].any()


def test_announced_changes_are_taken_in_exactly() -> None:
    """The instant is known, so the law is conjugate: (shrink + n) / (shrink + expected)."""
    shrink, rates = 0.5, np.array([0.4, 1.1, 0.2])
    made = clocks(["d/0", "d/1", "e/2"], shrink)

    made.hear(
        np.arange(3),
        rates,
        (4.0, 4.9),
        np.array([0, 0, 1, 2]),
        np.array([4.1, 4.3, 4.8, 2.0]),  # the last in a bin before
        np.array([1.0, 0.5, 1.0, 1.0]),
    )

    assert speed(made, 0, 4.9) == pytest.approx(
        (shrink + 2.5) / (shrink + 0.9 * (rates[0] + rates[1])), rel=1e-6
    )
    assert speed(made, 2, 4.9) == pytest.approx(shrink / (shrink + 0.9 * rates[2]), rel=1e-6)
    passed, _ = made.read(np.array([2]), np.array([2.0]), 3.0)
    assert passed[0] == pytest.approx((shrink + 1.0) / shrink, rel=1e-6)


def test_announcements_count_as_far_as_visits_are_free_of_them() -> None:
    """A law tempered by that share: what is found and what was expected alike."""
    shrink, free = 0.5, 0.3
    made = clocks(["d/0", "d/1"], shrink)

    made.hear(
        np.arange(2), np.full(2, 0.4), (4.0, 4.9), np.array([0]), np.array([4.1]), np.ones(1), free
    )

    assert speed(made, 0, 4.9) == pytest.approx(
        (shrink + free) / (shrink + free * 0.9 * 0.8), rel=1e-6
    )


def test_what_is_announced_reaches_every_group_around_and_a_name_its_share() -> None:
    """What is found in a group is the sum of what is found in those within it."""
    names = ["a/x.en.html", "a/x.de.html", "b/y.en.html", "b/y.de.html"]
    made = GroupClocks(
        companions_of([("", name) for name in names]), PACE, start=0.0, born=np.zeros(4)
    )
    assert (made.companions.leaves[:, 1] >= 0).all()  # each has a name, too
    rows = np.arange(4)

    made.hear(rows, np.full(4, 0.5), (1.0, 3.5), rows, np.full(4, 2.5), np.ones(4))

    found, expected = made.arrays()[3], made.arrays()[4]
    root = int(np.flatnonzero(made.companions.parents < 0)[0])
    assert found[root].sum() == pytest.approx(4.0)
    assert found[root, 2] == pytest.approx(4.0)
    assert expected[root].sum() == pytest.approx(4 * 0.5 * 2.5)
    np.testing.assert_allclose(expected[root, 1:4], [2.0, 2.0, 1.0])
    own = np.unique(made.companions.leaves)
    assert found[own].sum() == pytest.approx(4.0)


def test_of_pages_that_all_announce_what_they_should_clocks_stay_as_they_are() -> None:
    """Poisson changes of known rates, every one announced: speeds are one on average."""
    random, n, bins = np.random.default_rng(2), 400, 40
    made = clocks([f"{row // 20}/{row}" for row in range(n)], 5.0)
    rates = random.uniform(0.1, 0.5, n)
    for number in range(bins):
        page = np.repeat(np.arange(n), random.poisson(rates))
        at = number + random.random(page.size)
        made.hear(np.arange(n), rates, (number, number + 1.0), page, at, np.ones(page.size))
    passed, _ = made.read(np.arange(n), np.zeros(n), float(bins))
    assert np.mean(passed) == pytest.approx(bins, rel=0.02)
    assert np.std(passed[::20]) < 0.1 * bins
