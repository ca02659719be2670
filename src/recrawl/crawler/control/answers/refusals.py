"""Hosts that refuse without saying so: they answer all addresses alike.

A guard before a server shows a puzzle, or a line and a number, to who has asked too much, and tells
robots to index nothing of that; or it denies each page (403), or leads all of them to one address
for now; or while it is worked on no page is there (404), or each is the same few words or the start
page: to believe it would empty the index. That pages in a row say so proves nothing, as forms to
sign in do, too, and folders that are closed. So the one before them is asked again: where that says
the same now, the host refuses, until a page says something else. It also does where a puzzle is
shown for many that are held and said something else before.
"""

import re
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final, NamedTuple

from recrawl.crawler.control.texts.letters import folded_words
from recrawl.crawler.control.urls import host_of, path_of
from recrawl.terms import Extract, Outcome

REFUSED: Final = "all addresses are answered alike: the host refuses, without saying so"

_ELSEWHERE: Final = frozenset({Outcome.DENIED, Outcome.REDIRECTED})
_ROW: Final = 8  # pages in a row that say the same, from which on the one before is asked
_SURE: Final = 3  # as many, if they are held and said something else before
_FEW: Final = 5  # texts of a host, before which nothing in it is unusual
_WAITS_S: Final = 600.0  # for what that one says
_BELIEVED_S: Final = 3_600.0  # what was proved to be what pages say
_LAST_S: Final = 86_400.0  # the same where pages come and go, and say so when they have gone
_LONGEST_S: Final = 2 * 86_400.0  # after which it is what the host says
_LONGEST: Final = 2_000  # characters of what is shown instead of a page
_MOST_LINKS: Final = 4  # the same
_MOST_PAGES: Final = 300  # of a row, that are asked for when it is over
_MOST_HOSTS: Final = 1_000
_NAMES: Final = re.compile(r"[\W_]+")


class _Kind(Enum):
    """Answers that a row may have instead of pages."""

    PUZZLE = auto()
    SAME = auto()  # what could be a page
    AWAY = auto()  # denied, or led elsewhere
    GONE = auto()


class Verdict(NamedTuple):
    """Answer, as far as it tells something of its host.

    Parameters
    ----------
    is_doubted : it may say nothing of the page
    refuses : it says nothing of the page, as the host refuses
    is_news : which it did not with the answer before
    ask : pages that are to be visited now
    """

    is_doubted: bool = False
    refuses: bool = False
    is_news: bool = False
    ask: tuple[str, ...] = ()


@dataclass(slots=True)
class _Host:
    """The latest answers of a host."""

    said: int = 0
    kind: _Kind | None = None
    row: dict[str, int] = field(default_factory=dict)  # pages that say so; what they said before
    since_s: float = 0.0
    refuses: bool = False
    witness: str = ""  # the page before them
    asked_s: float = float("-inf")  # when it was asked again
    asked: tuple[str, int] = ("", 0)  # the page that was, and because of which text
    doubted: dict[str, None] = field(default_factory=dict)  # pages since then
    others: set[int] = field(default_factory=set)  # some texts of before
    believed: int = 0
    believed_s: float = float("-inf")


