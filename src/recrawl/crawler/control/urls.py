"""URLs in normal form: WHATWG parsing by ada-url, then a small policy of our own.

The standard gives scheme and host in lower case, default ports dropped, dots resolved, spaces and
letters outside ASCII encoded, names in punycode. On top of it: fragments, user names and passwords
go; known tracking parameters go; percent-encoded letters, digits and ``-._~`` are decoded. The
order of a query is kept, because servers may care.
"""

import re
from functools import cache, lru_cache
from typing import Final

import ada_url
import xxhash
from publicsuffixlist import PublicSuffixList

MAX_URL_LENGTH: Final = 2_000
RECENT: Final = 256  # addresses; of each some things are asked twenty times, one after the other

_TRACKING: Final = re.compile(
    r"^(utm_[a-z_]+|gclid|dclid|gbraid|wbraid|fbclid|msclkid|mc_[ce]id|yclid|igshid|_ga|_gl"
    r"|phpsessid|jsessionid|aspsessionid[a-z]*|sessionid|sid|oscsid|xtcsid|zenid|cfid|cftoken)$",
    re.IGNORECASE,
)
_PATH_SESSION: Final = re.compile(r";(jsessionid|phpsessid|sid)=[^/?;]*", re.IGNORECASE)
_UNRESERVED: Final = re.compile(
    r"%(2d|2e|5f|7e|3[0-9]|4[1-9a-f]|5[0-9a]|6[1-9a-f]|7[0-9a])", re.IGNORECASE
)
_HOST: Final = re.compile(r"https?://[a-z0-9.:\[\]-]+/")
_NUMBER: Final = re.compile(r"([0-9.]+|\[[0-9a-f:.]*\])(?::[0-9]*)?$")
_ESCAPE: Final = re.compile(r"%[0-9a-fA-F]{2}")


def normalise(url: str) -> str | None:
    """Return the normal form of an absolute http or https URL, or None if it is none.

    Idempotent: the normal form of a normal form is itself.
    """
    return join("", url)


def in_punycode(host: str) -> str:
    """Return the name of a host, or a pattern of names, with the letters that URLs have."""
    return host if host.isascii() else ada_url.idna.encode(host).decode()


def join(base: str, reference: str) -> str | None:
    """Return the normal form of a reference as found on a page, or None.

    None for other schemes, for what no parser accepts and for more than ``MAX_URL_LENGTH``
    characters.

    Parameters
    ----------
    base : absolute URL of the page; does not count where the reference is absolute
    reference : as it stands there
    """
    if len(reference) > MAX_URL_LENGTH:
        return None
    # Pages of a site have the same links over and over, and most say where they lead by
    # themselves, or with the host: what was found out once is kept under no more than it hangs on.
    if reference.startswith(("http://", "https://")):
        base = ""
    elif reference.startswith("/"):
        host = _HOST.match(base)
        base = host[0] if host else base
    return _joined(base, reference)


@lru_cache(maxsize=2_000)
def _joined(base: str, reference: str) -> str | None:
    try:
        url = ada_url.join_url(base, reference) if base else ada_url.normalize_url(reference)
    except (ValueError, UnicodeError):
        return None
    if not url.startswith(("http://", "https://")):
        return None
    scheme, _, rest = url.partition("#")[0].partition("://")
    host, _, path = rest.partition("/")
    url = f"{scheme}://{host.rpartition('@')[2]}/{path}"
    if "%" in url or ";" in url:
        url = _settled(url)
    if "?" in url:
        url = _without_tracking(url)
    return url if len(url) <= MAX_URL_LENGTH else None


def _settled(url: str) -> str:
    """Decode and cut until nothing is left to do: what is decoded may be an escape or a dot."""
    while True:
        before = url
        if "%" in url:
            url = _decode_unreserved(url)
        if ";" in url:
            host, (path, question, query) = host_of(url), path_of(url).partition("?")
            url = host + _PATH_SESSION.sub("", path) + question + query
        if len(url) == len(before):  # every step but the change of case shortens
            return url
        url = ada_url.normalize_url(url)


def _decode_unreserved(url: str) -> str:
    url = _UNRESERVED.sub(lambda found: chr(int(found[1], 16)), url)
    return _ESCAPE.sub(lambda found: found[0].upper(), url)


def _without_tracking(url: str) -> str:
    address, _, query = url.partition("?")
    kept = [part for part in query.split("&") if part and not _TRACKING.match(part.split("=")[0])]
    return f"{address}?{'&'.join(kept)}" if kept else address


@lru_cache(RECENT)
def host_of(url: str) -> str:
    """Return scheme, name and port of a URL in normal form: the unit of politeness."""
    return url[: url.index("/", url.index("://") + 3)]


def site_of(host: str) -> str:
    """Return the registrable domain of a host, as Mozilla's list of public suffixes tells it.

    A host that is in none, as a number or a name of one label, is a site by its name.
    """
    name = host.rpartition("://")[2].rpartition("@")[2].lower()
    if number := _NUMBER.match(name):
        return number[1]
    name = name.partition(":")[0]
    return _suffixes().privatesuffix(name) or name


@cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()


def folder_of(url: str) -> str:
    """Return the host of a URL in normal form with the first folder of its path.

    Pages of a folder lend each other strength; a page in none is of its host's root.
    """
    host = host_of(url)
    first, slash, _ = url[len(host) + 1 :].partition("?")[0].partition("/")
    return f"{host}/{first}/" if slash else f"{host}/"


def directory_of(url: str) -> str:
    """Return a URL in normal form up to the last slash of its path."""
    return url.partition("?")[0].rpartition("/")[0] + "/"


@lru_cache(RECENT)
def path_of(url: str) -> str:
    """Return path and query of a URL in normal form."""
    return url[len(host_of(url)) :]


def query_parts(query: str) -> list[tuple[str, str, str]]:
    """Return names, signs and values of a query, in its order: of 50 parts at most."""
    return [part.partition("=") for part in query.replace(";", "&").split("&")[:50]]


def sorted_query_parts(query: str) -> list[tuple[str, str, str]]:
    """Return the same by name; what stands alone in a query is a value: ``?page``."""
    return sorted(part if part[1] else ("", "", part[0]) for part in query_parts(query))


def variant_key(url: str) -> int | None:
    """Return a signed 64-bit hash of the address without its query, or None if it has no query.

    Of a query that begins with a path, as ``index.php?/topic/7-lamps/&page=2`` does, that is part
    of the address.
    """
    address, question, query = url.partition("?")
    first, _, others = query.replace(";", "&").partition("&")
    if "/" in first and "=" not in first:
        address, question = f"{address}?{first}", others
    return xxhash.xxh3_64_intdigest(address.encode()) - (1 << 63) if question else None
