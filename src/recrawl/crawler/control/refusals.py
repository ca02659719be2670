"""Hosts that refuse without saying so: they answer all addresses alike.

A guard before a server shows a puzzle, or a line and a number, to who has asked too much, and tells
robots to index nothing of that; or it denies each page (403), or leads all of them to one address
for now: to believe it would empty the index. That pages in a row say so proves nothing, as forms to
sign in do, too, and folders that are closed. So the one before them is asked again: where that says
the same now, the host refuses, until a page says something else. It also does where many that are
held said something else before.
"""

import re
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from recrawl.crawler.control.letters import folded
from recrawl.crawler.control.urls import host_of, path_of
from recrawl.terms import Extract

__all__ = ["REFUSED", "Refusals", "Verdict"]

REFUSED: Final = "all addresses are answered alike: the host refuses, without saying so"

_ROW: Final = 8  # pages in a row that say the same, from which on the one before is asked
_SURE: Final = 3  # as many, if they are held and said something else before
_FEW: Final = 5  # texts of a host, before which nothing in it is unusual
_WAITS_S: Final = 600.0  # for what that one says
_BELIEVED_S: Final = 3_600.0  # what was proved to be what pages say
_LONGEST_S: Final = 2 * 86_400.0  # after which it is what the host says
_LONGEST: Final = 2_000  # characters of what is shown instead of a page
_MOST_LINKS: Final = 4  # the same
_MOST_PAGES: Final = 300  # of a row, that are asked for when it is over
_MOST_HOSTS: Final = 1_000
_NAMES: Final = re.compile(r"[\W_]+")


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
    row: dict[str, bool] = field(default_factory=dict)  # pages that say so in a row: held before?
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

    def observe(self, url: str, extract: Extract, now_s: float, *, is_other: bool) -> Verdict:
        """Judge an answer with content.

        Parameters
        ----------
        url, extract : of the page
        now_s : instant of the visit
        is_other : the page is held, and said something else before
        """
        host = self._host(url)
        if host.row and host.said == _away(url):  # it is where all are led, not what they say
            return Verdict()
        return self._judge(host, url, _said(url, extract), now_s, is_other=is_other)

    def turned_away(self, url: str, how: str, now_s: float, *, is_held: bool) -> Verdict:
        """Judge an answer without content, which denies a page or leads elsewhere for now.

        Only pages that are held begin a row, as others may never have been given.

        Parameters
        ----------
        url : of the page
        how : where it leads, in normal form; or the status that denies it
        now_s : instant of the visit
        is_held : a copy of the page is held
        """
        host, said = self._host(url), _away(how)
        if not is_held and not (host.row and host.said == said):
            return Verdict()
        return self._judge(host, url, said, now_s, is_other=is_held, may_be_some=True)

    def passed(self, url: str, now_s: float) -> Verdict:
        """Judge an answer by which a page that is held says what it said."""
        return self._begin(self._host(url), url, hash(url), now_s, is_other=False)

    def _judge(
        self,
        host: _Host,
        url: str,
        said: int,
        now_s: float,
        *,
        is_other: bool,
        may_be_some: bool = False,
    ) -> Verdict:
        """Judge what is said by a page; ``may_be_some``: many that say so prove nothing of all."""
        if said != host.said or not host.row:
            return self._begin(host, url, said, now_s, is_other=is_other)
        host.row[url] = is_other
        if len(host.row) > _MOST_PAGES:
            del host.row[next(iter(host.row))]
        is_believed = said == host.believed and 0.0 <= now_s - host.believed_s < _BELIEVED_S
        if len(host.others) < _FEW or is_believed or not 0.0 <= now_s - host.since_s < _LONGEST_S:
            return Verdict()
        n = len(host.row)
        is_sure = n >= _SURE and host.witness in host.row
        are_many = not may_be_some and sum(host.row.values()) >= _ROW
        is_news = not host.refuses and (is_sure or are_many)
        if is_news:
            host.refuses, host.asked = True, ("", 0)
        is_asked = 0.0 <= now_s - host.asked_s < _WAITS_S
        is_long = self._may_ask and n >= (_SURE if is_other else _ROW)
        if not (host.refuses or is_asked or is_long):
            return Verdict()
        if len(host.doubted) < _MOST_PAGES:
            host.doubted[url] = None
        if host.refuses or is_asked:
            return Verdict(is_doubted=True, refuses=host.refuses, is_news=is_news)
        host.asked_s, host.asked = now_s, (host.witness, said)
        return Verdict(is_doubted=True, ask=(host.witness,))

    def _host(self, url: str) -> _Host:
        name = host_of(url)
        held = self._hosts.pop(name, None)
        host = self._hosts[name] = _Host() if held is None else held
        if len(self._hosts) > _MOST_HOSTS:
            del self._hosts[next(iter(self._hosts))]
        return host

    def _begin(self, host: _Host, url: str, said: int, now_s: float, *, is_other: bool) -> Verdict:
        """Begin a row; what was doubted of the last one is asked for again, or all if refused."""
        before, refused = tuple(host.row), host.refuses
        ask = before if refused else tuple(host.doubted)
        if url == host.asked[0] and said != host.asked[1] and not refused:
            host.believed, host.believed_s = host.asked[1], now_s
        if before and not refused:
            host.witness = before[-1]
            if len(host.others) < _FEW:
                host.others.add(host.said)
        host.said, host.row, host.since_s, host.refuses = said, {url: is_other}, now_s, False
        host.asked_s, host.doubted = float("-inf"), {}
        return Verdict(ask=ask)


def _away(how: str) -> int:
    return hash(("away", how))


def _said(url: str, extract: Extract) -> int:
    """Return what texts have in common but for numbers, and for what their addresses name.

    What is shown instead of a page is short, leads nowhere, and is to be left out of an index.
    """
    if not extract.noindex or len(extract.text) > _LONGEST or len(extract.links) > _MOST_LINKS:
        return hash((url, extract.text))
    named = set(_NAMES.split(path_of(url).casefold()))
    words = folded(f"{extract.title} {extract.text}").split()
    return hash(tuple(one for one in words if one not in named and not any(map(str.isdigit, one))))
