"""Conformance tests for every way of getting and reading pages: fetchers and extractors."""

import asyncio
import contextlib
from contextlib import AbstractAsyncContextManager

import pytest

from recrawl.crawler.ports import Extractor, Fetcher
from recrawl.errors import FetchError
from recrawl.terms import FetchResponse

HOST = "http://a.test"


class FetcherSuite:
    """Conformance tests for every fetcher."""

    def opened(self) -> AbstractAsyncContextManager[tuple[Fetcher, str]]:
        """Give a fetcher, and the address of an HTML page.

        The page has an entity tag and at least 200 bytes; a letter more in its address, and
        nothing is there.
        """
        raise NotImplementedError

    def _fetch(self, suffix: str = "", **options: object) -> FetchResponse:
        async def main() -> FetchResponse:
            async with self.opened() as (fetcher, url):
                return await fetcher.fetch(url + suffix, **options)  # type: ignore[arg-type]

        return asyncio.run(main())

    def test_a_page_comes_whole(self) -> None:
        """With what is needed to read it, and to ask for it again."""
        response = self._fetch()

        assert (response.status, response.content_type) == (200, "text/html")
        assert len(response.body) >= 200
        assert response.etag
        assert not response.truncated

    def test_an_unchanged_page_brings_no_body(self) -> None:
        """The validator of the copy at hand makes the request conditional."""

        async def main() -> tuple[int, bytes]:
            async with self.opened() as (fetcher, url):
                first = await fetcher.fetch(url)
                again = await fetcher.fetch(url, etag=first.etag)
                return again.status, again.body

        assert asyncio.run(main()) == (304, b"")

    def test_what_is_not_there_is_an_answer(self) -> None:
        """The core decides what a 404 means."""
        assert self._fetch("x").status == 404

    def test_a_page_is_a_page(self) -> None:
        """Whoever wants pages only gets them whole."""
        assert len(self._fetch(pages_only=True).body) >= 200

    def test_a_body_beyond_the_bound_is_not_read(self) -> None:
        """It fails in the one word that the core knows."""
        with pytest.raises(FetchError) as failure:
            self._fetch(max_bytes=100)

        assert failure.value.kind == "too-large"

    def test_a_body_may_be_cut_at_the_bound(self) -> None:
        """As robots.txt is."""
        response = self._fetch(max_bytes=100, truncate=True)

        assert len(response.body) == 100
        assert response.truncated


class ExtractorSuite:
    """Conformance tests for every extractor."""

    def make(self) -> Extractor:
        """Return an extractor."""
        raise NotImplementedError

    @pytest.mark.parametrize(
        "body",
        [b"", b"\0\xff\xfe", b"<", b"<html><a href='http://['>", b"<!DOCTYPE x [", b"\x1f\x8b"],
    )
    async def test_no_bytes_break_it(self, body: bytes) -> None:
        """Whatever a server calls a page, a sitemap or a feed."""
        response = FetchResponse(HOST + "/", 200, body, "text/html")

        with contextlib.closing(self.make()) as extractor:
            assert (await extractor.page(response)).links == ()
            assert await extractor.sitemap(response) == ([], [])
            assert await extractor.feed(response) == []

    async def test_a_page_is_understood(self) -> None:
        """Its title, its text, and its links in full."""
        html = b"<title>Owls</title><main>They fly. <a href='/night#x'>more</a></main>"

        response = FetchResponse(HOST + "/", 200, html, "text/html")
        with contextlib.closing(self.make()) as extractor:
            found = await extractor.page(response)
            assert extractor.at_once(response) in (found, None)

        assert found.title == "Owls"
        assert "They fly." in found.text
        assert found.links == (HOST + "/night",)

    def test_equal_bodies_have_equal_hashes(self) -> None:
        """And others have others."""
        extractor = self.make()

        assert extractor.raw_hash(b"a") == extractor.raw_hash(b"a") != extractor.raw_hash(b"b")
