"""Regular splits: as even as words can be where such exist, and never far from it."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sequencing.strategies import shares

from recrawl.errors import InvalidModel
from recrawl.sequencing import SplitStream, imbalance, regular_cycle, split_cycle


def splits_to(frequencies: np.ndarray) -> list[int]:
    """How many splits lead to each page, by joining sets of pages."""
    depth, groups = [0] * frequencies.size, [(f, [i]) for i, f in enumerate(frequencies)]
    while len(groups) > 1:
        groups.sort(key=lambda group: group[0])
        joined = groups[0][1] + groups[1][1]
        for page in joined:
            depth[page] += 1
        groups = [*groups[2:], (groups[0][0] + groups[1][0], joined)]
    return depth


def slow_imbalance(cycle: list[int]) -> int:
    """Count each page in all stretches of each length."""
    n, worst = len(cycle), 0
    for page in set(cycle):
        for stretch in range(1, n):
            counts = [sum(cycle[(at + k) % n] == page for k in range(stretch)) for at in range(n)]
            worst = max(worst, max(counts) - min(counts))
    return worst


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7])
def test_the_only_balanced_words_of_unequal_frequencies_are_found(n: int) -> None:
    """Fraenkel's: shares as 1, 2, 4, ..."""
    counts = 2 ** np.arange(n)

    cycle = split_cycle(counts, 2**n - 1)

    assert imbalance(cycle, n) == 1
    np.testing.assert_array_equal(np.bincount(cycle), counts)


@given(st.integers(1, 15), st.integers(1, 15))
def test_two_pages_get_their_regular_word(count: int, rest: int) -> None:
    """Up to where it begins."""
    length = count + rest
    cycle, word = split_cycle([count, rest], length), regular_cycle(count, length)

    assert any(np.array_equal(np.roll(word, shift), cycle) for shift in range(length))
    assert imbalance(cycle, 2) == 1


@given(shares(most=8))
@settings(max_examples=40)
def test_no_stretch_has_far_too_many_or_too_few(frequencies: np.ndarray) -> None:
    """Less than one for each split that leads to the page, in every stretch of 400 slots."""
    order = SplitStream(frequencies).take(400)

    for page, depth in enumerate(splits_to(frequencies)):
        visits = np.concatenate([[0], np.cumsum(order == page)])
        for stretch in range(1, 400):
            inside = visits[stretch:] - visits[:-stretch]
            assert np.abs(inside - stretch * frequencies[page]).max() < depth + 1e-9


@pytest.mark.parametrize("counts", [(1, 1, 2), (2, 2, 3), (1, 2, 3), (3, 3, 1), (2, 1, 1, 3)])
def test_near_the_most_even_of_all_arrangements(counts: tuple[int, ...]) -> None:
    """By brute force: at most one more than the least imbalance that there is."""
    pages = [page for page, count in enumerate(counts) for _ in range(count)]
    least = min(slow_imbalance([0, *rest]) for rest in set(itertools.permutations(pages[1:])))

    cycle = split_cycle(counts, len(pages))

    assert least <= imbalance(cycle, len(counts)) <= least + 1
    np.testing.assert_array_equal(np.bincount(cycle), counts)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12))
def test_imbalance_is_counted_rightly(cycle: list[int]) -> None:
    """Half of the lengths are enough."""
    assert imbalance(cycle, 4) == slow_imbalance(cycle)


@given(st.lists(st.integers(1, 9), min_size=3, max_size=8))
@settings(max_examples=60)
def test_cycles_and_streams_agree(counts: list[int]) -> None:
    """Where frequencies are whole parts of the cycle both have each page its number of times."""
    length = sum(counts)
    cycle = split_cycle(counts, length)
    stream = SplitStream(counts).take(20 * length)

    np.testing.assert_array_equal(np.bincount(cycle), counts)
    off = np.bincount(stream) / 20 - counts
    assert np.abs(off).max() < len(counts) / 20


def test_one_page_and_refusals() -> None:
    """Nothing to split; pages without frequency are left out."""
    assert SplitStream([0.0, 2.0, 0.0]).take(3).tolist() == [1, 1, 1]
    assert split_cycle([0.0, 2.0], 3).tolist() == [1, 1, 1]
    assert imbalance([1, 1], 2) == 0
    with pytest.raises(InvalidModel, match="at most 20000 slots, got 20001"):
        imbalance(np.zeros(20_001, np.int64), 1)
    with pytest.raises(InvalidModel, match="frequencies"):
        SplitStream([0.0, 0.0])
