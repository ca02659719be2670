"""State and index held against each other, and made to agree.

The index is right about what it holds: the state says so afterwards, and every page about which the
two parted is due at once without validators, so that its next visit reads it in full.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from recrawl.crawler.facts import EndFacts
from recrawl.crawler.ports import Frontier, PageIndex
from recrawl.quantities import show_duration

ENDED_IN_ORDER: Final = EndFacts(ended_in_order=True)  # after a clean stop,
UNDER_WAY: Final = EndFacts(ended_in_order=False)  # and from each start on
_SAMPLE: Final = 200
_BATCH: Final = 5_000


@dataclass(frozen=True, slots=True)
class Parting:
    """A page about which state and index say different things.

    Parameters
    ----------
    url : of the page
    stated : signature that the state has on record; None: there should be no copy
    held : signature of the copy in the index; None: there is none
    copies : how many of them the index has
    """

    url: str
    stated: bytes | None
    held: bytes | None
    copies: int = 1

    @property
    def words(self) -> str:
        """The fault, in words for people."""
        if self.copies > 1:
            return f"has {self.copies} copies in the index"
        if self.held is None:
            return "has no copy in the index"
        return "has an older or newer copy in the index" if self.stated else "is not on record"


@dataclass(frozen=True, slots=True)
class Mended:
    """Repairs at a start, in pages.

    Parameters
    ----------
    followed_up : whose copy was being written when a process ended
    missing : whose copy the index had lost
    other : whose copy is not the one on record
    read_again : whose copy was read by other rules than those in force
    read_again_s : seconds in which those are read again
    widened : that may lead to what the configuration takes, and did not take before
    widened_s : seconds in which those are looked at
    """

    followed_up: int = 0
    missing: int = 0
    other: int = 0
    read_again: int = 0
    read_again_s: float = 0.0
    widened: int = 0
    widened_s: float = 0.0

    @property
    def words(self) -> list[str]:
        """Repairs, in words for people."""
        told = {
            "pages were followed up whose copy was being written": self.followed_up,
            "pages without a copy are fetched again": self.missing,
            "pages with another copy than on record are fetched again": self.other,
            "pages are read again, as other rules say now what of them is content; within "
            f"{show_duration(self.read_again_s)}": self.read_again,
            "pages are looked at for addresses that the configuration takes now, and did not take "
            f"before; within {show_duration(self.widened_s)}": self.widened,
        }
        return [f"{n:,} {words}" for words, n in told.items() if n]


def partings(frontier: Frontier, index: PageIndex) -> list[Parting]:
    """Compare page by page; pages that are being indexed are left out.

    Beside a running crawl what is found may only be under way; compare twice and keep what is
    found twice.

    Parameters
    ----------
    frontier, index : of one state; both are only read
    """
    noted = {url for _, url, _ in frontier.in_indexing()}
    stated = dict(frontier.urls_indexed())
    seen: dict[str, int] = {}
    found: dict[str, Parting] = {}
    for url, held in index.urls():
        again = seen.get(url, 0)
        seen[url] = again + 1
        expected = stated.get(url)
        if again or held != expected:
            found[url] = Parting(url, expected, held, again + 1)
    for url, expected in stated.items():
        if url not in seen:
            found[url] = Parting(url, expected, None, 0)
    noted.update(url for _, url, _ in frontier.in_indexing())
    return [parting for url, parting in found.items() if url not in noted]


def seem_one(frontier: Frontier, index: PageIndex) -> bool:
    """Tell whether state and index count alike and agree about a sample of pages."""
    return frontier.n_indexed() == index.n_documents() and all(
        index.signature(url) == expected for url, expected in frontier.sample_indexed(_SAMPLE)
    )


def make_agree(frontier: Frontier, index: PageIndex, found: list[Parting], now_s: float) -> None:
    """Have the state say what the index holds, and the pages due; none has two copies.

    Parameters
    ----------
    frontier, index : of one state
    found : what :func:`partings` returned
    now_s : when the pages are due, epoch seconds
    """
    doubled = [parting.url for parting in found if parting.copies > 1]
    for url in doubled:
        index.remove(url)
    if doubled:
        index.commit()
    for batch in _batches(found):
        copies = [(one.url, one.held if one.copies == 1 else None) for one in batch]
        frontier.agree(copies, now_s)


def recover(
    frontier: Frontier, index: PageIndex, now_s: float, *, thorough: bool = False
) -> Mended:
    """Follow up what the last process left, and mend what was lost since.

    All pages are compared if it did not end in order; else their number and a sample of them.

    Parameters
    ----------
    frontier, index : of one state, that no other process writes
    now_s : epoch seconds
    thorough : compare all pages in any case
    """
    ended_in_order = frontier.facts().end.ended_in_order
    frontier.save_facts(UNDER_WAY)
    noted = frontier.in_indexing()
    for page_id, url, _ in noted:
        frontier.reconcile(page_id, index.signature(url), now_s)
    if ended_in_order and not thorough and seem_one(frontier, index):
        return Mended(followed_up=len(noted))
    found = partings(frontier, index)
    make_agree(frontier, index, found, now_s)
    frontier.feed.mend(now_s)
    missing = sum(parting.held is None for parting in found)
    return Mended(len(noted), missing, len(found) - missing)


def _batches(found: list[Parting]) -> Iterator[list[Parting]]:
    rest = iter(found)
    while batch := list(itertools.islice(rest, _BATCH)):
        yield batch
