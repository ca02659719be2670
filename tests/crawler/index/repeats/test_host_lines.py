"""Counts of the lines of a host's pages."""

from collections import Counter

import msgspec
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recrawl.crawler.index.repeats.host_lines import HASH, HostLines

MARKS = st.integers(0, 12) | st.integers(2**64 - 4, 2**64 - 1)


def marks(numbers: list[int]) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return np.array(numbers, HASH)


@given(st.lists(st.lists(MARKS, max_size=8), max_size=20), st.integers(0, 9))
def test_they_count_as_a_dictionary_does(pages: list[list[int]], most: int) -> None:
    """Whatever is added, halved, forgotten, and kept between two processes."""
    lines, counted = HostLines(), Counter[int]()
    for number, page in enumerate(pages):
        lines.add(marks(page))
        counted.update(set(page))
        if number % 7 == 6:
            lines.halve()
            counted = Counter({mark: n // 2 for mark, n in counted.items() if n > 1})
    asked = [*range(13), *range(2**64 - 4, 2**64)]
    assert lines.of(marks(asked)).tolist() == [counted[mark] for mark in asked]

    lines.keep(most)
    while len(counted) > most:
        rarest = min(counted.values())
        counted = Counter({mark: n for mark, n in counted.items() if n > rarest})
    again = msgspec.msgpack.decode(msgspec.msgpack.encode(lines), type=HostLines)
    assert again.of(marks(asked)).tolist() == [counted[mark] for mark in asked]


def test_a_line_of_every_page_of_a_vast_host_counts_no_further_than_it_can() -> None:
    """As that does not come back to nothing, which would make it a line of few pages."""
    lines = HostLines(lines={5: 2**16 - 2})
    for _ in range(3):
        lines.add(marks([5]))

    assert lines.of(marks([5])).tolist() == [2**16 - 1]
