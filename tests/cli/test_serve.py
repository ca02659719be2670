"""What `recrawl serve` and `recrawl run` refuse, in one message; and where they listen."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest
from tests.acceptance.command import ENV, write_config
from tests.web.state import stories, write_state

from recrawl.cli import main
from recrawl.web.listening import bind, origin_of

CONFIG = 'seeds = ["https://docs.example.org/"]\ncontact = "mailto:test@localhost"\n'


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    assert ended.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--port", "70000"), "--port: 70000 must be between 0 and 65535"),
        (("--listen", "example.org"), "--listen: 'example.org' is no address"),
        (("--listen", "0.0.0.0"), "needs a token"),
        (("--listen", "203.0.113.7", "--token-file", "TOKEN"), "no address of this machine"),
        (("--token-file", "nowhere"), "--token-file: nowhere cannot be read"),
        (("--token-file", "SHORT"), "a token needs at least 16"),
        (("--token-file", "OPEN"), "may be read by others (mode 0644)"),
    ],
)
def test_bad_options_are_named(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    words: str,
) -> None:
    """And nothing is opened to others without a token."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "TOKEN").write_text("correct-horse-battery\n")
    (tmp_path / "SHORT").write_text("short\n")
    (tmp_path / "OPEN").write_text("correct-horse-battery\n")
    (tmp_path / "OPEN").chmod(0o644)
    for name in ("TOKEN", "SHORT"):
        (tmp_path / name).chmod(0o600)

    assert words in complaint(capsys, "serve", "--state", str(tmp_path), *options)


def test_a_short_token_in_the_environment_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one in a file is."""
    monkeypatch.setenv("RECRAWL_TOKEN", "short")

    assert "RECRAWL_TOKEN" in complaint(capsys, "serve", "--state", str(tmp_path))


def test_a_directory_that_is_not_there_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """An empty one may get a crawl yet; a missing one is a slip of the pen."""
    assert "is no directory" in complaint(capsys, "serve", "--state", str(tmp_path / "x"))


@pytest.mark.parametrize("verb", ["serve", "run"])
def test_a_port_in_use_is_named(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    verb: str,
) -> None:
    """Before anything is crawled."""
    monkeypatch.chdir(tmp_path)
    write_config(tmp_path, CONFIG)
    (tmp_path / "recrawl-state").mkdir()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        more = ["--serve"] if verb == "run" else []
        told = complaint(capsys, verb, *more, "--port", str(port))

    assert told == (
        f"recrawl: --port: {port} on 127.0.0.1 is in use; choose another with --port, or 0 for any "
        "that is free\n"
    )


@pytest.mark.parametrize(
    ("option", "value"), [("--budget", "0/h"), ("--delay", "soon"), ("--starvation-weight", "-1")]
)
def test_what_replaces_the_configuration_is_checked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, option: str, value: str
) -> None:
    """As the configuration is."""
    config = write_config(tmp_path, CONFIG)

    assert option in complaint(capsys, "run", str(config), option, value)


def test_addresses_are_told_as_people_type_them() -> None:
    """Every address of this machine is reached as localhost."""
    for address, origin in (("127.0.0.1", "http://127.0.0.1"), ("0.0.0.0", "http://localhost")):
        with bind(address, 0) as listener:
            assert origin_of(listener) == f"{origin}:{listener.getsockname()[1]}"


def test_it_ends_with_the_crawl_that_started_it(tmp_path: Path) -> None:
    """A crawl that is killed leaves no server behind: its end of the pipe closes."""
    write_state(tmp_path, stories(1))
    command = [sys.executable, "-m", "recrawl", "serve", "--state", str(tmp_path)]
    process = subprocess.Popen(
        [*command, "--port", "0", "--until-eof"],
        stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENV,
    )  # fmt: skip
    with process:
        assert process.stderr is not None
        assert process.stdin is not None
        assert process.stderr.readline().startswith("Look at http://127.0.0.1:")
        process.stdin.close()
        assert process.wait(30) == 0
