"""Addresses whose visit does something: deletes, votes, or signs out.

Many a site does by a link what should take a form. Who comes without a login is not let; a crawl
with one would do it with each visit. So where a crawl is signed in such addresses are no part of
it, and elsewhere something done to the thing of a number speaks against a page.
"""

import re
from typing import Final

from recrawl.crawler.control.urls import path_of

NUMBER: Final = r"(?!(?:19|20)\d\d(?!\d))\d+"  # which is no year
_NAMED: Final = rf"/(?:[\w-]{{1,200}}[-_])?{NUMBER}"  # a thing's number, alone or behind its name
_DONE: Final = r"""(?:add|buy|delete|remove|reply|report|flag|(?:up|down)?vote|(?:un|dis)?like
    |(?:un)?(?:follow|subscribe|watch))"""
_TO_A_THING: Final = re.compile(
    rf"{_NAMED}(?:/[\w-]{{1,40}})?/(?:{_DONE}|new|create)/?$"
    rf"|(?!^/(?:report|watch)/\d)/{_DONE}(?:/[a-z]{{1,20}})?/{NUMBER}/?$",  # trackers have reports
    re.VERBOSE | re.IGNORECASE,
)
_OUT: Final = r"""(?:(?:(?:do|user|member)[-_]?)?(?:log|sign)[-_]?(?:out|off)
    |abmelden|ausloggen|cerrar[-_]?sesi(?:o|%C3%B3)n|d(?:e|%C3%A9)connexion|uitloggen|wyloguj)"""
_WITHIN: Final = "(?:[/:]|%2F|%3A)"  # of a value that is a path, or in a name space
_VERBS: Final = rf"""(?:{_DONE}|{_OUT}|accept|(?:de)?activate|(?:dis)?approve|archive|(?:un)?assign
    |(?:un)?ban|(?:un)?block|cancel|checkout|close|confirm|decline|destroy|disable|empty|enable
    |(?:un)?install|kick|(?:un)?lock|mark\w{{0,20}}|merge|move|(?:un)?publish|purge|rate|reject
    |rename|reopen|reset|resolve|restart|restore|revert|revoke|rollback|send|(?:un)?star|start|steal
    |stop|submit|(?:un)?take|toggle|trash|trigger|un(?:delete|do|vote))"""
_ASKED: Final = re.compile(
    rf"""(?:^|[?&;])(?:
        (?:_?method|act|action|cmd|command|do|event|op|operation|task|verb)={_VERBS}(?:[_-]\w*)?
        |(?:mod(?:ule)?|pa?ge?|view)={_OUT}
        |[^=&;]{{1,40}}=[^=&;]{{0,200}}{_WITHIN}{_OUT}
        |(?:{_OUT}|delete|destroy|remove|trash|revoke|(?:un)?(?:subscribe|vote)
            |add[-_]to[-_](?:basket|cart|wishlist))(?:[_-]?(?:id|item|page|post|user))?(?:=[^&;]*)?
        )(?:$|[&;])""",
    re.VERBOSE | re.IGNORECASE,
)
_SIGNS_OUT: Final = re.compile(
    rf"""/(?:\w{{1,40}}(?::|%3A))?{_OUT}(?:\.\w{{1,5}})?(?:/|$)
    |/(?:delete|destroy|remove)\.\w{{1,5}}$""",
    re.VERBOSE | re.IGNORECASE,
)


def is_done_to_a_thing(path: str) -> bool:
    """Tell whether a path names something done to the thing of a number: ``/item/7/delete``."""
    return _TO_A_THING.search(path) is not None


def is_act(url: str) -> bool:
    """Tell whether an address says that its visit does something.

    Parameters
    ----------
    url : in normal form
    """
    path, _, query = path_of(url).partition("?")
    is_asked = query and _ASKED.search(query)
    return bool(is_asked or _SIGNS_OUT.search(path)) or is_done_to_a_thing(path)
