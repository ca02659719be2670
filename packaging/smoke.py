"""Install the built wheel in empty environments and use it: `python packaging/smoke.py dist/*.whl`.

Bars: the crawler alone takes less than 250 MB; a site is crawled, searched and crawled again; the
demo ends well; what is not installed is named; `recrawl[all]` plans.
"""

import argparse
import http.server
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LARGEST_MB = 250.0
PAGES = {
    "/": "<title>Start</title><main>Begin here. <a href='/owl.html'>the owl</a></main>",
    "/owl.html": "<title>Owl</title><main>An owl sees in the dark.</main>",
}
ENV = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


class Site(http.server.BaseHTTPRequestHandler):
    """Two pages."""

    def do_GET(self) -> None:
        body = PAGES.get(self.path, "").encode()
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def installed(folder: Path, what: str, installer: str, python: str) -> float:
    """Make an environment that holds a requirement and what it needs; return its MB."""
    if installer == "pip":
        subprocess.run([python, "-m", "venv", folder], check=True)
        quiet = ("--quiet", "--disable-pip-version-check", "--no-compile")
        subprocess.run([folder / "bin" / "pip", "install", *quiet, what], env=ENV, check=True)
        # What made the environment is no part of it.
        away = ("uninstall", "--quiet", "-y", "setuptools", "pip")
        subprocess.run([folder / "bin" / "pip", *away], env=ENV, check=True)
    else:
        uv = ROOT / ".tools" / "bin" / "uv"
        subprocess.run([uv, "venv", "-q", "--python", python, folder], check=True)
        command = [uv, "pip", "install", "-q", "--python", folder / "bin" / "python", what]
        subprocess.run(command, check=True)
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_size for path in files) / 1e6


class Use:
    """The command of an environment, in a folder of its own."""

    def __init__(self, environment: Path, folder: Path) -> None:
        self.command, self.folder = environment / "bin" / "recrawl", folder
        folder.mkdir()

    def __call__(self, line: str, *, code: int = 0) -> str:
        done = subprocess.run(
            [self.command, *line.split()],
            cwd=self.folder, env=ENV, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        if done.returncode != code:
            sys.exit(f"recrawl {line} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        print(f"  recrawl {line}")
        return done.stdout + done.stderr


def crawl(use: Use) -> None:
    """Crawl a site, search it, crawl it again."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    site = f"http://127.0.0.1:{server.server_address[1]}/"
    use(f"init {site} --contact mailto:smoke@site.test --allow-private")
    use("run --once --quiet")
    assert "Owl" in use("search owl"), "the page is not found"
    use("run --for 1s --quiet")
    use("status")
    use("explain " + site)
    use("export pages --out pages.csv")
    server.shutdown()


def main() -> None:
    """Install, use, measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--installer", choices=("uv", "pip"), default="uv")
    parser.add_argument("--python", default=sys.executable, help="path of another one than this")
    given = parser.parse_args()
    wheel = given.wheel.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        alone = installed(folder / "alone", str(wheel), given.installer, given.python)
        print(f"recrawl alone, installed by {given.installer}: {alone:.0f} MB")
        use = Use(folder / "alone", folder / "work")
        assert wheel.name.split("-")[1] in use("--version")
        crawl(use)
        use("demo --seconds 5")
        assert "complete -F" in use("--show-completion bash")
        assert "recrawl[decisions]" in use("plan pages.csv --budget 1/d", code=2)
        whole = installed(folder / "all", f"{wheel}[all]", given.installer, given.python)
        print(f"recrawl[all]: {whole:.0f} MB")
        use = Use(folder / "all", folder / "more")
        (use.folder / "pages.csv").write_text("url,change_rate\n/a,2\n/b,0.1\n")
        use("plan pages.csv --budget 1/d --out plan.parquet --plot plan.png")
        use("order plan.parquet")
    if alone > LARGEST_MB:
        sys.exit(f"the crawler alone takes {alone:.0f} MB, more than {LARGEST_MB:.0f}")


if __name__ == "__main__":
    main()
