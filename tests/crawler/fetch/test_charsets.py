"""Bodies are decoded as browsers do, whatever a page says of its charset."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.crawler.fetch.charsets import decode_body


@pytest.mark.parametrize(
    ("expected", "body", "charset"),
    [
        ("café", "café".encode(), None),
        ("café", "café".encode(), "utf-8"),
        ("café", "café".encode(), "UTF_8"),
        ("café", "café".encode("latin-1"), "iso-8859-1"),
        ("café", "café".encode("latin-1"), None),
        ("“café”", "“café”".encode("cp1252"), "latin1"),
        ("“café”", "“café”".encode("cp1252"), "us-ascii"),
        ("файл", "файл".encode("koi8-r"), "koi8-r"),
        ("日本", "日本".encode("shift_jis"), "Shift_JIS"),
        ("𠮷祥", "𠮷祥".encode("gb18030"), "gb2312"),
        ("𠮷祥", "𠮷祥".encode("gb18030"), "GBK"),
        ("שלום", "שלום".encode("iso8859-8"), "ISO-8859-8-I"),
        ("ไทย", "ไทย".encode("cp874"), "iso-8859-11"),
        ("файл", "файл".encode("cp1251"), "x-cp1251"),
        ("łódź", "łódź".encode("iso8859-2"), "iso88592"),
        ("한국", "한국".encode("cp949"), "windows-949"),
        ("café", b"\xef\xbb\xbf" + "café".encode(), "koi8-r"),
        ("café", b"\xff\xfe" + "café".encode("utf-16-le"), "utf-8"),
        ("café", b"\xfe\xff" + "café".encode("utf-16-be"), None),
        ("café", "café".encode("utf-16-le"), "utf-16-le"),
        ("caf\ufffd", b"caf\xe9", "utf-8"),
        ("café", "café".encode(), "no-such-charset"),
        ("café", "café".encode(), "\x00"),
        ("café", "café".encode(), "base64"),
        ("café", "café".encode(), "rot13"),
        ("café", "café".encode(), "unicode_escape"),
        ("café", "café".encode(), "undefined"),
        ("café", "café".encode(), "UTF-7"),
        ("", b"", None),
        ("", b"", "utf-16"),
    ],
)
def test_bodies_are_decoded_as_browsers_do(expected: str, body: bytes, charset: str | None) -> None:
    """Byte order mark, then header; what is no charset counts as not said."""
    assert decode_body(body, charset) == expected


@pytest.mark.parametrize(
    ("word", "declared", "encoding"),
    [
        ("файл", '<meta charset="koi8-r">', "koi8-r"),
        ("файл", "<META CHARSET = koi8-r >", "koi8-r"),
        ("файл", '<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">', "koi8-r"),
        ("café", "<meta charset=iso-8859-1>", "cp1252"),
        ("café", "<meta charset=utf-16>", "utf-8"),
        ("café", "<meta charset=nonsense>", "utf-8"),
        ("café", "<meta name=charset content=koi8-r>", "utf-8"),
    ],
)
def test_a_meta_tag_counts_where_the_header_is_silent(
    word: str, declared: str, encoding: str
) -> None:
    """But a page whose meta tag can be read is not in UTF-16."""
    body = f"<html><head>{declared}</head><body>".encode() + word.encode(encoding)

    assert decode_body(body, None).endswith(word)


def test_a_header_counts_before_the_meta_tag_and_that_only_near_the_top() -> None:
    """As the standard has it: the first 1024 bytes; twice that here."""
    body = "<meta charset=koi8-r>файл".encode()
    late = b" " * 3000 + "<meta charset=koi8-r>файл".encode()

    assert decode_body(body, "utf-8").endswith("файл")
    assert decode_body(late, None).endswith("файл")


@pytest.mark.slow
@given(st.binary(max_size=300), st.none() | st.text(max_size=20))
def test_no_bytes_and_no_charset_break_it(body: bytes, charset: str | None) -> None:
    """There is always a text."""
    assert isinstance(decode_body(body, charset), str)


@pytest.mark.parametrize("charset", ["punycode", "idna"])
@pytest.mark.timeout(20)
def test_codecs_that_take_quadratic_time_are_not_used(charset: str) -> None:
    """A header must not keep the extractor busy for hours."""
    assert decode_body(b"a-" + b"b9" * 1_000_000, charset).startswith("a-b9")
