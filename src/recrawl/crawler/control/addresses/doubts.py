"""Doubts about an address before it was ever visited, by its words, versions and files.

Nothing here forbids a visit. It makes a kind of address prove itself sooner, and keeps all doubted
addresses of a host together to a small share of what the host has brought
(:mod:`recrawl.crawler.control.addresses.yields`). The module is longer than most, as it is by many
words that addresses say what they are of.
"""

import re
from functools import lru_cache
from typing import Final

from recrawl.crawler.control.addresses.acts import NUMBER, is_done_to_a_thing
from recrawl.crawler.control.urls import RECENT, folder_of, host_of, path_of, query_parts

_DOUBTS: Final = re.compile(
    r"""(?:^|[?&;])(?:
        (?:action|do|act|mode|view|op|cmd|task|a|what|printable|share|replytocom|diff|oldid|rev|revs
          |revision|rev1|rev2|sessionid|session|sid|phpsessid|jsessionid|token|redirect|redirect_to
          |returnto|return|sort|order|orderby|dir|idx|media|tab|format|output|feed|veaction
        |search|query|keywords?|filter|add[-_]to[-_](?:cart|wishlist|compare)|remove_item)=
        (?:edit|submit|history|diff|recent|revisions|revert|login|logout|register|signup|index|media
          |mediamanager|export_\w+|backlink|draft|preview|print|printable|email|share|raw|info|delete
          |protect|watch|unwatch|purge|credits|blame|snapshot|patch|log|shortlog|rss|atom|subscribe
          |1|yes|true|asc|desc|[\w%/.:+-]*)
        |C=[NMSD]|O=[AD]|sql=[^&;]*|version=\d+
        |[^=&;]{1,40}=  # a parameter without a value asks for what is there without it
        |(?<=[&;])[^=&;]{1,40})(?:$|[&;])  # and so does a switch beside others
    """,
    re.VERBOSE | re.IGNORECASE,
)
# Where people sign in, buy or search, and the pages that wikis make about their pages.
_PLACES: Final = re.compile(
    r"""(?:/|[?&;][\w-]{1,40}=)
        (?:special(?::|%3a)|(?:wp-)?(?:admin|login)(?:\.\w+)?(?:/|$)
          |(?:log|sign)[-_]?(?:in|up|out)(?:\.\w+)?(?:/|$)|register(?:\.\w+)?(?:/|$)
          |(?:lost-?password|pref(?:erence)?s|cart|basket|checkout)(?:\.\w+)?(?:/|$))""",
    re.VERBOSE | re.IGNORECASE,
)
# Another view of what a page shows: its history, its differences, its source, a form to change it.
# Wikis set those apart from pages by a sign before them: /Page/_edit.
_VIEW: Final = re.compile(
    r"""/(?:_?(?:logs?|history|revisions?|diffs?|blame|annotate|raw|plain|commits?|changesets?|compare
        |comparison|refs|patch|snapshots?|atom|edit|print|amp|share|backlinks)
        |_(?:accounts?|create|delete|dir|files|new|plugins?|preview|search|settings|source|upload)
        )(?=/|$)""",
    re.VERBOSE | re.IGNORECASE,
)
# Where wikis name a view first, by the sign that sets it apart: /+history/Page.
_SIGNED_VIEW: Final = re.compile(
    r"""/\+(?:bookmark|convert|create|delete|destroy|diff|download|edit|feed|highlight|history|meta
        |modify|print|raw|rename|revert|search|show|slideshow|subscribe|upload)(?=/|$)""",
    re.VERBOSE | re.IGNORECASE,
)
# The same as the first folder, where it may as well be a part of the site: only beside the thing.
_ROOT_VIEW: Final = re.compile(
    r"(?P<view>/(?:logs?|diffs?|blame|annotate|raw(?:-file)?|changesets?|comparison)/)[^/]+/"
)
# Of a parameter that often only names a page, the value must speak against it.
_HARMLESS: Final = re.compile(
    r"(?:^|[?&;])(?:action|do|act|mode|view|op|cmd|task|a|what|tab|format|output)="
    r"(?:show|view|read|display|page|article|summary|tree|blob|html)?(?:$|[&;])",
    re.IGNORECASE,
)
# As version control names what never changes, in full or as it is abbreviated.
_HASH: Final = (
    r"(?:[0-9a-fA-F]{64}|[0-9a-fA-F]{40}"
    r"|(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{10}(?:[0-9a-f]{2}|[0-9a-f]{6})?)"
)
_SHORTEST_HASH: Final = 10
_HASH_VALUE: Final = re.compile(rf"=(?:{_HASH})(?:$|[&;])")
_HASH_AT_END: Final = re.compile(rf"/(?P<hash>{_HASH})$")
# A change of what is called so, as one place may have several stores: /changeset/7c1.../main
_CHANGE_AT_END: Final = re.compile(rf"/(?:commit|changeset)/(?P<hash>{_HASH})/[\w-]+/?$")
_HASH_ONLY: Final = re.compile(rf"(?P<hash>{_HASH})")
_HASH_IN_TEXT: Final = re.compile(rf"\b{_HASH}\b")
_HASH_SEGMENT: Final = re.compile(rf"/{_HASH}(?=/|\.|$)")
_VERSION: Final = re.compile(
    r"^(?:oldid|oldrev|rev|rev1|rev2|revision|diff|id2|commit|sha)(?:\[\d*\])?=|=" + _HASH + "$",
    re.IGNORECASE,
)
_SUFFIX: Final = re.compile(r"\.((?:md\.|rst\.)?[a-z][a-z0-9]{0,4}|7z)$", re.IGNORECASE)
# What pages are made of, and what they are.
_SOURCE: Final = re.compile(r"(?:/index)?(?:\.(?:md|mdx|rst|txt|adoc|ipynb|xml))+$", re.IGNORECASE)
_PAGE: Final = re.compile(r"(?:/|/index\.x?html?|\.x?html?)?$", re.IGNORECASE)
# Endings of names. Python's own table differs by its version: from 3.14 on it has scripts in PHP
# for files that are no text, from 3.12 on those of browsers for texts.
_TEXTS: Final = frozenset(
    "bat c css csv etx h htm html json ksh n3 pdf pl py rdf rtx sgm sgml srt tsv txt vcf vtt wsdl "
    "xml xpdl xsl".split()
)
_FILES: Final = frozenset(
    "3g2 3gp 3gpp 3gpp2 7z a aac adts ai aif aifc aiff apk ass au avi avif bcpio bin bmp br bz2 "
    "cdf cpio csh deb dll dmg doc docx dot dvi emf eml eot epub eps exe fits flac g3 gif glb gltf "
    "gtar gz h5 hdf heic heif ico ief iso jar jp2 jpe jpeg jpg jpm jpx js latex loas m1v m3u m3u8 "
    "m4a m4v man me mht mhtml mif mjs mk3d mka mkv mobi mov movie mp2 mp3 mp4 mpa mpe mpeg mpg ms "
    "msi nc nq nt nws o obj oda odg odp ods odt oga ogg ogv ogx opus otf p12 p7c pbm pfx pgm png "
    "pnm pot ppa ppm pps ppt pptx ps pwz pyc pyo qt ra ram rar ras rgb roff rpm sh shar snd so "
    "src stl sv4cpio sv4crc svg svgz swf t tar taz tbz2 tcl tex texi texinfo tfx tgz tif tiff tr "
    "trig ttf txz tz ustar wasm wav weba webm webmanifest webp whl wiz wmf wmv woff woff2 xbm xlb "
    "xls xlsx xpm xwd xz z zip zst".split()
)
_JOINT: Final = re.compile(r"\+|,|%2C", re.IGNORECASE)
_MOST_PARTS: Final = 8
# A thing's number, alone or behind its name, or the number that a letter has: 7.15@example.org.
_NUMBERED: Final = re.compile(
    rf"(?:[\w-]{{1,200}}[-_])?{NUMBER}|(?=[^@%]{{0,200}}\d)[^/@]{{1,200}}(?:@|%40)[\w.-]{{1,200}}"
)
_NUMBERED_AS_YEARS: Final = re.compile(r"(?:[\w-]{1,200}[-_])?\d+")
_FACE: Final = re.compile(r"[a-z]+(?:[-_][a-z]+)?", re.IGNORECASE)  # more words are a title
_IN_CALENDAR: Final = re.compile(r"/(?:19|20)\d\d/\d{1,2}/")