class Refusals:
    """Learns which hosts refuse without saying so. In memory; bounded; O(text) a page.

    Parameters
    ----------
    may_ask : whether pages can be asked for again; else nothing is doubted for what they may say
    """

    def __init__(self, *, may_ask: bool = True) -> None:
        self._hosts: dict[str, _Host] = {}
        self._may_ask = may_ask

    def observe(
        self, url: str, extract: Extract, now_s: float, *, before: bytes | None = None
    ) -> Verdict:
        """Judge an answer with content.

        Parameters
        ----------
        url, extract : of the page
        now_s : instant of the visit
        before : signature of its copy; None where none is held
        """
        host = self._host(url)
        if host.row and host.said == _away(url):  # it is where all are led, not what they say
            return Verdict()
        is_other = before is not None and before != extract.signature
        held = hash(before) if is_other else 0
        if _may_be_puzzle(extract):
            return self._judge(host, url, _puzzle(url, extract), now_s, _Kind.PUZZLE, held)
        said = hash(("same", extract.signature))
        if is_other or (before is None and host.row and host.said == said):
            return self._judge(host, url, said, now_s, _Kind.SAME, held)
        if before is not None:
            return self.passed(url, now_s)
        return self._begin(host, url, hash((url, extract.text)), now_s, None, 0)

    def turned_away(
        self, url: str, outcome: Outcome, how: str, now_s: float, *, is_held: bool, goes: bool
    ) -> Verdict:
        """Judge an answer without content: a page is denied, is not there, or leads elsewhere.

        Only pages that are held begin a row, as others may never have been given.

        Parameters
        ----------
        url : of the page
        outcome : what it comes to
        how : where it leads, in normal form; or the status, or what is there
        now_s : instant of the visit
        is_held : a copy of the page is held
        goes : which it does no longer if this answer counts
        """
        host, said = self._host(url), _away(how)
        is_row = bool(host.row) and host.said == said
        kind = _Kind.AWAY if outcome in _ELSEWHERE else _Kind.GONE
        if not is_held and not (is_row and (kind is _Kind.AWAY or host.refuses)):
            return Verdict()
        return self._judge(host, url, said, now_s, kind, hash(url) * is_held, goes=goes)

    def passed(self, url: str, now_s: float) -> Verdict:
        """Judge an answer by which a page that is held says what it said."""
        host = self._host(url)
        if host.kind is _Kind.SAME and url in host.row and url not in host.doubted:
            return Verdict()  # its copy is of this row
        return self._begin(host, url, hash(url), now_s, None, 0)

    def _judge(
        self,
        host: _Host,
        url: str,
        said: int,
        now_s: float,
        kind: _Kind,
        held: int,
        *,
        goes: bool = True,
    ) -> Verdict:
        """Judge what is said by a page that said something else before (``held``), or nothing."""
        if said != host.said or not host.row:
            return self._begin(host, url, said, now_s, kind, held)
        host.row[url] = host.row.get(url) or held
        if len(host.row) > _MOST_PAGES:
            del host.row[next(iter(host.row))]
        believed_s = _LAST_S if kind in (_Kind.GONE, _Kind.SAME) else _BELIEVED_S
        is_believed = said == host.believed and 0.0 <= now_s - host.believed_s < believed_s
        n, n_held = len(host.row), len(set(host.row.values()) - {0})
        are_few = len(host.others) + n_held < _FEW
        if are_few or is_believed or not 0.0 <= now_s - host.since_s < _LONGEST_S:
            return Verdict()
        if kind is _Kind.SAME:  # pages of one text are edited together
            n = n_held
        witness = host.witness or f"{host_of(url)}/"  # before all others, its start page
        is_sure = n >= _SURE and witness in host.row
        is_proof = kind is _Kind.PUZZLE or (kind is _Kind.SAME and not host.witness)
        are_many = is_proof and n_held >= _ROW
        is_news = not host.refuses and (is_sure or are_many)
        if is_news:
            host.refuses, host.asked = True, ("", 0)
        is_asked = 0.0 <= now_s - host.asked_s < _WAITS_S
        is_quick = bool(held) and (goes or kind is not _Kind.GONE)
        is_long = self._may_ask and n >= (_SURE if is_quick else _ROW)
        if not (host.refuses or is_asked or is_long):
            return Verdict()
        if len(host.doubted) < _MOST_PAGES:
            host.doubted[url] = None
        if host.refuses or is_asked:
            return Verdict(is_doubted=True, refuses=host.refuses, is_news=is_news)
        host.asked_s, host.asked = now_s, (witness, said)
        return Verdict(is_doubted=True, ask=(witness,))

    def _host(self, url: str) -> _Host:
        name = host_of(url)
        held = self._hosts.pop(name, None)
        host = self._hosts[name] = _Host() if held is None else held
        if len(self._hosts) > _MOST_HOSTS:
            del self._hosts[next(iter(self._hosts))]
        return host

    def _begin(
        self, host: _Host, url: str, said: int, now_s: float, kind: _Kind | None, held: int
    ) -> Verdict:
        """Begin a row; what was doubted of the last one is asked for again, or all if refused."""
        before, refused = tuple(host.row), host.refuses
        ask = before if refused else tuple(host.doubted)
        if url == host.asked[0] and said != host.asked[1] and not refused:
            host.believed, host.believed_s = host.asked[1], now_s
        if before and not refused:
            host.witness = before[-1]
            if len(host.others) < _FEW:
                host.others.add(host.said)
        host.said, host.kind, host.row = said, kind, {url: held}
        host.since_s, host.refuses = now_s, False
        host.asked_s, host.doubted = float("-inf"), {}
        return Verdict(ask=ask)


def _away(how: str) -> int:
    return hash(("away", how))


def _may_be_puzzle(extract: Extract) -> bool:
    """Tell what may be shown instead of a page: short, leading nowhere, not to be indexed."""
    is_short = len(extract.text) <= _LONGEST and len(extract.links) <= _MOST_LINKS
    return extract.noindex and is_short


def _puzzle(url: str, extract: Extract) -> int:
    """Return what texts have in common but for numbers, and for what their addresses name."""
    named = set(_NAMES.split(path_of(url).casefold()))
    words = folded_words(f"{extract.title}\n{extract.text}")
    return hash(tuple(one for one in words if one not in named and not any(map(str.isdigit, one))))
