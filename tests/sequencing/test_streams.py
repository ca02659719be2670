"""Endless orders: they realise frequencies, can be stopped anywhere, let pages come and go."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sequencing.strategies import shares

from recrawl.errors import InvalidModel
from recrawl.processes.access_times import ConstantTime
from recrawl.sequencing import (
    IDLE,
    POLICIES,
    AccessStream,
    AgeingCosts,
    CycleStream,
    DeadlineStream,
    GoldenStream,
    IndexStream,
    PhaseStream,
    PoliteStream,
    RandomStream,
    RegularStream,
    RingStream,
    bound_even_gaps,
    bound_whole_gaps,
    choose_policy,
    close_cycle,
    cut_cycle,
    deadline_phases,
    evaluate_cycle,
    judge_policy,
    make_stream,
    measure_stream,
    phase_cycle,
    random_cycle,
    regular_cycle,
    round_to_cycle,
    solve_cycle,
    webster_phases,
)

STREAMS = [name for name in POLICIES if name != "optimal"]


def lognormal(n: int, seed: int = 0) -> AgeingCosts:
    """Change rates that sum to 1, weights like them, one access in each unit of time."""
    rates = np.random.default_rng(seed).lognormal(size=n)
    rates /= rates.sum()
    return AgeingCosts.obsolescence(rates, rates, ConstantTime(1.0))


def worst_distance(order: np.ndarray, frequencies: np.ndarray) -> float:
    """Return the greatest distance in units of its page's gap."""
    return max(
        float(np.diff(np.flatnonzero(order == page)).max(initial=0) * share)
        for page, share in enumerate(frequencies)
    )


def polite(n: int, gap: int = 4) -> PoliteStream:
    frequencies = bound_even_gaps(lognormal(n)).frequencies
    return PoliteStream(frequencies, np.arange(n) % 10, gap)


@pytest.mark.parametrize(
    ("name", "n"),
    [(name, 40) for name in STREAMS]
    + [
        (name, 2) for name in STREAMS if name not in ("index", "whittle", "greedy")
    ],  # these alternate
)
def test_every_stream_realises_its_frequencies(name: str, n: int) -> None:
    """Shares of 40,000 slots, to half a percent of all."""
    costs = lognormal(n)
    frequencies = bound_even_gaps(costs).frequencies

    order = make_stream(name, costs, frequencies, seed=1).take(40_000)

    np.testing.assert_allclose(np.bincount(order, minlength=n) / 40_000, frequencies, atol=0.012)


@pytest.mark.parametrize("name", [*STREAMS, "polite", "optimal"])
def test_a_stream_goes_on_where_it_was_stopped(name: str) -> None:
    """From a checkpoint the same pages follow, however they are taken."""
    n = 4 if name == "optimal" else 30
    costs = lognormal(n)
    stream: AccessStream
    if name == "polite":
        stream = polite(30)
    else:
        stream = make_stream(name, costs, bound_even_gaps(costs).frequencies, seed=1)
    stream.take(777)
    state = stream.checkpoint()

    later = type(stream).restore(state)

    expected = stream.take(500)
    np.testing.assert_array_equal(
        expected, np.concatenate([later.take(123), later.take(0), later.take(377)])
    )


def test_regular_streams_are_restored_too() -> None:
    """For two pages."""
    stream = RegularStream([0.3, 0.7])
    stream.take(5000)
    again = RegularStream.restore(stream.checkpoint())

    np.testing.assert_array_equal(stream.take(3000), again.take(3000))


@given(st.integers(1, 30), st.integers(1, 30))
def test_regular_words_are_balanced(count: int, rest: int) -> None:
    """Two stretches of one length differ by one visit at most, in the cycle and in the stream."""
    length = count + rest
    word = regular_cycle(count, length)
    stream = RegularStream([count, rest]).take(3 * length)

    assert (word == 0).sum() == count
    for order in (np.tile(word, 3), stream):
        visits = np.concatenate([[0], np.cumsum(order == 0)])
        for stretch in range(1, length):
            inside = visits[stretch:] - visits[:-stretch]
            assert inside.max() - inside.min() <= 1


def test_golden_streams_can_be_entered_anywhere() -> None:
    """Slot 100,000 of the cycle without taking those before."""
    frequencies = [0.1, 0.2, 0.7]
    first, second = GoldenStream(frequencies, 40), GoldenStream(frequencies, 40)

    skipped = first.take(100_050)[100_000:]
    second.seek(100_000)

    np.testing.assert_array_equal(skipped, second.take(50))


@given(shares())
@settings(max_examples=30)
def test_deadlines_are_met(frequencies: np.ndarray) -> None:
    """The j-th visit is within its window (j - 1)/f and j/f, up to a slot."""
    order = DeadlineStream(frequencies).take(400)

    for page, share in enumerate(frequencies):
        slots = np.flatnonzero(order == page)
        turn = np.arange(slots.size)
        assert np.all(slots >= turn / share - 1 - 1e-6)
        assert np.all(slots <= (turn + 1) / share + 1e-6)


