"""Errors that are called pages: what a host says, with status 200, of what does not exist.

A page is suspect when it is called like an error, or hardly says more than that it is one, or is
the third on its host that says the same but for its own name. Then, at most once a day for each
host, an address is asked for that cannot exist; what says the same as that is no page. One script
may have many pages, and an error of its own: of what is called like one there, it is asked for a
thing that cannot exist. The address is visited like any page, in its turn, and never indexed.
"""

import re
from collections import Counter
from functools import lru_cache
from typing import Final, NamedTuple

import xxhash

from recrawl.crawler.control.texts.letters import folded_words
from recrawl.crawler.control.urls import host_of, path_of

NO_PAGE: Final = "says what its host says of an address that does not exist"
PROBE: Final = "asked for to learn what its host says of an address that does not exist"
_DAY_S: Final = 86_400.0
_PROBE: Final = re.compile(
    r"/zq[0-9a-f]{16}(?:\.\w{1,8})?$|[?&;][^=&;]{1,100}=zq[0-9a-f]{16}(?=[&;]|$)", re.ASCII
)
_NUMBER: Final = re.compile(r"(?<==)\d[\d._-]{0,30}(?=[&;]|$)", re.ASCII)  # 7, 40.0, 3_10
_WHEN: Final = re.compile(r"(?:\d{1,4}([-/.])\d{1,2}\1\d{2,4}|\d{1,2}:\d\d(?::\d\d)?)[,.;]?")
_ENDING: Final = re.compile(r"\.\w{1,8}$", re.ASCII)
_CALLED: Final = re.compile(
    r"\b(?:404|not found|no such (?:page|file)|does(?: not|n't) exist|(?:page|file) not found)\b",
    re.IGNORECASE,
)
_SIGN_IN: Final = re.compile(
    r"/(?:(?:log|sign)[-_]?in|wp-login|sso|authenticate|adfs/ls|saml2?/\w{1,20}|openid-connect/auth"
    r"|oauth2?/(?:v\d[\d.]*/)?auth(?:orize)?)(?:\.\w{1,5})?(?:[/?]|$)",
    re.IGNORECASE,
)
_NAMES: Final = re.compile(r"[\W_]+")
_SHORT: Final = 400  # characters of a text that says hardly more
_SHORTEST: Final = 3  # characters of a name in an address
_FEW_WORDS: Final = 3  # texts of fewer say nothing
_ALIKE: Final = 3  # pages that say the same, from which on they are suspect
_MOST: Final = 20_000  # characters that count
_MOST_TEXTS: Final = 100_000
_MOST_ASKED: Final = 8  # scripts of a host in a day


class Suspicion(NamedTuple):
    """Verdict on a page."""

    is_error: bool = False
    is_suspect: bool = False  # to be read again at its next visit, whatever it says
    ask: str | None = None  # an address that cannot exist, to be visited
    has_ended: bool = False  # it says what pages of its host end with


def is_probe(url: str) -> bool:
    """Tell whether an address was made up to learn what a host says of what does not exist."""
    return _PROBE.search(url) is not None


def ends_like(url: str, probe: str) -> str:
    """Return an address that was made up, with the ending that a page's has (``.html``)."""
    ending = _ENDING.search(url.partition("?")[0].rpartition("/")[2])
    return probe if ending is None or "?" in probe else probe + ending[0]


def leads_to_sign_in(url: str, target: str) -> bool:
    """Tell whether a redirect leads from a page to where people sign in.

    Parameters
    ----------
    url, target : of the page, and where it leads, in normal form
    """
    return not _SIGN_IN.search(path_of(url)) and _SIGN_IN.search(path_of(target)) is not None


