"""A small repository made by git itself, with dates of its own."""

import os
import subprocess
from pathlib import Path

START_S = 1_700_000_000
DAY_S = 86_400


class Repository:
    """Commits at instants, in days since :data:`START_S`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str, day: float = 0.0, stdin: bytes | None = None) -> bytes:
        """Run git, with nothing of this machine's settings."""
        at = f"{START_S + int(day * DAY_S)} +0000"
        who = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@b.c"}
        who |= {"GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@b.c"}
        env = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, **who}
        env |= {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
        command = ["git", "-C", str(self.path), *arguments]
        return subprocess.run(
            command, env=env, check=True, input=stdin, stdout=subprocess.PIPE
        ).stdout

    def commit(self, day: float, **files: str | None) -> None:
        """Write files (None: remove) and commit; `__` in a name is a slash, `_` a dot."""
        for name, text in files.items():
            path = self.path / name.replace("__", "/").replace("_", ".")
            if text is None:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        self.git("add", "-A", day=day)
        self.git("commit", "-q", "--allow-empty", "-m", "x", day=day)


def made_repository(path: Path) -> Repository:
    """Ten days: pages that change, move, go and come back."""
    made = Repository(path)
    made.commit(0, docs__a_md="# A\n\nfirst [b](b.md)\n", docs__b_md="# B\n", index_html="<p>whole")
    made.commit(1, docs__a_md="# A\n\nsecond\n")
    made.commit(2, docs__c_rst="Title\n=====\n\ntext <b>\n", docs__a_md="# A\n\nthird\n")
    made.commit(3, docs__b_md=None)
    made.git("mv", "docs/c.rst", "docs/d.rst")
    made.commit(4)
    made.commit(5, docs__b_md="# B again\n")
    made.commit(6, code_py="print('<script>')\n")
    made.commit(10, docs__a_md="# A\n\nlast\n")
    return made