@given(shares())
@settings(max_examples=30)
def test_phases_keep_to_their_grid(frequencies: np.ndarray) -> None:
    """Served in the order of due times (j - 1 + phase) / f."""
    for phases in (webster_phases(frequencies), deadline_phases(frequencies)):
        order = PhaseStream(frequencies, phases).take(300)
        turns = np.zeros(frequencies.size)
        due = np.empty(300)
        for slot, page in enumerate(order):
            due[slot] = (turns[page] + phases[page]) / frequencies[page]
            turns[page] += 1
        assert np.all(np.diff(due) >= -1e-6 * due.max())


def test_pages_of_frequency_zero_are_never_served() -> None:
    """By no stream."""
    costs = lognormal(6)
    frequencies = np.array([0.3, 0, 0.2, 0, 0.1, 0.4])
    for name in ("index", "regular", "splits", "rings", "deadline", "webster", "golden", "random"):
        order = make_stream(name, costs, frequencies).take(2000)
        assert set(order.tolist()) == {0, 2, 4, 5}, name


def test_page_0_of_frequency_zero_is_not_served_by_chance() -> None:
    """Where the guide of the golden policy begins."""
    assert 0 not in GoldenStream([0, 0, 0.5, 0.5, 0], 20).take(6000)


@pytest.mark.parametrize("n", [100, 1000, 10_000])
def test_the_index_is_close_to_the_bound(n: int) -> None:
    """0.1 % at 100 pages, 0.01 % at 1,000 and 0.001 % at 10,000; the golden ratio is 4 % off."""
    costs = lognormal(n, seed=5)
    frequencies = bound_even_gaps(costs).frequencies

    found = judge_policy("index", costs, frequencies)

    assert found.cost / bound_whole_gaps(costs).cost - 1 < 0.1 / n
    golden = judge_policy("golden", costs, frequencies)
    assert golden.cost / bound_whole_gaps(costs).cost - 1 > 0.03


def test_equal_pages_take_turns() -> None:
    """Index, phases, rings, deadlines, Webster's rule and greed all become a round robin."""
    costs = AgeingCosts.obsolescence(np.full(50, 0.02), np.full(50, 0.02), ConstantTime(1.0))
    for name in ("index", "regular", "rings", "deadline", "webster", "greedy"):
        order = make_stream(name, costs, np.ones(50)).take(500).reshape(10, 50)
        assert np.all(np.sort(order, axis=1) == np.arange(50)), name


def test_a_page_that_enters_disturbs_nobody() -> None:
    """Every distance keeps to its gap as before, and the newcomer gets its share at once."""
    costs = lognormal(300)
    frequencies = bound_even_gaps(costs).frequencies
    stream = IndexStream(frequencies, costs.urgencies(frequencies))
    before = worst_distance(stream.take(9000), frequencies)

    newcomers = [stream.add(0.005, 0.005**2) for _ in range(20)]

    order = stream.take(11_000)
    all_shares = np.append(frequencies, np.full(20, 0.005)) / 1.1
    assert newcomers == list(range(300, 320))
    assert worst_distance(order, all_shares) < 1.5 * before
    for page in newcomers:
        first = np.flatnonzero(order == page)[0]
        assert first < 1.3 * 1.1 / 0.005


def test_pages_leave_and_change_while_the_stream_runs() -> None:
    """The rest fill the slots in proportion; a faster page keeps its place in its gap."""
    stream = PhaseStream([0.25, 0.25, 0.25, 0.25])
    stream.take(1000)

    stream.remove(3)
    stream.change(0, 0.5)

    counts = np.bincount(stream.take(4000), minlength=4) / 4000
    np.testing.assert_allclose(counts, [0.5, 0.25, 0.25, 0], atol=0.002)


def test_a_checkpoint_keeps_pages_that_came_and_went() -> None:
    """Growth and gaps in the numbering included."""
    stream = IndexStream(np.ones(5))
    for _ in range(40):
        stream.add(0.1, 0.01)
    stream.remove(2)
    again = IndexStream.restore(stream.checkpoint())

    assert again.add(0.1, 0.01) == stream.add(0.1, 0.01) == 45
    np.testing.assert_array_equal(stream.take(500), again.take(500))
    assert 2 not in stream.take(1000)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 30)), max_size=30))
@settings(max_examples=40)
def test_any_comings_and_goings_leave_the_queue_whole(moves: list[tuple[int, int]]) -> None:
    """Who is in the sequence is served, who left is not."""
    stream, here = IndexStream(np.ones(4)), {0, 1, 2, 3}
    for kind, number in moves:
        if kind == 0:
            here.add(stream.add(0.05 + 0.01 * number, 1.0 + number))
        elif number in here and len(here) > 1:
            if kind == 1:
                stream.remove(number)
                here.remove(number)
            else:
                stream.change(number, 0.3, 5.0)
        stream.take(number)

    assert here == set(stream.take(40 * 60).tolist())


