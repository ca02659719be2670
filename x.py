#!/usr/bin/env python3
"""Set up this checkout and run it: needs Python 3.11 or newer with pip, nothing else.

    python3 x.py run            set up, then the main job: recrawl demo
    python3 x.py test           set up, then the quick tests
    python3 x.py check          set up, then everything that CI checks except the slow tests
    python3 x.py docs           set up, then build the documentation and serve it
    python3 x.py exec CMD ...   set up, then any command of the environment
    python3 x.py lock           resolve requirements.lock anew (the only step that chooses versions)

Everything lands in two folders of the checkout, .tools (uv) and .venv; delete them to start anew.
"""

import hashlib
import os
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
TOOLS = ROOT / ".tools"
VENV = ROOT / ".venv"
LOCK = ROOT / "requirements.lock"
UV_VERSION = "0.13.8"
TESTS = ("python", "-m", "pytest", "-m", "not slow", "-n", "auto", "--dist", "loadfile")
EXTRAS = (
    "decisions", "plots", "warc", "markdown", "browser", "dask", "languages", "postgresql",
    "scrapy", "urlfrontier", "build", "test", "lint", "docs",
)  # fmt: skip

# Bytecode must be written, or every start compiles every import anew (0.45 s instead of 0.17 s).
ENV = {
    name: value
    for name, value in os.environ.items()
    if name not in {"PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME"}
}
ENV["RECRAWL_CALLED_AS"] = f"python3 {sys.argv[0]} exec recrawl"
ENV["PATH"] = f"{VENV / 'bin'}{os.pathsep}{ENV.get('PATH', '')}"


def call(*command: str) -> None:
    """Run a step; its own output explains a failure."""
    code = subprocess.run(
        [str(part) for part in command], cwd=ROOT, env=ENV, check=False
    ).returncode
    if code:
        sys.exit(code)


def uv() -> str:
    """Return the path of uv, fetched with pip the first time."""
    found = TOOLS / "bin" / "uv"
    stamp = TOOLS / f".uv-{UV_VERSION}"
    if not (found.exists() and stamp.exists()):
        pip = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade")
        quiet = ("--root-user-action=ignore",)
        call(sys.executable, *pip, *quiet, "--target", str(TOOLS), f"uv=={UV_VERSION}")
        stamp.touch()
    return str(found)


def set_up() -> None:
    """Make .venv hold exactly what the lock file names, and recrawl itself, editable."""
    inputs = LOCK.read_bytes() + (ROOT / "pyproject.toml").read_bytes() + sys.version.encode()
    key = hashlib.sha256(inputs).hexdigest()
    stamp = VENV / ".stamp"
    if stamp.exists() and stamp.read_text() == key:
        return
    print("setting up .venv from requirements.lock ...", file=sys.stderr, flush=True)
    python = str(VENV / "bin" / "python")
    if not Path(python).exists():
        call(uv(), "venv", "--quiet", "--python", sys.executable, str(VENV))
    call(uv(), "pip", "sync", "--quiet", "--require-hashes", "--python", python, str(LOCK))
    editable = ("--no-deps", "--no-build-isolation", "--python", python, "-e", str(ROOT))
    call(uv(), "pip", "install", "--quiet", *editable)
    stamp.write_text(key)


def lock() -> None:
    """Resolve every extra for every supported Python into one file without any host in it."""
    extras = [part for extra in EXTRAS for part in ("--extra", extra)]
    flags = ("--universal", "--generate-hashes", "--no-header", "--no-annotate", "--quiet")
    call(uv(), "pip", "compile", "pyproject.toml", *extras, *flags, "-o", str(LOCK))


def main(arguments: list[str]) -> None:
    """Do what the first argument says."""
    if sys.version_info < (3, 11):
        sys.exit(f"recrawl needs Python 3.11 or newer; this is {sys.version.split()[0]}")
    verb, rest = (arguments[0], arguments[1:]) if arguments else ("help", [])
    if verb == "lock":
        return lock()
    commands = {
        "run": ["recrawl", "demo", *rest],
        "test": [*TESTS, *rest],
        "check": ["bash", "-c", f"bash .ci/check && {shlex.join(TESTS)}"],
        "docs": ["python", str(ROOT / "docs" / "serve.py"), *rest],
        "exec": rest,
    }
    if verb not in commands or not commands[verb]:
        sys.exit(__doc__)
    set_up()
    command = commands[verb]
    os.chdir(os.environ.get("RECRAWL_CWD", ROOT) if verb != "exec" else os.getcwd())
    os.execvpe(command[0], command, ENV)
    return None


if __name__ == "__main__":
    main(sys.argv[1:])