@lru_cache(1024)  # asked some five times a visit, and of each link
def is_doubted(url: str) -> bool:
    """Tell whether an address speaks against a page: edit, diff, login, sort, an archive ..."""
    path, _, query = path_of(url).partition("?")
    if _PLACES.search(path) or _view(path) is not None or is_done_to_a_thing(path):
        return True
    if not query:
        return bool(_HASH_SEGMENT.search(path)) or _is_file(path)
    return _speaks_against(query) or _repeats_itself(query) or _is_file(path)


def _repeats_itself(query: str) -> bool:
    """Tell whether a query says the same twice, as where choosing a filter again adds it again."""
    parts = query.split("&")
    return len(set(parts)) < len(parts)


def _speaks_against(query: str) -> bool:
    if _PLACES.search(f"?{query}"):
        return True
    return bool(_HASH_VALUE.search(query) or _DOUBTS.search(_HARMLESS.sub("&", query)))


def place_of(url: str) -> str | None:
    """Return the folder, as ``/admin/``, that alone speaks against what lies in it; None: none."""
    found = _PLACES.search(path := path_of(url), 0, len(path.partition("?")[0]))
    if found is None or not found[0].endswith("/"):
        return None
    elsewhere = host_of(url) + path.replace(found[0], "/-/")  # where a link leads back to, too
    return None if is_doubted(elsewhere) else path[: found.end()]