def test_no_host_is_asked_twice_within_its_gap() -> None:
    """Ten hosts with a gap of four slots, at little loss; a gap too long leaves slots empty."""
    costs = lognormal(300)
    frequencies = bound_even_gaps(costs).frequencies
    hosts = np.arange(300) % 10
    order = PoliteStream(frequencies, hosts, 4, costs.urgencies(frequencies)).take(5000)

    assert IDLE not in order
    for host in range(10):
        assert np.diff(np.flatnonzero(hosts[order] == host)).min() >= 4
    stream = PoliteStream(frequencies, hosts, 4, costs.urgencies(frequencies))
    found = measure_stream(stream, costs, frequencies, slots=20_000, warm_up=5000)
    assert found.cost / bound_whole_gaps(costs).cost - 1 < 3e-3
    slow = PoliteStream(frequencies, hosts, 20).take(1000)
    assert np.count_nonzero(slow == IDLE) == 500
    assert np.diff(np.flatnonzero(hosts[slow[slow >= 0]] == 3)).size > 0


def test_polite_pages_come_go_and_change_without_a_jolt() -> None:
    """New pages and hosts get their shares, those gone none, gaps hold, and nobody else jumps."""
    stream = PoliteStream(np.ones(40), np.arange(40) % 10, 4)
    before = stream.take(4000)
    host = stream.add_host(5.0)
    one = 1.0 / 40.0  # frequencies are shares of the accesses at the start
    new = [stream.add(host, 2.0 * one, 4.0 * one**2) for _ in range(5)]
    new.append(stream.add(3, one, one**2))
    stream.remove(0)
    stream.change(1, 3.0 * one, 9.0 * one**2)
    after = stream.take(20_000)

    total = 40.0 + 5 * 2.0 + 1.0 - 1.0 + 2.0
    counts = np.bincount(after, minlength=46) / after.size * total
    assert counts[0] == 0.0
    assert counts[1] == pytest.approx(3.0, rel=0.05)
    assert counts[new] == pytest.approx([2.0] * 5 + [1.0], rel=0.05)
    assert counts[2:40] == pytest.approx(1.0, rel=0.05)
    owner = np.append(np.arange(40) % 10, [host] * 5 + [3])
    for number, gap in [(number, 4) for number in range(10)] + [(host, 5)]:
        assert np.diff(np.flatnonzero(owner[after] == number)).min() >= gap
    both = np.concatenate([before, after])
    longest = max(np.diff(np.flatnonzero(both == page)).max() for page in range(2, 40))
    assert longest < 1.5 * total


@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_polite_pages_come_and_go_at_any_moment(data: st.DataObject, seed: int) -> None:
    """Only pages that are there are served, no host too soon, through checkpoints too."""
    random = np.random.default_rng(seed)
    owner = random.integers(0, 4, 8)
    owner[0] = 3
    stream = PoliteStream(random.uniform(0.1, 2.0, 8), owner, 2)
    owners, alive, slot = list(owner), set(range(8)), 0
    last: dict[int, int] = {}
    for step in data.draw(st.lists(st.sampled_from("taArc"), max_size=30)):
        if step == "t":
            for page in stream.take(7).tolist():
                slot += 1
                if page >= 0:
                    assert page in alive
                    assert slot - last.get(owners[page], -9) >= 2
                    last[owners[page]] = slot
        elif step == "a":
            owners.append(int(random.integers(0, 1 + max(owners))))
            alive.add(stream.add(owners[-1], random.uniform(0.1, 2.0), 1.0))
        elif step == "A":
            owners.append(stream.add_host(2.0))
            alive.add(stream.add(owners[-1], 1.0, 1.0))
        elif step == "r" and len(alive) > 1:
            page = random.choice(sorted(alive))
            stream.remove(int(page))
            alive.remove(page)
        elif step == "c":
            stream.change(int(random.choice(sorted(alive))), random.uniform(0.1, 2.0), 2.0)
        stream = PoliteStream.restore(stream.checkpoint())
    served = set(stream.take(3000).tolist()) - {-1}
    assert served == alive


def test_hosts_may_have_gaps_of_their_own() -> None:
    """One host rests for eight slots, the others for one."""
    order = PoliteStream(np.ones(30), np.arange(30) % 3, [8, 1, 1]).take(800)

    assert np.diff(np.flatnonzero(order % 3 == 0)).min() == 8


