"""What a page says, read in this process: for programs that fetch by themselves."""

from functools import cache

from recrawl.crawler.fetch.extract import PageExtractor
from recrawl.crawler.fetch.signature import raw_hash
from recrawl.terms import INDEXABLE, FetchResponse

__all__ = ["text_signature"]


@cache
def _extractor() -> PageExtractor:
    return PageExtractor("recrawl")


def text_signature(url: str, body: bytes, content_type: str) -> bytes:
    """Return the signature of a page's main text; of its body, where it is none that can be read.

    Parameters
    ----------
    url : of the page
    body : decompressed
    content_type : the header, such as ``text/html; charset=utf-8``
    """
    kind, _, rest = content_type.partition(";")
    kind = kind.strip().lower() or "text/html"
    if kind not in INDEXABLE:
        return raw_hash(body)
    charset = rest.partition("charset=")[2].split(";")[0].strip(" \"'") or None
    answer = FetchResponse(url=url, status=200, body=body, content_type=kind, charset=charset)
    return _extractor().page(answer).signature or raw_hash(body)
