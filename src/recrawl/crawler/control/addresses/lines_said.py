"""Lines that pages of a host have said: whether a list, narrowed, says more than they do.

Whoever puts filters on a table makes a page of each combination: its rows, and how many they are.
All of that is said elsewhere, in the same lines. Remembered are marks of lines, in two Bloom
filters of one size, of which the older is dropped when the other is full (Bloom 1970; "double
buffering", Chang, Feng and Li 2004): at most 3 % of new lines pass for known by each.
"""

import re
from collections.abc import Sequence
from typing import Final

from recrawl.crawler.control.texts.letters import folded

_BITS: Final = 1 << 23  # of a filter: 1 MB
_MOST_MARKS: Final = 800_000
_MOST_LINES: Final = 2_000  # of a page
_FEW_LETTERS: Final = 8  # that are no more: how what was chosen by its number is called
_NAMES: Final = re.compile(r"[^\W_]+")
_LETTER: Final = re.compile(r"[^\W\d_]")


class LinesSaid:
    """Remembers what pages say, line by line. In memory; 2 MB at most."""

    def __init__(self) -> None:
        self._kept = [bytearray(_BITS // 8)]  # the one that is filled, and the one before it
        self._n = 0

    def keep(self, host: str, lines: Sequence[str]) -> None:
        """Remember the lines of a page. O(lines)."""
        for line in lines[:_MOST_LINES]:
            self._add(hash((host, line)))

    def says_more(self, url: str, host: str, lines: Sequence[str]) -> bool:
        """Tell whether a page says more than others of its host did; its labels are remembered.

        Neither numbers nor words of its address count: "3 rows where colour = red" says what
        "1 row where colour = blue" does. O(lines).

        Parameters
        ----------
        url : of the page, in normal form
        host : of the page
        lines : of its text
        """
        named = set(_NAMES.findall(folded(url.partition("?")[2])))
        more = 0
        for line in lines[:_MOST_LINES]:
            own = [word for word in _NAMES.findall(folded(line)) if word not in named]
            told = [word for word in own if _LETTER.search(word)]
            n = sum(map(len, told))
            label = hash((host, *told))
            if n and not self._has(hash((host, line))) and not self._has(label):
                more += n
                self._add(label)
        return more > _FEW_LETTERS

    def _add(self, mark: int) -> None:
        one, two = mark % _BITS, (mark >> 32) % _BITS
        kept = self._kept[0]
        if kept[one >> 3] >> (one & 7) & kept[two >> 3] >> (two & 7) & 1:
            return
        self._n += 1
        if self._n > _MOST_MARKS:
            self._kept, self._n = [bytearray(_BITS // 8), kept], 1
            kept = self._kept[0]
        kept[one >> 3] |= 1 << (one & 7)
        kept[two >> 3] |= 1 << (two & 7)

    def _has(self, mark: int) -> bool:
        one, two = mark % _BITS, (mark >> 32) % _BITS
        return any(
            kept[one >> 3] >> (one & 7) & kept[two >> 3] >> (two & 7) & 1 for kept in self._kept
        )
