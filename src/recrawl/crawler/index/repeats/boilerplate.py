"""Boilerplate, which a host repeats on many pages: learned by counting, and left out.

A line of a page's text is a block: a paragraph, a cell, a link of a list. One that recurs on a
quarter of the pages looked at lately is *repeated*. Repeated lines are left out where two of them
stand together or one begins or ends a page, and with them a short line among them ("Prev", "Up",
"Chapter 25", "Next"); a heading in the middle that many pages have in common stays, and so does a
sentence. What no other page says is found all the same, also where it is left out. A line that says
the address of its page, to be cited by, recurs as the same one. Pages in a folder that is called as
a language are a host of their own besides: of five languages none has a quarter of all pages.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import reduce
from itertools import accumulate
from math import ceil
from typing import Final
from urllib.parse import unquote

import numpy as np
import xxhash

from recrawl.crawler.index.repeats.drawn import as_it_is
from recrawl.crawler.index.repeats.host_lines import HASH, Hashes, HostLines
from recrawl.crawler.index.repeats.menus import MenuEntries, beside
from recrawl.crawler.index.repeats.notes import HostNotes, Shelf

_FEWEST: Final = 8  # pages of a host, before which nothing is known of it
_EARLY: Final = 16  # pages that are looked at again when it is
_WINDOW: Final = 256  # pages; then all counts are halved
_SHARE: Final = 0.25
_MOST_HOSTS: Final = 1_000  # that are at hand
_MOST_LINES: Final = 5_000  # that are counted of one host
_LINES_OF_PAGE: Final = 2_000
_SHORT: Final = 100  # characters of a line that goes with its neighbours
_STOPS: Final = frozenset(".!?")
_WIDE_STOPS: Final = frozenset("\u3002\uff01\uff1f")  # where no spaces part words
_LEAST_WORDS: Final = 4  # of a sentence
_TOGETHER: Final = 4  # repeated lines, from which on they are left out in the middle too
_MARGIN: Final = 6  # lines of a page's ends
_MARK: Final = "\f"  # before a line that begins a title, where such are counted; no line holds one
_WRITTEN_EVERY: Final = 64  # pages of a host
_LANGUAGES: Final = """ar bg bn bs ca cs cy da de el en es et eu fa fi fr ga gl he hi hr hu hy id is
    it ja ka kk km ko lt lv mk ms nb nl nn no pa pl pt ro ru sk sl sq sr sv sw ta te th tl tr uk ur
    uz vi zh""".split()
_IN_LANGUAGE: Final = re.compile(  # such as /ja/ or /docs/pt-BR/
    rf"[^/]*//[^/]+/(?:[^/?]+/)?((?:{'|'.join(_LANGUAGES)})(?:[-_][a-z]{{2,4}})?)/", re.IGNORECASE
)


@dataclass(slots=True)
class Boilerplate:
    """Counts lines by host; bounded, whatever hosts and pages there are.

    Parameters
    ----------
    shelf : where it is kept between two processes; None: nowhere
    mark : makes of lines what is the same where they say the same
    """

    shelf: Shelf[HostLines] | None = None
    mark: Callable[[str], bytes] = as_it_is
    notes: HostNotes[HostLines] = field(init=False)
    _menus: MenuEntries = field(default_factory=MenuEntries)
    _last: tuple[str, list[str], Hashes] = field(
        default_factory=lambda: ("", [], np.zeros(0, HASH))
    )

    def __post_init__(self) -> None:
        self.notes = HostNotes(self.shelf, most=_MOST_HOSTS, every=_WRITTEN_EVERY)

    def learn(self, url: str, lines: list[str], title: str = "") -> None:
        """Count the lines of a page, once as long as the page is remembered.

        The one that its title begins with is counted as such, too.
        """
        page = np.array([_hash(url)], HASH)
        for name, host in self._hosts(url):
            if (np.frombuffer(host.counted, HASH) == page).any():
                continue
            host.counted += page.tobytes()
            host.pages += 1
            if host.early is not None and len(host.early) < _EARLY:
                host.early.append(url)
            marks = self._hashes(url, lines)[:_LINES_OF_PAGE]
            opening = _opening(title, lines)
            if opening:
                marks = np.append(marks, np.array([_hash(_MARK + opening)], HASH))
            host.add(marks)
            if len(host.counted) >= _WINDOW * page.itemsize:
                host.halve()
            host.keep(_MOST_LINES)  # the rarest are forgotten, the pages are not
            self.notes.put(name, host)

    def count(self, url: str, lines: list[str]) -> None:
        """Count lines of a page that is counted already."""
        for name, host in self._hosts(url):
            host.add(self._hashes(url, lines)[:_LINES_OF_PAGE])
            self.notes.put(name, host)

    def left_out(self, url: str, lines: list[str], title: str = "") -> set[int]:
        """Return the rows of lines that are left out of a page; none where all recur.

        A line that the title begins with stays, whatever it stands between and whoever links to it
        by that name, unless the titles of many pages begin so: then it is the name of the site.
        """
        out = _left_out(lines, self._repeated(url, lines))
        opening = _opening(title, lines) if out else ""
        if opening and not self._repeated(url, [_MARK + opening]):
            out.discard(lines.index(opening))
        return out if len(out) < len(lines) else set()

    def own(self, url: str, left_out: str) -> str:
        """Return the lines left out that no other page of the host says: who wrote it, say.

        They are no text of the page, but people look for them.
        """
        lines = left_out.split("\n")
        (_, host), *_ = self._hosts(url)
        counts = host.of(self._hashes(url, lines))
        return "\n".join([lines[row] for row in np.flatnonzero(counts <= 1)])

    def same(
        self,
        url: str,
        held: tuple[str, str],
        text: str,
        links: Iterable[tuple[str, str]] = (),
        whole: list[str] | None = None,
    ) -> bool:
        """Tell whether a text says the same as what is held: main content, and what was left out.

        Lines that the host repeats may come and go. As many lines that are new may have come as
        repeated ones went, beside what is a page's own in their places (as far as ``whole``, all
        that is held, is known in its order): a footer that says something else now is a footer.
        What is new between lines of the page's own, of which a paragraph follows, is none. Nor is
        what replaces a line of the page's own where hardly more than its title is text: of a sheet
        of facts, between words that many pages have ("Room", "Phone"), all was left out. A link
        beside repeated lines that has come to some other pages, too, is an entry of their menu: it
        is repeated. A line with the address of its page was repeated where it was left out.
        """
        lines = text.split("\n")
        before, after = Counter(f"{held[0]}\n{held[1]}".split("\n")), Counter(lines)
        gone, come = before - after, after - before
        out = set(held[1].split("\n"))
        # An empty line says nothing: it is no line that went.
        del gone[""], come[""]
        if gone and come:
            gone, come = self._other(gone, come), self._other(come, gone)
        lost = {line for line in gone if line in out or self._is_of_host(url, line)}
        new = [line for line in come if not self._repeated(url, [line])]
        entries = self._entries_among(url, lines, set(new), out, links) if new else set()
        new = [line for line in new if line not in entries]
        is_same = lost.issuperset(gone) and len(new) <= len(lost)
        if held[1] and len(held[0]) <= _SHORT and "\n" not in held[0]:
            is_same &= not come or all(self._repeated(url, [line]) for line in lost)
        if is_same and new:
            text_of_page = set(held[0].split("\n"))
            is_same = not self._is_within(url, lines, text_of_page, set(new))
            if is_same and whole is not None:
                own = text_of_page - {lines[row] for row in self._repeated(url, lines)}
                is_same = _take_places(lines, set(new), whole, lost, own)
            self.count(url, new)
        return is_same

    def _is_of_host(self, url: str, line: str) -> bool:
        """Tell whether a line recurs that says no address of its page: that may be a text's own."""
        return bool(self._repeated(url, [line])) and not any(one in line for one in _names(url))

    def _entries_among(
        self,
        url: str,
        lines: list[str],
        new: set[str],
        out: set[str],
        links: Iterable[tuple[str, str]],
    ) -> set[str]:
        """Return new lines that are entries of the host's menu, and count them as repeated."""
        repeated = {lines[row] for row in self._repeated(url, lines)} | out
        entries = self._menus.among(_name(url), url, beside(lines, new, repeated), links)
        for name, host in self._hosts(url) if entries else ():
            host.raise_to(self._hashes(url, sorted(entries)), ceil(2 * _SHARE * host.pages))
            self.notes.put(name, host)
        return entries

    def _other(self, lines: Counter[str], others: Counter[str]) -> Counter[str]:
        """Return the lines that say something else than others: of an age another one may come."""
        left = Counter(map(self.mark, others.elements()))
        kept: Counter[str] = Counter()
        for line in lines.elements():
            mark = self.mark(line)
            kept[line] += left[mark] <= 0
            left[mark] -= 1
        return +kept

    def _is_within(self, url: str, lines: list[str], text: set[str], new: set[str]) -> bool:
        """Tell whether a new line stands behind what is a page's own, and before a paragraph."""
        repeated = self._repeated(url, lines)
        own = [row for row, line in enumerate(lines) if line in text and row not in repeated]
        last = next((row for row in reversed(own) if len(lines[row]) > _SHORT), 0)
        return any(lines[row] in new for row in range(own[0] if own else last, last))

    def passing(self, url: str, held: tuple[str, str], text: str) -> frozenset[str]:
        """Return the lines of what is held and of a text that may come and go."""
        lines = [*held[0].split("\n"), *text.split("\n")]
        repeated = {lines[row] for row in self._repeated(url, lines)}
        return frozenset(repeated.union(held[1].split("\n")))

    def is_early(self, url: str) -> bool:
        """Tell whether a page is one that will be looked at again."""
        return any(url in (host.early or ()) for _, host in self._hosts(url))

    def early(self) -> list[str]:
        """Return pages that were indexed before their hosts were known; each of them once."""
        found: list[str] = []
        for name, host in self.notes.at_hand():
            if host.early is not None and len(host.early) >= _EARLY:
                found += host.early
                host.early = None
                self.notes.put(name, host)
        return found

    def _hosts(self, url: str) -> list[tuple[str, HostLines]]:
        """Return what is known of a page's host, and of its language there, with their names."""
        found, name = _IN_LANGUAGE.match(url), _name(url)
        names = [name] if found is None else [name, f"{name}/{found[1].lower()}"]
        return [(name, self.notes.of(name) or HostLines()) for name in names]

    def _repeated(self, url: str, lines: list[str]) -> set[int]:
        """Return the rows of lines that recur."""
        rows: set[int] = set()
        for _, host in self._hosts(url):
            if host.pages >= _FEWEST:
                counts = host.of(self._hashes(url, lines))
                rows.update(np.flatnonzero(counts >= _SHARE * host.pages).tolist())
        return rows

    def _hashes(self, url: str, lines: list[str]) -> Hashes:
        """Return a number for each line, whatever page it is of; one is asked about twice in a row.

        Where lines say their page's own address, as links to what they stand on, they are the same.
        """
        if self._last[:2] != (url, lines):
            text = "\n".join(lines)
            names = [name for name in _names(url) if name in text]
            said = [reduce(_without, names, line) for line in lines] if names else lines
            self._last = url, lines, np.array([_hash(line) for line in said], HASH)
        return self._last[2]