def is_script(url: str) -> bool:
    """Tell whether an address is that of a script, by the ending of its file's name."""
    return path_of(url).partition("?")[0].endswith((".js", ".mjs"))


def page_of_version(url: str) -> str | None:
    """Return the page that an address is a version of, by its words; None: of none.

    A version is named by a parameter such as ``oldid`` or ``rev``, or by a hash of 40 or 64 digits.
    """
    base, _, query = url.partition("?")
    if not query:
        return None
    parts = query.replace(";", "&").split("&")
    kept = [part for part in parts if not _VERSION.search(part)]
    if len(kept) < len(parts):  # what is switched on besides is switched on for the version
        kept = [part for part in kept if "=" in part]
    if len(kept) == len(parts) or (not kept and path_of(base) == "/"):
        return None
    return f"{base}?{'&'.join(kept)}" if kept else base


def pages_of_file(url: str) -> list[str]:
    """Return the pages that a file by a query may be another form of; none for an unknown ending.

    ``/books.csv?author=7&size=max`` may have what ``/books?author=7&size=max`` or, without the
    parameters at the end, ``/books?author=7`` has. Not ``/books``: the query may choose anything.
    """
    base, _, query = url.partition("?")
    if not query or stem_of_page(base) is not None or is_unknown_file(path_of(base)):
        return []
    page, parts = _SUFFIX.sub("", base, count=1), query.split("&")[:_MOST_PARTS]
    return [f"{page}?{'&'.join(parts[:n])}" for n in range(len(parts), 0, -1)]


def hash_of(url: str) -> str | None:
    """Return the beginning of the hash that an address names a thing by; None: there is none.

    It stands at the end of the path, or behind it the store that it is a change of, or is the value
    of all parameters that have one. What is named by it is the same thing wherever its host shows
    it.
    """
    path, _, query = path_of(url).partition("?")
    values = {value for _, _, value in query_parts(query) if value}
    if len(values) > 1:
        return None
    if values:
        found = _HASH_ONLY.fullmatch(values.pop())
    else:
        found = _HASH_AT_END.search(path) or _CHANGE_AT_END.search(path)
    return found["hash"][:_SHORTEST_HASH].lower() if found is not None else None


def has_hash(url: str) -> bool:
    """Tell whether a folder or file of an address is called by a hash."""
    return _HASH_SEGMENT.search(path_of(url).partition("?")[0]) is not None


