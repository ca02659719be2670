"""Fingerprints of texts that say the same in another order, or nearly the same."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import Final, NamedTuple
from unicodedata import combining, normalize
from urllib.parse import parse_qsl, unquote

import xxhash

from recrawl.crawler.control.addresses.calendars import beside_dates, calendar_of, uncounted
from recrawl.crawler.control.addresses.doubts import face_of
from recrawl.crawler.control.addresses.lists import place_in_list
from recrawl.crawler.control.texts.letters import folded, folded_words
from recrawl.crawler.control.urls import path_of

_DIGIT: Final = re.compile(r"\d")
_NUMBERED: Final = re.compile(r"[\d?]")  # what may be one of many things
_FEW_WORDS: Final = 10  # texts of fewer are alike by chance
_NAMES: Final = re.compile(r"[^\w]+|_")
_MOST_NAMES: Final = 6  # words of an address: the last say most
_SHORT: Final = 3  # characters of a name: shorter ones are looked for as whole words
_SIGNS: Final = ".,:;!?()[]'\""
_MOST: Final = 50_000  # characters that count
_VARIED: Final = 0.25  # of the words differ: below, their order is what a text says
_LIST: Final = 0.7  # of the words of a list are in links
_SORTED: Final = 0.5  # and of the different ones of a list that is known in another order
_UNIT: Final = "(?:second|sec|minute|min|hour|hr|day|week|month|year)s?"
_AGE: Final = re.compile(
    r"\b(?:(?:about|almost|around|over|nearly|less than|more than) )?"
    rf"(?:\d{{1,4}} {_UNIT},?(?: and)? ){{0,3}}(?:\d{{1,4}}|half an?|an?|one) {_UNIT} ago\b"
)
_AGO: Final = (" ago", " Ago", " AGO")
_TITLE_PARTS: Final = re.compile(r"\s+[-\u2013\u2014|\u00b7\u00bb:/]+\s+|\s*[|\u00bb]\s*")
_FIRST_LINES: Final = 4
_LINE: Final = 300  # characters of one
_NO_NAME: Final = frozenset({"index"})
_NO_WORDS: Final = frozenset[str]()
_VALUES: Final = 8  # of a query, that are looked at
_SHARED: Final = 5 / 6
_NEAR: Final = 12  # bits of 64 in which texts differ that share five words of six
_BITS: Final = 2048  # that words of a page fall on
_NEAR_PLACE: Final = 10
_AKIN: Final = 20  # the same of two words of three; of texts by chance, one pair in a thousand


class Gist(NamedTuple):
    """Fingerprints of what a page says.

    Parameters
    ----------
    same : a 64-bit number that copies have in common, whatever the order of their words; only this
        process understands it
    nameless : the same of its words but those that stand in its address
    near : one of which texts that share most words have most bits in common (SimHash, Charikar
        2002); 0: the text is too short to tell
    called : of what the page is called by its title or one of its first lines, where that is what
        the last part of its address says, or a value of its query; 0: by nothing, or it is of a
        date
    heading : of the words above it that have three letters and no digit; 0: there are none, or it
        is of a date
    worded : of its words that are letters alone, but for those that stand in its address
    beside, named : of what may be a thing or a view of one, a bit for each of its words but those
        of its address, and the bits of those that stand in its title or heading; 0: it is neither
    figures : of what it says that has a digit, where it is of a date
    unplaced : of its words but numbers near the one of its place in a list; 0: it has none
    """

    same: int
    nameless: int
    near: int = 0
    called: int = 0
    heading: int = 0
    worded: int = 0
    beside: int = 0
    named: int = 0
    figures: int = 0
    unplaced: int = 0


def gist(text: str, url: str, heading: str = "") -> Gist:
    """Return what a page says, with and without its own name.

    A page that says its own name and else what another says ("no changes of NAME", "log in to edit
    NAME") is a copy, unless few other words remain: of days and months, whose names are all that
    they need say, and of what is shown beside a thing ("no opinions of NAME yet"), those few are
    enough. O(n log n) in the words.

    Parameters
    ----------
    text : title and content, of which the first 50 000 characters count
    url : of the page; its words are the name
    heading : its first; "": none
    """
    words: Sequence[str] = _words(text)
    is_date = calendar_of(url) is not None
    if is_date:
        words = uncounted(words)
    counts = Counter(words)
    bare = _bare(counts)
    others = _nameless(bare, url)
    if is_date:
        others = beside_dates(others, url)
    face, besides, unplaced = face_of(url), (0, 0, 0), _unplaced(bare, url)
    told = [bare[word] for word in others]
    if _NUMBERED.search(path_of(url)):
        first = text.partition("\n")[0]
        named = _bare(_words(f"{first} {heading}"))
        figures = hash(frozenset(filter(_DIGIT.search, others))) if is_date else 0
        besides = (_bits(beside_dates(told, url)), _bits([*named.values()]), figures)
    if len(counts) < _VARIED * len(words):  # few words, again and again: their order counts
        mark = hash(tuple(words))
        return Gist(mark, mark, 0, 0, 0, 0, *besides, unplaced)
    called = 0 if is_date else _called(text, url)
    above_it = 0 if is_date else _heading_mark(heading)
    same = hash(frozenset(counts.items()))
    worded = hash(frozenset(filter(str.isalpha, told)))
    if len(others) < _FEW_WORDS and not is_date and face is None:
        near = _near(list(counts)) if len(counts) >= _FEW_WORDS else 0
        return Gist(same, same, near, called, above_it, worded, *besides, unplaced)
    near = _near(others) if len(others) >= _FEW_WORDS else 0
    if len(others) == len(counts):  # its address names nothing that it says
        return Gist(same, same, near, called, above_it, worded, *besides, unplaced)
    nameless = hash(frozenset((word, counts[word]) for word in others))
    return Gist(same, nameless, near, called, above_it, worded, *besides, unplaced)


def _unplaced(bare: Mapping[str, str], url: str) -> int:
    """Return a mark of words but numbers near the place in a list that an address tells, if any."""
    place = place_in_list(url)
    if place is None:
        return 0
    near = {str(number) for number in range(place[1] - _NEAR_PLACE, place[1] + _NEAR_PLACE + 1)}
    return hash(frozenset(bare) - {word for word, name in bare.items() if name in near})


def _bits(words: Sequence[str]) -> int:
    """Return a bit for each of the words, of so many that hardly two of them have the same."""
    import numpy as np

    is_set = np.zeros(_BITS, np.bool_)
    # Not hash(), which is another in every process: who says more does not depend on luck.
    marks = (xxhash.xxh3_64_intdigest(word.encode("utf-8", "replace")) for word in words)
    is_set[np.fromiter(marks, np.uint64, len(words)) % _BITS] = True
    return int.from_bytes(np.packbits(is_set).tobytes())


def content_hash(title: str, text: str) -> int:
    """Return what copies have in common for good, 0 for a text that is too short to tell.

    Pages of other titles are no copies, though the rest of them is alike.

    A listing says the same however it is sorted; a table of ones and zeros does not: where fewer
    than a quarter of the words differ, their order counts.

    Parameters
    ----------
    title : all of it counts, but for upper and lower case
    text : its first 50 000 characters count
    """
    words: Sequence[str] = _words(text)
    if len(words) < _FEW_WORDS:
        return 0
    counts = Counter(words)
    if len(counts) >= _VARIED * len(words):
        words = list(chain.from_iterable(repeat(word, counts[word]) for word in sorted(counts)))
    said = f"{title.casefold()}\n{' '.join(words)}"
    return xxhash.xxh3_64_intdigest(said.encode("utf-8", "replace"))


def _words(text: str) -> Sequence[str]:
    """Return the words but how long ago something was: a copy that was fetched later says more."""
    text = text[:_MOST]
    if any(ago in text for ago in _AGO):
        return _AGE.sub(" ", folded(text)).split()
    return folded_words(text)


def _bare(words: Iterable[str]) -> dict[str, str]:
    """Return what is left of each word without the signs around it."""
    return {word: word.strip(_SIGNS) for word in words}


def is_list(text: str, anchors: Iterable[str], *, is_sorted: bool = False) -> bool:
    """Tell whether a page says next to nothing but what its links say.

    Of a list in another order than the one that is known half of its words are enough, each counted
    once: columns of a table say few words again and again.

    Parameters
    ----------
    text : its first 50 000 characters count
    anchors : texts of the links
    is_sorted : whether the same list is known in another order
    """
    linked = set(folded(" ".join(anchors)).split())
    words: Collection[str] = folded_words(text[:_MOST])
    words = set(words) if is_sorted else words
    n_linked = sum(map(linked.__contains__, words))
    return n_linked >= (_SORTED if is_sorted else _LIST) * len(words)


def names_links_only(headings: Collection[str], anchors: Iterable[str]) -> bool:
    """Tell whether all headings of a page, of which it has several, are the texts of links.

    As those of things that a shop lists, with their prices.
    """
    linked = {" ".join(folded(anchor).split()) for anchor in anchors}
    named = {" ".join(folded(heading).split()) for heading in headings}
    return len(named) > 1 and named <= linked


def is_near(one: int, other: int) -> bool:
    """Tell whether two texts nearly say the same.

    Parameters
    ----------
    one, other : :attr:`Gist.near` of each; 0 is near nothing
    """
    return 0 not in (one, other) and (one ^ other).bit_count() <= _NEAR


def is_beside_as(one: Gist, other: Gist) -> bool:
    """Tell whether what is shown of two things is the same but for words of their titles.

    Parameters
    ----------
    one, other : of which at least one is shown of a thing
    """
    named = one.named | other.named
    return one.beside & ~named == other.beside & ~named


def is_akin(one: int, other: int) -> bool:
    """Tell whether two texts say the same but for marks, where their addresses say so too.

    Parameters
    ----------
    one, other : :attr:`Gist.near` of each; 0 is akin to nothing
    """
    return 0 not in (one, other) and (one ^ other).bit_count() <= _AKIN


def nearly_same(one: str, other: str, url: str) -> bool:
    """Tell whether two texts share five words of six, but those that stand in an address.

    For two texts that are at hand; many are compared by :attr:`Gist.near`.

    Parameters
    ----------
    one, other : their first 50 000 characters count
    url : the address
    """
    some, more = (set(_nameless(_bare(_words(text)), url)) for text in (one, other))
    return len(some & more) >= max(_SHARED * len(some | more), _FEW_WORDS)


def _nameless(bare: Mapping[str, str], url: str) -> list[str]:
    """Return the words but those that stand in an address.

    Parameters
    ----------
    bare : of each word, what is left without the signs around it
    """
    names = _NAMES.split(url.casefold())
    short = {name for name in names if 0 < len(name) < _SHORT}
    short |= {name.lstrip("0") for name in short if name.strip("0").isdecimal()}  # 5 and 05
    long = dict.fromkeys(name for name in names if len(name) >= _SHORT)
    others = [word for word, name in bare.items() if name not in short] if short else list(bare)
    said = " ".join(others)
    for name in list(long)[-_MOST_NAMES:]:
        if name in said:
            others = [word for word in others if name not in word]
    return others


def names_told(url: str) -> list[int]:
    """Return the marks that :attr:`Gist.called` has of a page called by all words of its address.

    Parameters
    ----------
    url : one for each of the places where it may tell a name
    """
    return [hash(names) for names in _names_of(url) if names]


def _names_of(url: str) -> list[frozenset[str]]:
    path, _, query = path_of(url).partition("?")
    parts = reversed(unquote(path).split("/"))
    named = (_long_words(part.rpartition(".")[0] or part) - _NO_NAME for part in parts)
    last = next(filter(None, named), _NO_WORDS)  # numbers may stand behind it
    return [*(_long_words(value) for _, value in parse_qsl(query)[:_VALUES]), last]


def _called(text: str, url: str) -> int:
    """Return a mark of what a page is called in words of its address; 0: it is not.

    Those of a value of its query, or of the last part of its path that has any. Of parts of the
    title and lines at the beginning the one counts that has most of these words and no other, but
    for short ones; half of them at least.
    """
    title, *lines = text[: _FIRST_LINES * _LINE].split("\n")[:_FIRST_LINES]
    said = [_long_words(line) for line in (*_TITLE_PARTS.split(title), *lines)]
    for names in _names_of(url):
        called = max((words for words in said if words <= names), key=len, default=_NO_WORDS)
        if called and 2 * len(called) >= len(names):
            return hash(called)
    return 0


def _heading_mark(heading: str) -> int:
    """Return a mark of the words of a heading that are no numbers, versions, hashes or dates."""
    words = [word for word in _long_words(heading) if word.isalpha()]
    return hash(frozenset(words)) if words else 0


def _long_words(text: str) -> frozenset[str]:
    """Return the words of a line that have three letters and are no numbers, without accents."""
    if not text.isascii():
        text = "".join(sign for sign in normalize("NFKD", text) if not combining(sign))
    words = _NAMES.split(folded(text))
    return frozenset(word for word in words if len(word) >= _SHORT and not word.isdecimal())


def _near(words: list[str]) -> int:
    import numpy as np  # which takes longer to import than a search takes

    # Not hash(), which is another in every process: what is nearly alike does not depend on luck.
    encoded = " ".join(words).encode("utf-8", "replace").split(b" ")
    marks = b"".join(map(xxhash.xxh3_64_digest, encoded))
    bits = np.unpackbits(np.frombuffer(marks, np.uint8).reshape(-1, 8), axis=1)
    return int.from_bytes(np.packbits(2 * bits.sum(axis=0, dtype=np.int64) > len(bits)).tobytes())