def _take_places(
    lines: list[str], new: set[str], held: list[str], lost: set[str], own: set[str]
) -> bool:
    """Tell whether beside lines of a page's own no more are new than were lost there. O(lines).

    Places are told by the lines that stayed and stand once in both texts.
    """
    once = {line for line, n in Counter(lines).items() if n == 1}
    places = {line: row for row, line in enumerate(held) if line in once}
    once = {line for line, n in Counter(held).items() if n == 1 and line in places}
    n_lost = [0, *accumulate(line in lost for line in held)]  # before each row
    before, is_beside, n_new = -1, False, 0
    for line in (*lines, None):
        if line is not None and line not in once:
            n_new += line in new
            continue
        place = len(held) if line is None else places[line]
        is_beside |= line in own
        if is_beside and before < place and n_new > n_lost[place] - n_lost[before + 1]:
            return False
        before, is_beside, n_new = place, line in own, 0
    return True


def _left_out(lines: list[str], repeated: set[int]) -> set[int]:
    """Return rows of repeated lines that stand together or at an end, with short ones between."""
    n = len(lines)
    out: set[int] = set()
    first = 0
    while first < n:
        end = first
        while end in repeated:
            end += 1
        at_end = first < _MARGIN or end > n - _MARGIN
        if end - first >= (2 if at_end else _TOGETHER) or (
            end > first and (first == 0 or end == n)
        ):
            out.update(range(first, end))
        first = end + 1
    before = -1
    while before < len(out):
        before = len(out)
        for row in sorted(out):
            out.update(_beside(lines, repeated, out, row))
    return out