class SoftErrors:
    """Learns what hosts say of what does not exist. In memory: asked anew after a start."""

    def __init__(self) -> None:
        # Of hosts and scripts, what they say of made-up addresses.
        self._says: dict[str, set[int]] = {}
        self._alike: dict[int, tuple[str, ...]] = {}  # the first pages of a host that say the same
        self._read_again: set[str] = set()
        self._asked_s: dict[str, float] = {}
        self._n_asked: Counter[tuple[str, float]] = Counter()  # scripts, by host and day

    def observe(self, url: str, title: str, text: str, now_s: float) -> Suspicion:
        """Judge a page that answered with content.

        Parameters
        ----------
        url, title, text : of the page
        now_s : instant of the visit
        """
        host, mark = host_of(url), mark_of(url, title, text)
        script = _script_of(url)
        if is_probe(url):
            self._says.setdefault(script or host, set()).add(mark)
            return Suspicion(is_error=True)
        if not mark:
            return Suspicion()
        is_called = _CALLED.search(title if len(text) > _SHORT else f"{title}\n{text}") is not None
        # A script may show a list of all instead of a thing that is not there, and else as well.
        if mark in self._says.get(host, ()) or (is_called and mark in self._says.get(script, ())):
            self._read_again.discard(url)
            return Suspicion(is_error=True)
        if len(self._alike) > _MOST_TEXTS:
            self._alike.clear()
            self._asked_s.clear()
            self._n_asked.clear()
            self._read_again.clear()
        said = hash((host, mark))
        alike = self._alike.get(said, ())
        known = {one.partition("?")[0] for one in alike}  # a query sorts, or chooses: no suspicion
        if url.partition("?")[0] not in known and len(alike) < _ALIKE:
            alike = self._alike[said] = (*alike, url)
        if len(alike) < _ALIKE and not is_called:
            return Suspicion()
        self._read_again.update((*alike, url) if is_called else alike)
        ask = self._ask(url, script, now_s) if is_called and script else None
        return Suspicion(is_suspect=True, ask=ask or self._ask(url, "", now_s))

    def _ask(self, url: str, script: str, now_s: float) -> str | None:
        """Return what is asked for of a script, or of a host (""); None: it was of late."""
        host, day = host_of(url), now_s // _DAY_S
        asked_s = self._asked_s.get(script or host)
        if asked_s is not None and now_s - asked_s < _DAY_S:
            return None
        if script and self._n_asked[host, day] >= _MOST_ASKED:
            return None
        self._asked_s[script or host] = now_s
        name = f"zq{xxhash.xxh3_64_hexdigest(f'{host} {day}'.encode())}"
        if script:
            self._n_asked[host, day] += 1
            return _NUMBER.sub(name, url)
        return f"{url.partition('?')[0].rpartition('/')[0]}/{name}"

    def is_suspect(self, url: str) -> bool:
        """Tell whether a page is to be judged again, though it says what it said."""
        return url in self._read_again


def _script_of(url: str) -> str:
    """Return the address without its query, where that names a thing by a number; "": it does not.

    Nor where it was made up to be no such name, and names a thing alone.
    """
    base, _, query = url.partition("?")
    return base if query and (_NUMBER.search(query) or is_probe(url)) else ""


@lru_cache(1)  # asked some three times a page
def mark_of(url: str, title: str, text: str) -> int:
    """Return what texts have in common but for what their addresses name; 0: too short.

    Only this process understands it.
    """
    words = set(folded_words(f"{title}\n{text}"[:_MOST]))
    kept = [word for word in words if _WHEN.fullmatch(word) is None]
    said = " ".join(kept)
    for name in set(_NAMES.split(path_of(url).casefold())):
        if len(name) >= _SHORTEST and name in said:
            kept = [word for word in kept if name not in word]
    if len(kept) < _FEW_WORDS:
        return 0
    return hash(frozenset(kept)) or 1


def share_kept(held: tuple[str, str], said: tuple[str, str]) -> float:
    """Return which share of the words of a title and text is said by others, too; 1 of none."""
    words, now = (set(folded_words("\n".join(one)[:_MOST])) for one in (held, said))
    return len(words & now) / len(words) if words else 1.0
