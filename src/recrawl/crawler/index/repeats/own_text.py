"""The own text of pages: without what their hosts repeat, and what they show by chance.

An index keeps a text in two parts, and takes a page as the same where these say the same.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from recrawl.crawler.control.texts.differences import difference, edit
from recrawl.crawler.index.repeats.boilerplate import Boilerplate
from recrawl.crawler.index.repeats.drawn import Drawn, Parts, as_it_is
from recrawl.crawler.index.repeats.host_lines import HostLines
from recrawl.crawler.index.repeats.left_out import divided, in_order, lines_of, placed
from recrawl.crawler.index.repeats.notes import Shelf
from recrawl.crawler.index.repeats.suggested import Suggestions
from recrawl.terms import Document


@dataclass(frozen=True, slots=True)
class Parted:
    """A text in parts.

    Parameters
    ----------
    text : what the page says for itself
    left_out : what its host repeats
    own : the lines left out that no other page of the host says; people look for them, too
    kept : the lines left out, and where they stood
    """

    text: str
    left_out: str
    own: str
    kept: str


class OwnText:
    """Learns what hosts repeat and what they show by chance from the pages of one index.

    Parameters
    ----------
    repeated, drawn : where what is learned outlasts the process; None: nowhere
    mark : makes of lines what is the same where they say the same
    """

    def __init__(
        self,
        repeated: Shelf[HostLines] | None = None,
        drawn: Shelf[Parts] | None = None,
        mark: Callable[[str], bytes] = as_it_is,
    ) -> None:
        self._boilerplate, self._drawn = Boilerplate(repeated, mark), Drawn(drawn, mark)
        self._suggestions = Suggestions(mark)
        self._early: dict[str, Document | None] = {}  # not committed yet; None: to be removed

    def learn(self, document: Document) -> None:
        """Learn from a page that is about to be held."""
        self._boilerplate.learn(document.url, document.text.split("\n"), document.title)
        if self._boilerplate.is_early(document.url):
            self._early[document.url] = document

    def learn_drawn(self, document: Document, again: str) -> None:
        """Learn from two looks at a page, the second right after the first."""
        self._drawn.learn(document, again)

    def forget(self, url: str) -> None:
        """Take note that a page is to be held no more."""
        self._early[url] = None

    def parted(self, document: Document) -> Parted:
        """Return the text of a page in parts, as far as its host is known now."""
        url, lines = document.url, document.text.split("\n")
        out = self._boilerplate.left_out(url, lines, document.title)
        text, left_out = divided(lines, out)
        return Parted(text, left_out, self._boilerplate.own(url, left_out), placed(lines, out))

    def to_part_again(self, held: Callable[[str], Document | None]) -> Iterator[Document]:
        """Iterate over pages that were parted before their hosts were known, each of them once.

        To be called before each commit.

        Parameters
        ----------
        held : returns the whole copy that an index holds
        """
        for url in self._boilerplate.early():
            document = self._early[url] if url in self._early else held(url)
            if document is not None:
                yield document
        self._early.clear()

    def same(self, document: Document, title: str, text: str, kept: str) -> bool:
        """Tell whether a copy says the same as a page does now.

        Parameters
        ----------
        title, text, kept : of the copy
        """
        if title != document.title:
            return False
        parts = text, lines_of(kept)
        whole = in_order(text, kept)
        is_same = self._boilerplate.same(document.url, parts, document.text, document.links, whole)
        passing = self._boilerplate.passing(document.url, parts, document.text)
        if not is_same and not self._drawn.same(document, "\n".join(parts), passing):
            return self._suggestions.same(document, "\n".join(parts), passing)
        return self._drawn.in_order(document, text, passing)

    def difference(self, document: Document, title: str, text: str, kept: str) -> str:
        """Return what a page says anew, and what no more, beside a copy; without what is repeated.

        Parameters
        ----------
        title, text, kept : of the copy
        """
        before, now = self._beside(document, text, lines_of(kept))
        return difference(f"{title}\n{before}", f"{document.title}\n{now}")

    def edit(self, document: Document, text: str, kept: str) -> str:
        """Return a unified diff from a copy to the text of a page, without what is repeated.

        Parameters
        ----------
        text, kept : of the copy
        """
        return edit(*self._beside(document, text, lines_of(kept)))

    def _beside(self, document: Document, text: str, left_out: str) -> tuple[str, str]:
        """Return the texts of a copy and of a page, without lines that one of them leaves out.

        What a host was known to repeat when the copy was made is not what it is known to repeat
        now: a line that was left out, and is no more, has not come.
        """
        now = self.parted(document)
        kept = text.split("\n"), now.text.split("\n")
        before = _without(kept[0], now.left_out, kept[1])
        return before, _without(kept[1], left_out, kept[0])

    def take_over(self, other: "OwnText") -> None:
        """Take all that another has learned."""
        for host, lines in other._boilerplate.notes.every():
            self._boilerplate.notes.put(host, lines)
        for host, parts in other._drawn.notes.every():
            self._drawn.notes.put(host, parts)

    def save(self, *, now: bool = False) -> None:
        """Keep what was learned, if that is much; now: if it is anything."""
        self._boilerplate.notes.save(now=now)
        self._drawn.notes.save(now=now)

    def settle(self) -> None:
        """Keep what was learned, and look it up anew: others may learn of these hosts meanwhile."""
        self._boilerplate.notes.settle()
        self._drawn.notes.settle()


def _without(lines: list[str], left_out: str, others: list[str]) -> str:
    """Return lines without those that are left out of others."""
    gone = set(left_out.split("\n")).difference(others) if left_out else ()
    return "\n".join([line for line in lines if line not in gone])
