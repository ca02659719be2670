"""What some hosts are sent besides: to them alone, never in clear unless that is said."""

import asyncio
from http.cookiejar import MozillaCookieJar
from pathlib import Path

import pytest
from tests.acceptance.servers import Exchange, serving

from recrawl.crawler.fetch.host_headers import HostHeaders, HostRule
from recrawl.crawler.fetch.http import HttpFetcher, Proxy
from recrawl.crawler.settings import Settings
from recrawl.crawler.settings.values import AccessSettings
from recrawl.crawler.wiring.access import host_headers
from recrawl.errors import FetchError, InvalidSettings

SECRET = "c0rrect-horse"


def rules(in_clear: bool = False) -> HostHeaders:
    """Return headers for wiki.test alone."""
    secret = {"Authorization": f"Bearer {SECRET}"}
    return HostHeaders(
        [HostRule(("wiki.test", "*.wiki.test"), {"X-Api": "2"}, secret, None, in_clear)],
        {"Accept-Language": "de"},
    )


def test_nobody_else_is_sent_a_secret() -> None:
    """By host, not by what stands elsewhere in an address."""
    assert rules().of("https://wiki.test/a")["Authorization"] == f"Bearer {SECRET}"
    assert rules().of("https://de.wiki.test:8443/a")["X-Api"] == "2"
    for url in (
        "https://evil.test/wiki.test",
        "https://wiki.test.evil.test/",
        "https://evilwiki.test/",
        "https://evil.test/?u=https://wiki.test/",
    ):
        assert rules().of(url) == {"Accept-Language": "de"}


def test_a_secret_does_not_go_in_clear() -> None:
    """The page fails instead, with what to do about it, and without the secret."""
    with pytest.raises(FetchError, match="in_clear") as told:
        rules().of("http://wiki.test/a")
    assert told.value.kind == "unencrypted"
    assert SECRET not in str(told.value)
    assert rules(in_clear=True).of("http://wiki.test/a")["Authorization"].endswith(SECRET)
    assert SECRET not in repr(HostRule(("a.test",), {}, {"X": SECRET}))


def test_cookies_keep_to_their_domain_and_path(tmp_path: Path) -> None:
    """As the file says, which is in the format that browsers export."""
    file = tmp_path / "cookies.txt"
    rows = [
        ("wiki.test", "FALSE", "/docs", "TRUE", "4102444800", "session", "s1"),
        ("wiki.test", "FALSE", "/", "TRUE", "1", "old", "gone"),
        ("other.test", "FALSE", "/", "TRUE", "4102444800", "other", "x"),
    ]
    lines = ["# Netscape HTTP Cookie File", *("\t".join(row) for row in rows)]
    file.write_text("\n".join(lines) + "\n")
    jar = MozillaCookieJar(str(file))
    jar.load(ignore_discard=True)
    headers = HostHeaders([HostRule(("*.test",), cookies=jar)])
    assert headers.of("https://wiki.test/docs/a")["Cookie"] == "session=s1"
    assert "Cookie" not in headers.of("https://wiki.test/b")


@pytest.mark.parametrize("host", ["wiki.test", "wiki", "localhost", "127.0.0.1"])
def test_cookies_of_a_session_are_sent_as_curl_writes_them(tmp_path: Path, host: str) -> None:
    """Their time is 0, and hosts of one word are hosts."""
    (tmp_path / "jar").write_text(
        "# Netscape HTTP Cookie File\n"
        f"#HttpOnly_{host}\tFALSE\t/\tFALSE\t0\tsession\ts1\n"
        f"{host}\tFALSE\t/\tFALSE\t1\told\tgone\n"
    )
    access = AccessSettings(("*",), cookies_file=tmp_path / "jar", in_clear=True)
    headers = host_headers(Settings(["https://a.test/"], "mailto:me@a.test", access=(access,)))
    assert headers.of(f"http://{host}:8080/a")["Cookie"] == "session=s1"
    assert "Cookie" not in headers.of("http://other/a")


@pytest.mark.parametrize(
    ("secret_as", "text", "sent"),
    [
        ("bearer", "abc", {"Authorization": "Bearer abc"}),
        ("basic", "me:pass:word", {"Authorization": "Basic bWU6cGFzczp3b3Jk"}),
        ("X-Api-Key", " abc\n", {"X-Api-Key": "abc"}),
    ],
)
def test_secrets_come_from_files(
    tmp_path: Path, secret_as: str, text: str, sent: dict[str, str]
) -> None:
    """Or from the environment; the configuration only names them."""
    (tmp_path / "s").write_text(text)
    access = AccessSettings(("a.test",), secret_as=secret_as, secret_file=tmp_path / "s")
    settings = Settings(["https://a.test/"], "mailto:me@a.test", access=(access,))
    assert host_headers(settings).of("https://a.test/") == sent


@pytest.mark.parametrize("text", ["", "a\nb: c", "a\x00b", "\u00e4", "x" * 9000])
def test_what_is_no_secret_is_refused(tmp_path: Path, text: str) -> None:
    """A line break in it would be another header; and the message does not hold it."""
    (tmp_path / "s").write_text(text)
    access = AccessSettings(("a.test",), secret_as="X-Key", secret_file=tmp_path / "s")
    settings = Settings(["https://a.test/"], "mailto:me@a.test", access=(access,))
    with pytest.raises(InvalidSettings, match="access, a") as told:
        host_headers(settings)
    assert not text or text not in str(told.value)


def test_a_proxy_is_asked_and_not_for_private_addresses() -> None:
    """Whoever may have a private address is asked directly; others through the proxy alone."""

    async def main() -> tuple[list[str], list[str]]:
        seen: list[str] = []
        direct: list[str] = []

        async def answer(exchange: Exchange) -> None:
            is_proxied = exchange.path.startswith("http://")
            (seen if is_proxied else direct).append(
                f"{exchange.path} {exchange.headers.get('proxy-authorization', '-')}"
            )
            await exchange.reply(b"<p>here")

        with serving(answer) as server:
            proxy = Proxy(f"http://127.0.0.1:{server.port}", ("me", "pw"))
            async with HttpFetcher(
                user_agent="suite", allow_private=["near.localhost"], proxy=proxy
            ) as fetcher:
                assert (await fetcher.fetch("http://public.test/a")).status == 200
                await fetcher.fetch(f"http://near.localhost:{server.port}/b")
                for url in ("http://10.0.0.1/", "http://localhost/", "http://[::1]/"):
                    with pytest.raises(FetchError, match="allow_private"):
                        await fetcher.fetch(url)
        return seen, direct

    seen, direct = asyncio.run(main())
    assert seen == ["http://public.test/a Basic bWU6cHc="]
    assert direct == ["/b -"]
