"""The configuration that `recrawl init` writes."""

from pathlib import Path

import pytest

from recrawl.cli import main


@pytest.mark.parametrize(
    ("url", "host", "below"),
    [
        ("https://docs.site.test/a", "docs.site.test", "*.docs.site.test"),
        ("http://127.0.0.1:8000/", "127.0.0.1:8000", "*.example.org"),
        ("http://[::1]:8000/", "[::1]:8000", "*.example.org"),
        ("http://localhost/", "localhost", "*.example.org"),
    ],
)
def test_hosts_below_are_shown_by_a_name_that_has_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, host: str, below: str
) -> None:
    """There is nothing below an address."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["init", url, "--contact", "mailto:me@site.test"])

    assert ended.value.code == 0
    written = (tmp_path / "recrawl.toml").read_text()
    assert f'# hosts = ["{host}"]' in written
    assert f'"{below}" for all below one' in written