def compares(url: str) -> bool:
    """Tell whether an address names two versions: it shows what differs between them."""
    return sum(bool(_HASH_VALUE.search(part)) for part in re.split("[?&;]", url)) > 1


def is_joined(url: str) -> bool:
    """Tell whether the end of a path joins several words, as what is tagged with all of them."""
    parts = _JOINT.split(path_of(url).removesuffix("/").rpartition("/")[2])
    return "?" not in url and len(parts) > 1 and all(parts)


def _view(path: str) -> re.Match[str] | None:
    """Return the folder by which a path names a view; one at the root names a part of the site.

    Unless a sign sets it apart.
    """
    found = _VIEW.search(path, path.find("/", 1)) if "/" in path[1:] else None
    return found or (_SIGNED_VIEW.search(path) if "/+" in path else None)


@lru_cache(RECENT)
def face_of(url: str, *, of_years: bool = False) -> tuple[str, list[str]] | None:
    """Return what is shown of a thing, whatever its number, and the addresses of the thing itself.

    ``/shop/lamp_12/reviews/add/`` shows ``/shop/#/reviews/add`` of ``/shop/lamp_12/``, and
    ``/shop/lamp_12/reviews/7/`` shows ``/shop/#/reviews/#``. None: the path does not go on by a few
    words behind a number, or that is the one of a month, or, unless it is ``of_years``, of a year.
    """
    numbered = _NUMBERED_AS_YEARS if of_years else _NUMBERED
    path, mark, _ = path_of(url).partition("?")
    if _IN_CALENDAR.search(path):
        return None
    folders = path.rstrip("/").split("/")
    last = len(folders) - (2 if folders[-1].isdecimal() else 1)  # one of many of a thing
    place = last
    while place > 0 and _FACE.fullmatch(folders[place]):
        place -= 1
    if mark or place in (0, last) or not numbered.fullmatch(folders[place]):
        return None
    shown = [
        "#" if numbered.fullmatch(folder) or _NUMBERED_AS_YEARS.fullmatch(folder) else folder
        for folder in folders
    ]
    thing = f"{url[: -len(path)]}{'/'.join(folders[: place + 1])}"
    return "/".join(shown), [thing, f"{thing}/"]


def thing_of_view(url: str) -> str | None:
    """Return what a view is one of, as :func:`parallels` names it; None: it is none by its words.

    ``/work/log/a.txt`` is a view of what ``/work/*/a.txt`` names, and ``/log/work/a.txt`` of what
    ``/*/work/a.txt`` does, unless it ends in a number, as the archive of a month.
    """
    path = path_of(url).partition("?")[0].rstrip("/")
    view = view_at_root(url)
    if view is not None:
        return f"/*{path[len(view) - 1 :]}"
    found = _view(path)
    if found is None or found.end() == len(path):
        return None
    return f"{path[: found.start()]}/*{path[found.end() :]}"


def view_at_root(url: str) -> str | None:
    """Return the first folder by which a path names a view of what follows: ``/log/``; else None.

    Not where the path ends in a number, as that of the archive of a month.
    """
    path = path_of(url).partition("?")[0].rstrip("/")
    found = _ROOT_VIEW.match(path)
    return found["view"] if found and not path.rpartition("/")[2].isdecimal() else None


def is_view_of_version(url: str) -> bool:
    """Tell whether a path names a view, then a version by its hash, then what it is a version of.

    As ``/diff/7c1.../src/a.c`` does; ``/work/commit/7c1...`` is what the hash names, and so is
    ``/commit/7c1.../work``.
    """
    path = path_of(url).partition("?")[0].rstrip("/")
    if _CHANGE_AT_END.search(path) is not None:
        return False
    found = _HASH_SEGMENT.search(path)
    return found is not None and found.end() < len(path) and thing_of_view(url) is not None