def _beside(lines: list[str], repeated: set[int], out: set[int], row: int) -> set[int]:
    """Return a short line beside one that is left out, where what follows it is left out too."""
    found: set[int] = set()
    rows = range(len(lines))
    for step in (1, -1):
        gap, beyond = row + step, row + 2 * step
        if gap in out or gap not in rows or len(lines[gap]) > _SHORT:
            continue
        if gap not in repeated and _is_sentence(lines[gap]):
            continue
        at_end = not _MARGIN <= beyond < len(lines) - _MARGIN
        if beyond in out or (at_end and (beyond in repeated or beyond not in rows)):
            found |= {place for place in (gap, beyond) if place in rows}
    return found


def _is_sentence(line: str) -> bool:
    """Tell whether a short line is what somebody wrote: words, and no number that may be a date."""
    is_ended = line[-1:] in _STOPS and line.count(" ") + 1 >= _LEAST_WORDS
    return (is_ended or line[-1:] in _WIDE_STOPS) and not any(map(str.isdigit, line))


def _opening(title: str, lines: list[str]) -> str:
    """Return the longest line that a title begins with; "" where there is none."""
    return max((line for line in lines if title.startswith(line)), key=len, default="")


def _name(url: str) -> str:
    return url.split("/", 3)[2]


def _names(url: str) -> set[str]:
    """Return what a page may call itself, which is more than its host."""
    own = url.partition("://")[2]
    return {own, unquote(own)} if own.partition("/")[2] else set()


def _without(line: str, name: str) -> str:
    return line.replace(name, _MARK) if name in line else line


def _hash(text: str) -> int:
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "replace"))
