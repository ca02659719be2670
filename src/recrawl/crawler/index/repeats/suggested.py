"""Lists of links that pages show beside their text, and that are made anew with the site.

"You may also like", drawn whenever a site is built or a cache of it is filled: two looks in a row
show the same, and each page is another after a while, though nobody has edited it. What tells is
that on several pages, below the same line, links went and as many others came, and nothing else is
another. From then on that is no change of any page of the host which says more than it suggests: of
a page that is a list it would be what is new there.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable
from typing import Final

from recrawl.terms import Document

_PAGES: Final = 3  # on which links were replaced below a line, from which on they are suggested
_FEWEST: Final = 2  # links that go and come at once: who edits a list changes one
_MOST: Final = 20  # lines of a list
_LONGEST: Final = 5_000  # lines of a page
_MOST_PLACES: Final = 10_000
_BESIDE: Final = 6  # words of a line beside its link, as those of a date


class Suggestions:
    """Remembers below which lines of a host's pages links are replaced. In memory, and bounded.

    Parameters
    ----------
    mark : makes of lines what is the same where they say the same
    """

    def __init__(self, mark: Callable[[str], bytes]) -> None:
        self._mark = mark
        self._pages: dict[tuple[str, bytes], set[str]] = {}  # by host and line above

    def same(self, document: Document, held: str, passing: Container[str] = ()) -> bool:
        """Tell whether two texts of a page differ but in what it suggests, and remember where.

        Parameters
        ----------
        document : of the page now
        held : what the copy that is held says for itself
        passing : lines that may come and go, as their host repeats them

        Notes
        -----
        O(lines).
        """
        lines = [line for line in document.text.split("\n") if line]
        others = [line for line in held.split("\n") if line]
        if max(len(lines), len(others)) > _LONGEST:
            return False
        come, gone = self._new(lines, others, passing), self._new(others, lines, passing)
        if not _FEWEST <= len(come) == len(gone) <= _MOST:
            return False
        rows = self._list_around(come[0], come[-1], lines, document)
        if rows is None or not _says_more(lines, rows, passing):
            return False
        listed = set(lines[rows.start : rows.stop])
        was = range(gone[0], gone[-1] + 1)
        if len(was) > len(rows) or not all(row in gone or others[row] in listed for row in was):
            return False
        return self._is_known(document.url, lines[rows.start - 1])

    def _new(
        self, lines: Iterable[str], others: Iterable[str], passing: Container[str]
    ) -> list[int]:
        """Return the rows of lines that others have not."""
        left = Counter(map(self._mark, others))
        new = []
        for row, line in enumerate(lines):
            mark = self._mark(line)
            left[mark] -= 1
            if left[mark] < 0 and line not in passing:
                new.append(row)
        return new

    def _list_around(
        self, first: int, last: int, lines: list[str], document: Document
    ) -> range | None:
        """Return the rows of the list of links that has come rows; None: they are of none."""
        host = document.url.split("/", 3)[:3]
        texts = {
            " ".join(text.split()) for url, text in document.links if url.split("/", 3)[:3] == host
        }
        if not all(_is_link(lines[row], texts) for row in range(first, last + 1)):
            return None
        while first and _is_link(lines[first - 1], texts):
            first -= 1
        while last + 1 < len(lines) and _is_link(lines[last + 1], texts):
            last += 1
        return range(first, last + 1) if first and last - first < _MOST else None

    def _is_known(self, url: str, above: str) -> bool:
        """Tell whether links were replaced below a line of other pages; remember this one."""
        pages = self._pages.setdefault((url.split("/", 3)[2], self._mark(above)), set())
        is_known = len(pages - {url}) >= _PAGES
        if len(pages) <= _PAGES:
            pages.add(url)
        if len(self._pages) > _MOST_PLACES:
            del self._pages[next(iter(self._pages))]
        return is_known


def _is_link(line: str, texts: Container[str]) -> bool:
    """Tell whether a line is a link, with a number or a date beside it at most."""
    if line in texts:
        return True
    words = line.split(" ")
    for n in range(1, min(_BESIDE + 1, len(words))):
        for said, beside in ((words[:-n], words[-n:]), (words[n:], words[:n])):
            if any(map(str.isdigit, "".join(beside))) and " ".join(said) in texts:
                return True
    return False


def _says_more(lines: list[str], rows: range, passing: Container[str]) -> bool:
    """Tell whether what stands beside a list is more than it, but for what a host repeats."""
    listed = sum(len(lines[row]) for row in rows)
    beside = [line for row, line in enumerate(lines) if row not in rows and line not in passing]
    return sum(map(len, beside)) > listed
