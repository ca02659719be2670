"""What git recorded is read as it was; a hostile repository runs nothing."""

from pathlib import Path

import pytest
from tests.simulation.recorded.repository import DAY_S, START_S, Repository, made_repository

from recrawl.errors import InputError
from recrawl.simulation.recorded.git import Blobs, read_log


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    """Ten days of a small site."""
    return made_repository(tmp_path / "repo")


def test_changes_births_deaths_and_moves_are_those_of_the_commits(repo: Repository) -> None:
    """Each file's instants, what it held from then on, and where it went."""
    log = read_log(repo.path, renames=True)

    days = {path: [(at - START_S) / DAY_S for at in file.at_s] for path, file in log.files.items()}
    assert days == {
        "docs/a.md": [0, 1, 2, 10],
        "docs/b.md": [0, 3, 5],
        "index.html": [0],
        "docs/c.rst": [2, 4],
        "docs/d.rst": [4],
        "code.py": [6],
    }
    assert [blob is None for blob in log.files["docs/b.md"].blobs] == [False, True, False]
    assert list(log.files["docs/c.rst"].moved_to.values()) == ["docs/d.rst"]
    assert log.end_s == START_S + 10 * DAY_S
    assert log.n_left_out == 0

    blobs = Blobs(repo.path, 1000)
    texts = [blobs.read(blob) for blob in log.files["docs/a.md"].blobs if blob]
    blobs.close()
    assert texts == [
        b"# A\n\nfirst [b](b.md)\n",
        *(b"# A\n\n%s\n" % n for n in (b"second", b"third", b"last")),
    ]


def test_names_links_and_submodules_that_no_page_can_be_are_left_out(repo: Repository) -> None:
    """Control signs in a name, a symbolic link out, another repository, folders in folders."""
    (repo.path / "two\nlines.md").write_text("x")
    (repo.path / "\x01bell.md").write_text("x")
    (repo.path / "out.md").symlink_to("/etc/passwd")
    deep = repo.path / "/".join("d" * 60)
    deep.mkdir(parents=True)
    (deep / "x.md").write_text("x")
    repo.git("add", "-A", day=11)
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub", day=11)
    repo.git("commit", "-q", "-m", "x", day=11)

    log = read_log(repo.path)

    assert log.n_left_out == 5
    assert not {"out.md", "sub", "two\nlines.md"} & set(log.files)


def test_a_commit_of_many_files_is_read_as_it_comes(repo: Repository) -> None:
    """More than one piece of git's output, names and numbers cut by its ends."""
    for n in range(3_000):
        (repo.path / f"file-with-a-rather-long-name-{n:05}.md").write_text(str(n))
    repo.git("add", "-A", day=11)
    repo.git("commit", "-q", "-m", "x", day=11)

    log = read_log(repo.path)

    new = [file for path, file in log.files.items() if path.startswith("file-with")]
    assert len(new) == 3_000
    assert {tuple(file.with_others) for file in new} == {(3_000,)}


def test_nothing_that_the_repository_says_is_run(repo: Repository, tmp_path: Path) -> None:
    """Hooks, filters, monitors, signature programs and helpers would leave a mark."""
    mark = tmp_path / "mark"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    for name, value in (
        ("core.fsmonitor", program),
        ("core.pager", program),
        ("log.showSignature", "true"),
        ("gpg.program", program),
        ("diff.external", program),
        ("diff.evil.textconv", program),
        ("filter.evil.smudge", program),
        ("core.sshCommand", program),
    ):
        repo.git("config", name, str(value))
    (repo.path / ".gitattributes").write_text("* diff=evil filter=evil\n")
    commit = repo.git("rev-parse", "HEAD").decode().strip()
    tree = repo.git("rev-parse", "HEAD^{tree}").decode().strip()
    signed = (
        f"tree {tree}\nparent {commit}\nauthor A <a@b.c> {START_S + 12 * DAY_S} +0000\n"
        f"committer A <a@b.c> {START_S + 12 * DAY_S} +0000\n"
        "gpgsig -----BEGIN PGP SIGNATURE-----\n \n -----END PGP SIGNATURE-----\n\nx\n"
    )
    made = repo.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=signed.encode())
    repo.git("update-ref", "refs/heads/main", made.decode().strip())

    log = read_log(repo.path, renames=True)
    blobs = Blobs(repo.path, 1000)
    read = [blobs.read(file.blobs[-1]) for file in log.files.values() if file.blobs[-1]]
    blobs.close()

    assert len(log.files) == 6
    assert all(read)
    assert not mark.exists()


def test_what_is_missing_damaged_or_too_large_is_nothing_and_the_rest_is_read(
    repo: Repository,
) -> None:
    """One process answers for all, and outlives each of these."""
    log = read_log(repo.path)
    lost, large, sound = (
        log.files[name].blobs[-1] for name in ("index.html", "code.py", "docs/a.md")
    )
    assert lost is not None
    assert large is not None
    assert sound is not None
    loose = repo.path / ".git" / "objects" / lost[:2] / lost[2:]
    loose.chmod(0o644)
    loose.write_bytes(b"no object")

    blobs = Blobs(repo.path, len(b"# A\n\nlast\n"))
    found = [blobs.read(one) for one in (lost, "0" * 40, large, sound)]
    blobs.close()

    assert found == [None, None, None, b"# A\n\nlast\n"]


def test_what_is_no_repository_is_said_in_one_line(tmp_path: Path) -> None:
    """A missing directory, and one that git knows nothing of."""
    with pytest.raises(InputError, match="no such directory"):
        read_log(tmp_path / "absent")
    with pytest.raises(InputError, match="git says"):
        read_log(tmp_path)
