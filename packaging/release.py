"""The check-list of a release: `python3 x.py exec python packaging/release.py 0.2.0`.

Each step says what it found, the first that fails ends it, and nothing is published: the last
lines are the commands that publish, for a person to type.
"""

import argparse
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
NEEDED = ("recrawl/py.typed", "recrawl/crawler/frontier/sql/schema.sql", "licenses/LICENSE")


class Wrong(Exception):
    """A step failed; the message says what to do."""


def run(*command: str | Path) -> str:
    """Run a command of the checkout, and return what it wrote."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Wrong(f"{' '.join(map(str, command))}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def tree_is_clean(_: str) -> str:
    """Nothing is built that is not committed."""
    if changed := run("git", "status", "--porcelain"):
        raise Wrong(f"commit or remove:\n{changed}")
    return run("git", "rev-parse", "--short", "HEAD").strip()


def versions_agree(version: str, root: Path = ROOT) -> str:
    """The metadata, the package and the change log say the version; the change log a date."""
    if not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", version):
        raise Wrong(f"{version} is no version such as 0.2.0 or 0.2.0rc1")
    said = re.search(r'^version = "(.+)"', (root / "pyproject.toml").read_text(), re.MULTILINE)
    if said is None or said[1] != version:
        raise Wrong(f"pyproject.toml says {said and said[1]}, not {version}")
    own = (root / "src" / "recrawl" / "version.py").read_text()
    if f'VERSION: Final = "{version}"' not in own:
        raise Wrong(f"src/recrawl/version.py does not say {version}")
    heading = rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$"
    if not re.search(heading, (root / "CHANGELOG.md").read_text(), re.MULTILINE):
        raise Wrong(f"CHANGELOG.md lacks a heading such as: ## {version} (2027-01-31)")
    return version


def lock_is_current(_: str) -> str:
    """The lock file is what pyproject.toml asks for."""
    before = (ROOT / "requirements.lock").read_bytes()
    run(sys.executable, "x.py", "lock")
    if (ROOT / "requirements.lock").read_bytes() != before:
        raise Wrong("requirements.lock was out of date; look at it, test and commit it")
    return f"{before.count(b'==')} packages"


def checks_pass(_: str) -> str:
    """Everything that CI runs, the slow tests too."""
    run("bash", ".ci/run")
    return "all of .ci/run"


def archives_are_whole(version: str) -> str:
    """The archives are built, and hold what they must."""
    for old in (ROOT / "dist").glob("*"):
        old.unlink()
    run(sys.executable, "-m", "hatchling", "build")
    wheel = ROOT / "dist" / f"recrawl-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as opened:
        names = opened.namelist()
    missing = [part for part in NEEDED if not any(name.endswith(part) for name in names)]
    if missing or any(name.startswith(("tests/", "bench/")) for name in names):
        raise Wrong(f"{wheel.name} lacks {missing} or holds tests")
    with tarfile.open(ROOT / "dist" / f"recrawl-{version}.tar.gz") as source:
        if f"recrawl-{version}/tests/test_docs.py" not in source.getnames():
            raise Wrong("the sdist lacks its tests")
    return f"{wheel.name}, {len(names)} files"


def pythons_are_served(version: str) -> str:
    """For every Python that is promised there are wheels of all that the crawler needs."""
    uv = ROOT / ".tools" / "bin" / "uv"
    wheel = ROOT / "dist" / f"recrawl-{version}-py3-none-any.whl"
    for python in PYTHONS:
        for extras in ("", "[all]"):
            needs = ROOT / "dist" / "needs.txt"
            needs.write_text(f"recrawl{extras} @ {wheel.as_uri()}\n")
            try:
                flags = ("--only-binary", ":all:", "--no-binary", "feedparser-sgmllib", "--quiet")
                run(uv, "pip", "compile", *flags, "--python-version", python, needs)
            finally:
                needs.unlink()
    return ", ".join(PYTHONS)


def wheel_works(version: str) -> str:
    """The wheel crawls, searches and plans from empty environments, by uv and by pip."""
    wheel = ROOT / "dist" / f"recrawl-{version}-py3-none-any.whl"
    told = [
        run(sys.executable, "packaging/smoke.py", wheel, "--installer", installer)
        for installer in ("uv", "pip")
    ]
    return " / ".join(line for text in told for line in text.splitlines() if "MB" in line)


STEPS: tuple[Callable[[str], str], ...] = (
    versions_agree,
    tree_is_clean,
    lock_is_current,
    archives_are_whole,
    pythons_are_served,
    wheel_works,
    checks_pass,
)


def main() -> None:
    """Go through the steps."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version")
    parser.add_argument("--only", nargs="*", choices=[step.__name__ for step in STEPS])
    given = parser.parse_args()
    for step in STEPS:
        if given.only and step.__name__ not in given.only:
            continue
        print(f"{(step.__doc__ or '').strip()} ...", flush=True)
        try:
            print(f"    {step(given.version)}", flush=True)
        except Wrong as wrong:
            sys.exit(f"    {step.__name__}: {wrong}")
    print(
        f"\nNow, by hand:\n  git tag -s v{given.version} -m 'recrawl {given.version}'\n"
        "  git push --tags\n  python -m twine upload dist/*   # asks for your token"
    )


if __name__ == "__main__":
    main()