@pytest.mark.parametrize("length", [12, 40, 233])
def test_cycles_hold_every_page_its_number_of_times(length: int) -> None:
    """Cut from a stream, by phases, at random, and the best of them."""
    costs = lognormal(12)
    frequencies = bound_even_gaps(costs).frequencies
    wanted = round_to_cycle(frequencies, length)
    stream = make_stream("index", costs, frequencies)

    for cycle in (
        close_cycle(stream, frequencies, length),
        phase_cycle(frequencies, length),
        random_cycle(frequencies, length, np.random.default_rng(1)),
        cut_cycle(stream, costs, frequencies, length),
    ):
        np.testing.assert_array_equal(wanted, np.bincount(cycle, minlength=12))


def test_the_choice_is_exact_for_few_pages() -> None:
    """Three and four pages get the optimal cycle."""
    for n in (3, 4):
        costs = lognormal(n, seed=n)
        choice = choose_policy(costs, bound_even_gaps(costs).frequencies)
        assert choice.name == "optimal"
        assert solve_cycle(costs).cost == pytest.approx(choice.found["optimal"].cost, abs=1e-12)


@pytest.mark.parametrize("family", ["lognormal", "uniform", "equal", "pareto"])
def test_the_choice_is_the_best_of_its_candidates(family: str) -> None:
    """It says what it tried, and takes the cheapest; equal pages need nothing but the index."""
    rng = np.random.default_rng(2)
    rates = {
        "lognormal": rng.lognormal(size=200),
        "uniform": rng.random(200),
        "equal": np.ones(200),
        "pareto": rng.pareto(1.2, 200) + 1,
    }[family]
    rates = rates / rates.sum()
    costs = AgeingCosts.obsolescence(rates, rates, ConstantTime(1.0))

    choice = choose_policy(costs, bound_even_gaps(costs).frequencies)

    assert {"index", "regular", "rings", "deadline", "whittle"} == set(choice.found)
    least = min(found.cost for found in choice.found.values())
    assert choice.found[choice.name].cost == pytest.approx(least, rel=1e-11)
    assert family != "equal" or choice.name == "index"


def test_the_exact_cost_of_a_cycle_that_repeats() -> None:
    """The stream of an optimal cycle goes round."""
    stream = CycleStream([0, 1, 2])

    assert stream.take(7).tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert stream.take(2).tolist() == [1, 2]
    costs = lognormal(3)
    judged = judge_policy("optimal", costs, np.ones(3))
    assert judged.cost == evaluate_cycle(costs, solve_cycle(costs).sequence).cost


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_stream("best", lognormal(3), np.ones(3)), "policy 'best' is unknown"),
        (
            lambda: make_stream("index", lognormal(3), np.ones(2)),
            "2 frequencies for the costs of 3",
        ),
        (lambda: IndexStream([1, 1], [1, 0]), "urgencies must be finite and > 0"),
        (lambda: IndexStream([1, 1]).add(0.0, 1.0), "frequency must be finite and > 0, got 0"),
        (lambda: IndexStream([1, 1]).remove(2), "page 2 is not in the sequence"),
        (lambda: IndexStream([1, 0]).remove(0), "page 0 is the last one"),
        (lambda: PhaseStream([1, 1], [0.5, 2]), r"phases must be in \(0, 1\]"),
        (lambda: RegularStream([1, 1, 1]), "regular words order 2 pages, not 3"),
        (lambda: regular_cycle(3, 2), "count must be in 0 .. 2, got 3"),
        (lambda: GoldenStream([1, 1], 100), "k must be from 2 to 78, got 100"),
        (lambda: PoliteStream([1, 1], [0], 1), "hosts must be numbers >= 0"),
        (lambda: PoliteStream([1, 1], [0, 1], 0.5), "host_gaps must be >= 1 slot, got 0.5"),
        (lambda: CycleStream([]), "at least one page number"),
    ],
)
def test_what_cannot_be_is_said(call: Callable[[], object], message: str) -> None:
    """Each message names what is wrong and what would be right."""
    with pytest.raises(InvalidModel, match=message):
        call()


def test_rings_and_random_draws_are_deterministic() -> None:
    """Two streams of one seed agree; two seeds do not."""
    frequencies = np.arange(1, 50.0)

    np.testing.assert_array_equal(
        RingStream(frequencies).take(99), RingStream(frequencies).take(99)
    )
    one, two = RandomStream(frequencies, 1).take(99), RandomStream(frequencies, 2).take(99)
    np.testing.assert_array_equal(one, RandomStream(frequencies, 1).take(99))
    assert np.any(one != two)


def test_webster_takes_turns_among_many_alike() -> None:
    """Each once in every round, at no cost that grows with their number."""
    alike = np.ones(5000) / 5000

    order = PhaseStream(alike, webster_phases(alike)).take(15_000)

    assert np.array_equal(np.sort(order[:5000]), np.arange(5000))
    assert np.array_equal(order[:5000], order[10_000:])
