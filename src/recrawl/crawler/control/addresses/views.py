"""Views of things: whether one says more than its thing does, and than others of their things.

A form with the title of its thing says what each form says. A record as librarians have it, or how
it is cited, says what the record says, and else the same labels as any other. A month in which
nothing happens says what others do.
"""

from collections import deque
from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import Final

from recrawl.crawler.control.addresses.gists import Gist, is_beside_as

_LATELY: Final = 64  # that one is compared with
_MOST_SHOWN: Final = 1_000
_MOST_THINGS: Final = 20_000
_MOST_BITS: Final = 512  # of a thing: words by chance fall on those of one that says much


class ViewsOfThings:
    """Remembers in which words things and views of them were told. In memory; bounded."""

    def __init__(self) -> None:
        self._beside: dict[int, deque[Gist]] = {}  # what was shown lately, by what it is of things
        # The same, of what the thing of each said: its mark, what was beyond that, and that.
        self._beyond: dict[int, deque[tuple[int, int, int]]] = {}
        self._dated: dict[int, deque[tuple[int, int]]] = {}  # of a calendar, words and figures
        self._said: dict[int, int] = {}  # words of things, by address

    def keep(self, url: str, says: Gist) -> None:
        """Remember what a page says that may be a thing."""
        if len(self._said) > _MOST_THINGS:
            self._said.clear()
        if 0 < says.beside.bit_count() <= _MOST_BITS:
            self._said[hash(url)] = says.beside

    def is_as_others(self, shown: int, says: Gist) -> bool:
        """Tell whether another view of a kind says the same but for the title of its thing.

        Parameters
        ----------
        shown : a mark of the kind
        says : of the view, which is remembered unless it is as another
        """
        if len(self._beside) > _MOST_SHOWN:
            self._beside.clear()
        before = self._beside.setdefault(shown, deque(maxlen=_LATELY))
        is_as_before = any(is_beside_as(says, other) for other in before)
        if not is_as_before:
            before.append(says)
        return is_as_before

    def is_within(self, shown: int, things: Iterable[int], says: Gist) -> bool:
        """Tell whether a view says what its thing says, and else what one of another thing did.

        Parameters
        ----------
        shown : a mark of the kind
        things : marks of the addresses of which one may be its thing's
        says : of the view; what it says beyond its thing is remembered
        """
        thing, said = next(((one, self._said[one]) for one in things if one in self._said), (0, 0))
        if not said or not says.beside:
            return False
        if len(self._beyond) > _MOST_SHOWN:
            self._beyond.clear()
        before = self._beyond.setdefault(shown, deque(maxlen=_LATELY))
        beyond = says.beside & ~said
        # Words of a thing may fall on those that another view says beyond its own.
        is_within = any(
            its != thing and beyond & ~other_said == other & ~said
            for its, other, other_said in before
        )
        if not is_within:
            before.append((thing, beyond, said))
        return is_within

    def is_as_other_dates(self, calendar: int, says: Gist) -> bool:
        """Tell whether a day or month says no word that others did not, and the figures of one.

        Parameters
        ----------
        calendar : a mark of it
        says : of the page, which is remembered unless it is as others
        """
        if len(self._dated) > _MOST_SHOWN:
            self._dated.clear()
        before = self._dated.setdefault(calendar, deque(maxlen=_LATELY))
        known = reduce(or_, (words for words, _ in before), 0)
        is_as_others = not says.beside & ~known and any(its == says.figures for _, its in before)
        if not is_as_others:
            before.append((says.beside, says.figures))
        return is_as_others