def parallels(url: str) -> list[str]:
    """Return an address's path with one of its folders left open, for each of them.

    Two addresses that have one in common differ in one folder only: they may be two views of one
    thing, or the same thing in two languages.
    """
    parts = path_of(url).partition("?")[0].rstrip("/").split("/")
    places = range(1, min(len(parts) - 1, _MOST_PARTS))
    return ["/".join([*parts[:place], "*", *parts[place + 1 :]]) for place in places]


def less_specific(url: str) -> list[str]:
    """Return the addresses with no parameter, with one less, and with one alone."""
    base, _, query = url.partition("?")
    if not query:
        return []
    parts = query.replace(";", "&").split("&")[:_MOST_PARTS]
    fewer = ["&".join(parts[:place] + parts[place + 1 :]) for place in range(len(parts))]
    alone = parts if len(parts) > 2 else []
    return [base, *(f"{base}?{kept}" for kept in fewer + alone if kept)]


def shape_of_doubt(name: str, value: str) -> str:
    """Return a parameter with its value where that speaks against a page, or a sign for it.

    Parameters
    ----------
    name, value : as they stand in a query; the first 100 characters of each count
    """
    part = f"{name[:100]}={value[:100]}" if name else value[:100]
    if _HASH_VALUE.search(part):
        return f"{name[:100]}=#"
    return part if _speaks_against(part) else f"{name[:100]}=*"


def group_of(url: str) -> str:
    """Return the pages that change alike for all that an address says: a folder's of one shape.

    Versions have a group of their own, whether by a hash, by a parameter or by another view: it is
    soon learned that they never change, without a doubt of the pages beside them.
    """
    path, mark, query = path_of(url).partition("?")
    view = _view(path)
    shape = "" if view is None else view[0]
    shape += "/#" if _HASH_SEGMENT.search(path) else ""
    if mark:
        shape += "?" + "&".join(
            sorted({_name_of(part) for part in query.replace(";", "&").split("&")[:_MOST_PARTS]})
        )
    return f"{folder_of(url)}{shape}"


def _name_of(part: str) -> str:
    name = part.partition("=")[0][:100]
    return f"{name}=#" if _HASH_VALUE.search(part) else name


@lru_cache(RECENT)
def suffix_of(url: str) -> str | None:
    """Return the ending of a file's name, in lower case; None: it has none, or a query follows."""
    path, mark, _ = path_of(url).partition("?")
    found = None if mark else _SUFFIX.search(path)
    return None if found is None else found[1].lower()


def stem_of_page(url: str) -> str | None:
    """Return the path of a page without its ending; None: it has a query, or another ending."""
    path, mark, _ = path_of(url).partition("?")
    stem = _PAGE.sub("", path, count=1)
    return None if mark or _SUFFIX.search(stem) else stem


def stems_of_source(url: str) -> list[str]:
    """Return the stems of pages that a file may be the source of: beside it, or in a branch beside.

    ``/plan.md`` may be the source of ``/plan.html``, and ``/_sources/howto/plan.md.txt`` the one of
    ``/howto/plan/``.
    """
    path, mark, _ = path_of(url).partition("?")
    stem, n = _SOURCE.subn("", path)
    if mark or n == 0:
        return []
    parts = stem.split("/")
    places = range(1, min(len(parts), _MOST_PARTS))
    return [stem, *("/".join(parts[:place] + parts[place + 1 :]) for place in places)]


def is_unknown_file(path: str) -> bool:
    """Tell whether a file's name ends in what says nothing of what is in it."""
    ending = _ending(path)
    return bool(ending) and ending not in _TEXTS and ending not in _FILES


def with_short_hashes(text: str) -> str:
    """Return a path, or another text, with as many digits of each hash as the shortest has."""
    return _HASH_IN_TEXT.sub(lambda found: found[0][:_SHORTEST_HASH].lower(), text)


def without_hashes(text: str) -> str:
    """Return a path, or another text, with one sign for each hash in it."""
    return _HASH_IN_TEXT.sub("#", text)


def _is_file(path: str) -> bool:
    """Tell whether a name promises what is no text."""
    return _ending(path) in _FILES


def _ending(path: str) -> str:
    found = _SUFFIX.search(path)
    return "" if found is None else found[1].rpartition(".")[2].lower()
