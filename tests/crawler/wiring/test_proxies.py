"""Proxies that the environment names, which are not asked."""

from pathlib import Path

import pytest

from recrawl.crawler.settings import Settings
from recrawl.crawler.wiring.access import unheeded_proxies


@pytest.mark.parametrize(
    ("variable", "proxy", "allow_private", "n_told"),
    [
        ("https_proxy", "", (), 1),
        ("HTTP_PROXY", "", (), 1),
        ("NO_PROXY", "", (), 0),
        ("https_proxy", "http://proxy.lan:3128", (), 0),
        ("https_proxy", "", ("*.site.test",), 0),
    ],
)
def test_whoever_names_a_proxy_where_it_counts_for_nothing_is_told(
    variable: str,
    proxy: str,
    allow_private: tuple[str, ...],
    n_told: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every host seemed to be away, and nothing said why."""
    for name in (
        "HTTPS_PROXY",
        "HTTP_PROXY",
        "ALL_PROXY",
        "https_proxy",
        "http_proxy",
        "all_proxy",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, "http://proxy.lan:3128")
    settings = Settings(
        ("https://www.site.test:8443/",),
        "mailto:ops@site.test",
        Path("state"),
        proxy=proxy,
        allow_private=allow_private,
    )

    assert len(unheeded_proxies(settings)) == n_told
