"""Decodes bodies by the charsets that browsers know, under all their names."""

import codecs
import re
from encodings import normalize_encoding
from encodings.aliases import aliases
from typing import Final
from urllib.parse import quote

from recrawl.crawler.fetch.undeclared import charset_by_bytes

_META_CHARSET: Final = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([a-z0-9_:.-]{1,40})""", re.IGNORECASE
)
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]+")
# What browsers read, by Python's names (WHATWG, Encoding, section 4.2). Of Python's other codecs
# some take quadratic time, and some are programs.
CHARSETS: Final = frozenset(
    """utf_8 utf_16 utf_16_le utf_16_be cp866 iso8859_2 iso8859_3 iso8859_4 iso8859_5 iso8859_6
    iso8859_7 iso8859_8 iso8859_10 iso8859_13 iso8859_14 iso8859_15 iso8859_16 koi8_r koi8_u
    mac_roman mac_cyrillic cp874 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 gbk
    gb2312 gb18030 big5 big5hkscs euc_jp iso2022_jp shift_jis cp932 euc_kr cp949""".split()
)
# By codecs that a reader has loaded: it can open no file later.
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf_8"), (codecs.BOM_UTF16_LE, "utf_16_le"),
    (codecs.BOM_UTF16_BE, "utf_16_be"),
)  # fmt: skip
_READ_AS: Final = {  # browsers read the smaller sets as the larger ones
    "latin_1": "cp1252", "iso8859_1": "cp1252", "ascii": "cp1252", "tis_620": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949",
    "iso8859_9": "cp1254",
    # Names that Python does not know.
    "x_sjis": "cp932", "windows_31j": "cp932", "windows_874": "cp874", "iso8859_11": "cp874",
    "x_gbk": "gb18030", "gb_2312": "gb18030", "x_mac_roman": "mac_roman", "mac": "mac_roman",
    "x_mac_cyrillic": "mac_cyrillic", "x_euc_jp": "euc_jp", "cn_big5": "big5", "koi8": "koi8_r",
    "windows_949": "cp949", "ks_c_5601_1989": "cp949", "iso_8859_6_i": "iso8859_6",
    "iso_8859_8_i": "iso8859_8", "logical": "iso8859_8", "visual": "iso8859_8",
    **{f"iso8859{part}": f"iso8859_{part}" for part in range(2, 9)}, "iso88591": "cp1252",
    **{f"x_cp{page}": f"cp{page}" for page in range(1250, 1259)},
}  # fmt: skip


def decode_body(body: bytes, charset: str | None) -> str:
    """Decode a body: byte order mark, then header, then ``<meta charset>``, then UTF-8.

    Never fails: what cannot be decoded becomes U+FFFD, and a body that is no UTF-8 and says
    nothing is read as its bytes tell, which is as Windows-1252 in doubt.

    Parameters
    ----------
    body : without content encoding
    charset : that the header names; None: it names none
    """
    return decode_as(body, charset_of(body, charset))


def decode_as(body: bytes, codec: str) -> str:
    """Decode a body by the charset that :func:`charset_of` tells of it.

    Parameters
    ----------
    body : without content encoding
    codec : by Python's name
    """
    mark = next((mark for mark, _ in _MARKS if body.startswith(mark)), b"")
    return body[len(mark) :].decode(codec, "replace")


def charset_of(body: bytes, charset: str | None) -> str:
    """Return by which charset a body is read, by Python's name.

    Parameters
    ----------
    body, charset : as for :func:`decode_body`
    """
    for mark, name in _MARKS:
        if body.startswith(mark):
            return name
    declared = charset or _meta_charset(body)
    codec = _codec(declared) if declared else None
    # A page whose <meta> can be read is not in UTF-16.
    if codec and codec != "utf_8" and (charset or not codec.startswith("utf_16")):
        return codec
    if declared:
        return "utf_8"
    try:
        body.decode("utf_8")
    except UnicodeDecodeError:
        return charset_by_bytes(body)
    return "utf_8"


def with_query_in(reference: str, codec: str) -> str:
    """Return a reference with the query as browsers send it: in the charset of its page.

    They write what that charset lacks as HTML does, ``&#8364;``, and all else of an address in
    UTF-8 (WHATWG, URL, section 4.4).

    Parameters
    ----------
    reference : as it stands on the page
    codec : as :func:`charset_of` tells
    """
    if reference.isascii() or codec.startswith("utf_"):
        return reference
    address, sharp, fragment = reference.partition("#")
    path, mark, query = address.partition("?")
    query = _NOT_ASCII.sub(lambda found: _escaped(found[0], codec), query)
    return f"{path}{mark}{query}{sharp}{fragment}"


def _escaped(text: str, codec: str) -> str:
    return quote(text.encode(codec, "xmlcharrefreplace"), safe="")


def is_charset(name: str) -> bool:
    """Tell whether browsers know a charset by this name."""
    return _codec(name) is not None


def _codec(charset: str) -> str | None:
    """Return the name of the codec for a charset that browsers know."""
    plain = normalize_encoding(charset.strip().lower()[:60])
    name = aliases.get(plain) or aliases.get(plain.replace(".", "_")) or plain
    name = _READ_AS.get(name, name)
    return name if name in CHARSETS else None


def _meta_charset(body: bytes) -> str | None:
    found = _META_CHARSET.search(body, 0, 2048)
    return found[1].decode("ascii") if found else None
