"""Links of lists: to their later pages, to what they list, and to themselves, narrowed further."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from recrawl.crawler.control.addresses.calendars import calendar_of
from recrawl.crawler.control.addresses.doubts import is_doubted, is_joined, less_specific
from recrawl.crawler.control.urls import RECENT, host_of, query_parts, sorted_query_parts

PLACE_IN_LIST: Final = re.compile(
    r"paged?|page_?(?:no|num|number|index)|pg|start|offset|skip|first|begin", re.IGNORECASE
)
# A mark of the last thing that was listed, as its key or its instant is.
_MARK_IN_LIST: Final = re.compile(
    r"cursor|after|before|since|until|marker|continu(?:e|ation)|(?:max|since)[-_]?id|page[-_]?token",
    re.IGNORECASE,
)
# In which order things are listed: sort=size, order_by=name, dir=desc. Not the number of an order.
_ORDER: Final = re.compile(
    r"_?(?:sort(?:ing)?|order(?:ing)?(?!.*=\d+$))(?:[-_]?(?:asc|by|col(?:umn)?|desc|dir(?:ection)?"
    r"|field|key|mode|order|type))?=.*"
    r"|[\w-]{1,40}=(?:asc|desc)(?:ending)?|(?:asc|desc)(?:ending)?=\w{1,5}",
    re.IGNORECASE,
)
_LAST_NUMBER: Final = re.compile(r"(?<!\d)\d++(?=\D*$)")
_DIGITS: Final = 9  # of a number that count
_PLACED: Final = re.compile(r"[0-9?]")  # a place in a list is told by a number, or in the query
# A number at the end of a folder's name, behind a sign: page-2.html, list;page=2
_COUNTED: Final = re.compile(r"(.*[-_=])(\d{1,9})((?:\.[a-z]{2,5})?)", re.IGNORECASE)


def begins_a_list(url: str) -> bool:
    """Tell whether a query asks for the beginning of a list."""
    return any(begins_list(name, value) for name, _, value in query_parts(url.partition("?")[2]))


def begins_list(name: str, value: str) -> bool:
    """Tell whether a parameter asks for the beginning of a list, which is there without it.

    That it brings nothing says nothing of where the list goes on.
    """
    return value in {"0", "1"} and PLACE_IN_LIST.fullmatch(name) is not None


@lru_cache(RECENT)
def place_in_list(url: str) -> tuple[str, int] | None:
    """Return a list, and the place in it that an address tells by a number; None: it tells none.

    Parameters
    ----------
    url : in normal form
    """
    base, _, query = url.partition("?")
    if query:
        for name, _, value in query_parts(query):
            if PLACE_IN_LIST.fullmatch(name) and value.isdecimal():
                return f"{base}?{name}", int(value[:_DIGITS])
        return None
    host = host_of(url)
    found = _LAST_NUMBER.search(url, len(host), len(base))
    if found is None:
        return None
    return f"{url[: found.start()]}#{base[found.end() :]}", int(found[0][:_DIGITS])


def is_place_of(url: str, other: str) -> bool:
    """Tell whether an address is a place in a list, and another asks the list for something else.

    Where both say the same, as ``/topic/7?page=2`` and ``/topic/7?post=36`` do, that leads to it.

    Parameters
    ----------
    url, other : in normal form
    """
    (base, _, query), (other_base, _, other_query) = url.partition("?"), other.partition("?")
    if base != other_base or not query:
        return False
    places, others = (
        [PLACE_IN_LIST.fullmatch(name) is not None for name, _, _ in query_parts(asked)]
        for asked in (query, other_query)
    )
    return all(places) and not any(others)


def is_narrowed_twice(url: str) -> bool:
    """Tell whether an address asks for a list by two things or more, but for a place in it.

    The later pages of a thing, ``/topic?id=7&page=2``, are asked for by one.

    Parameters
    ----------
    url : in normal form
    """
    asked = sorted_query_parts(url.partition("?")[2])
    return sum(name != "" and PLACE_IN_LIST.fullmatch(name) is None for name, _, _ in asked) > 1


def goes_on(url: str, other: str) -> bool:
    """Tell whether a list may go on at another address, which is no further off than it is.

    As :func:`continues` tells, or by a number at the end of a folder's name, or behind the last
    thing that was listed: ``after=KEY``, or at a place in it, where the list itself tells none:
    ``/list`` at ``/list?page=2`` and ``/list/page/2``. Not from one day or month to another.

    Parameters
    ----------
    url, other : of the list, and where it may go on, in normal form
    """
    if _PLACED.search(other) is None:
        return False
    if continues(url, other):
        return True
    (base, _, query), (other_base, _, other_query) = url.partition("?"), other.partition("?")
    if calendar_of(other) is not None:
        return False
    if base == other_base:
        return _is_asked_on(query, other_query)
    more = other_base.removeprefix(f"{base.rstrip('/')}/").rstrip("/").split("/")
    if query == other_query and len(more) == 2 and _is_place(*more):
        return True
    folder, _, name = base.rpartition("/")
    other_folder, _, other_name = other_base.rpartition("/")
    here, there = _COUNTED.fullmatch(name), _COUNTED.fullmatch(other_name)
    if here is None or there is None or (folder, query) != (other_folder, other_query):
        return False
    return here.group(1, 3) == there.group(1, 3) and int(here[2]) < int(there[2])


def _is_asked_on(query: str, other: str) -> bool:
    """Tell whether two queries differ by another mark in a list alone, or by a place in it."""
    one, two = (dict(part[::2] for part in query_parts(told)) for told in (query, other))
    moved = [name for name in one | two if name and one.get(name) != two.get(name)]
    if len(moved) != 1 or moved[0] not in two:
        return False
    if moved[0] in one:
        return _MARK_IN_LIST.fullmatch(moved[0]) is not None
    return _is_place(moved[0], two[moved[0]])


def _is_place(name: str, value: str) -> bool:
    return value.isdecimal() and PLACE_IN_LIST.fullmatch(name) is not None


def continues(url: str, other: str) -> bool:
    """Tell whether a list goes on at another address: one number in it is larger there.

    Parameters
    ----------
    url, other : of the list, and where it may go on, in normal form
    """
    (base, _, query), (other_base, _, other_query) = url.partition("?"), other.partition("?")
    folders, other_folders = base.split("/"), other_base.split("/")
    if bool(query) != bool(other_query) or len(folders) != len(other_folders):
        return False
    one, two = (
        dict(part[::2] for part in query_parts(query)),
        dict(p[::2] for p in query_parts(other_query)),
    )
    if one.keys() != two.keys():
        return False
    pairs = [*zip(folders, other_folders, strict=True), *((one[name], two[name]) for name in one)]
    moved = [(here, there) for here, there in pairs if here != there]
    if len(moved) != 1 or not all(value.isdecimal() for value in moved[0]):
        return False
    return (len(moved[0][0]), moved[0][0]) < (len(moved[0][1]), moved[0][1])


def leads_on(listing: str, url: str, is_known: Callable[[str], bool]) -> bool:
    """Tell whether a list leads to more by an address than to itself, narrowed further.

    Where it goes on is more, but not where a wider list is known to go on; nor is what joins one
    word more to the end of its path, nor the list itself as a file (``/list.csv?sort=name``), nor
    a page that is known, with what the list is asked for carried on (``/list/7?sort=name``). One
    script may have lists and what they list.

    Parameters
    ----------
    listing, url : of the list, and the address that it links to, in normal form
    is_known : whether the crawl knows an address
    """
    path, listed = url.partition("?")[0].rstrip("/"), listing.partition("?")[0].rstrip("/")
    if path != listed:
        plain = _not_carried(listing, url)
        if plain is not None and is_known(plain):
            return False
        more = path.removeprefix(listed) if path.startswith(listed) else ""
        if more[:1] == "." and "/" not in more:  # the same as a file is asked for as much
            asked = _asked(listing)
            return not asked or not asked.items() <= _asked(url).items()
        return not (more[:1] in {"+", ",", "%"} and "/" not in more and is_joined(url))
    if _is_of_another_thing(listing, url):
        return True
    wider = zip(less_specific(listing), less_specific(url), strict=False)
    return continues(listing, url) and not any(
        continues(here, there) and is_known(here) for here, there in wider
    )


def _not_carried(listing: str, url: str) -> str | None:
    """Return an address without what its list is asked for; None: it carries not all of it on."""
    asked, (base, _, query) = set(listing.partition("?")[2].split("&")), url.partition("?")
    parts = query.split("&")
    kept = [part for part in parts if part not in asked]
    if not query or len(parts) - len(kept) < len(asked):
        return None
    return f"{base}?{'&'.join(kept)}" if kept else base


def _is_of_another_thing(listing: str, url: str) -> bool:
    """Tell whether a script is asked for another thing: a filter or an order changes one value.

    Not where but numbers of the same names differ, as those of the month and year in a calendar.
    """
    here, there = (_asked(one) for one in (listing, url))
    changed = [name for name in here | there if here.get(name) != there.get(name)]
    is_moved = all(
        here.get(name, "").isdecimal() and there.get(name, "").isdecimal() for name in changed
    )
    return len(changed) > 1 and not is_moved and not is_doubted(url)


def _asked(url: str) -> dict[str, str]:
    """Return what a query asks for, whatever the place in the list."""
    parts = query_parts(url.partition("?")[2])
    return {name: value for name, _, value in parts if not PLACE_IN_LIST.fullmatch(name)}


def unsorted(url: str) -> str | None:
    """Return the list that an address asks for in an order of its own; None: in none."""
    base, _, query = url.partition("?")
    parts = query.split("&")
    kept = [part for part in parts if _ORDER.fullmatch(part) is None]
    if len(kept) == len(parts):
        return None
    return f"{base}?{'&'.join(kept)}" if kept else base


def leads_elsewhere(page: str, url: str) -> bool:
    """Tell whether an address is of another part of the site than a page, and not one of its likes.

    Parameters
    ----------
    page, url : without a query, and the address that it links to, in normal form
    """
    parts, others = page.rstrip("/").split("/"), url.partition("?")[0].rstrip("/").split("/")
    is_aside = parts[:4] != others[:4] or len(parts) != len(others)  # the fourth: a first folder
    return is_aside and calendar_of(page) is None
