"""Changes that are likely a slip: of a page that comes to say what another has come to say.

What is edited says something of its own on each page, and most of what it said before. Where a site
is closed for an hour, or its database is away, each page answers with status 200, says the same,
and nothing of before. But for the first, such pages are doubted once, as a page that is not found
is: what the next visit finds counts. Where pages have said so and say something of their own again,
as where one of several servers is closed, that passes, and the others are doubted more than once.
"""

from math import inf
from typing import Final, NamedTuple

from recrawl.crawler.control.answers.soft_errors import mark_of, share_kept
from recrawl.crawler.control.urls import host_of

_DAY_S: Final = 86_400.0
_MOST: Final = 20_000  # texts, and pages, that are remembered
_PASSED: Final = 2  # pages that said a text and no longer do, by which it passes
_KEPT: Final = 0.5  # of its words a page still says that was edited


class _Begun(NamedTuple):
    """A text that a page has come to say: which page, what it said before, when that was seen.

    ``left`` pages have said so and say something else by now, the last since ``left_s``.
    """

    url: str
    before: bytes
    at_s: float
    left: int = 0
    left_s: float = -inf


class SharedTexts:
    """Remembers what pages have come to say of late. In memory; bounded; O(text) a page."""

    def __init__(self) -> None:
        self._begun: dict[tuple[str, object], _Begun] = {}
        self._doubted_s: dict[str, float] = {}  # by page

    def others_say(
        self, url: str, said: tuple[str, str], *, before: bytes, after: bytes, now_s: float
    ) -> bool:
        """Tell whether another page has come to say the same of late; it is remembered.

        Parameters
        ----------
        url : address of a page of the index
        said : its title, and its text, which is another now
        before, after : signatures of the copy that is held, and of what it says now
        now_s : instant of the visit
        """
        host, mark = host_of(url), mark_of(url, *said)
        left = self._begun.get((host, before))
        if left is not None:
            self._begun[host, before] = left._replace(left=left.left + 1, left_s=now_s)
        if not mark:  # too short to tell
            return False
        # It is the same where the page's own name is told in it, or the time.
        begun = [self._take(key, url, before, now_s) for key in ((host, mark), (host, after))]
        return any(one.url != url and one.before != before for one in begun)

    def is_passing(self, url: str, after: bytes, now_s: float) -> bool:
        """Tell whether pages of a host that came to say what this one does have left it of late.

        Parameters
        ----------
        url : of the page
        after : signature of what it has come to say
        now_s : instant of the visit
        """
        begun = self._begun.get((host_of(url), after))
        return begun is not None and begun.left >= _PASSED and abs(now_s - begun.left_s) < _DAY_S

    def is_doubtful(
        self, url: str, said: tuple[str, str], held: tuple[str, str], now_s: float
    ) -> bool:
        """Tell whether a change that others have made is to be confirmed. Of a page once a day.

        Parameters
        ----------
        url : address of the page
        said, held : its title and its text, now and of the copy that is held
        now_s : instant of the visit
        """
        if share_kept(held, said) >= _KEPT:  # edited
            return False
        last_s = self._doubted_s.pop(url, None)
        if last_s is not None and abs(now_s - last_s) < _DAY_S:
            self._doubted_s[url] = last_s
            return False
        self._doubted_s[url] = now_s
        if len(self._doubted_s) > _MOST:
            del self._doubted_s[next(iter(self._doubted_s))]
        return True

    def _take(self, key: tuple[str, object], url: str, before: bytes, now_s: float) -> _Begun:
        """Return who has come to say a text first, of late; it is remembered as said now."""
        begun = self._begun.pop(key, None)
        if begun is None or abs(now_s - begun.at_s) >= _DAY_S:
            begun = _Begun(url, before, now_s)
        self._begun[key] = begun._replace(at_s=now_s)
        if len(self._begun) > 2 * _MOST:
            del self._begun[next(iter(self._begun))]
        return begun
