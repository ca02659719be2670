"""The configuration that `recrawl init` writes."""

import contextlib
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
    assert f'url = "{url.rpartition("/")[0]}/feed.xml"' in written


def test_a_full_disk_costs_no_configuration(
    small_disk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """None is overwritten by half of another, and no empty one is left in the way."""
    (small_disk / "mine.toml").write_text("seeds = []")
    with contextlib.suppress(OSError), (small_disk / "filler").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))

    for name, more in (("new.toml", []), ("mine.toml", ["--force"])):
        with pytest.raises(SystemExit) as ended:
            main(["init", "http://a.test/", "--out", str(small_disk / name), *more])
        assert ended.value.code == 1
        assert "No space left on device" in capsys.readouterr().err

    assert sorted(path.name for path in small_disk.iterdir()) == ["filler", "mine.toml"]
    assert (small_disk / "mine.toml").read_text() == "seeds = []"
