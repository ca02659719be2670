"""Stock applications crawled with what `recrawl init` would do; judged by their server's log.

    python bench/applications.py [--pages 200]

DokuWiki as Debian packages it (`apt-get install dokuwiki php-cli php-xml php-mbstring`), behind
PHP's own server, filled with pages that link to each other; skipped where it is not there.

Bars: every content page is fetched and found; at most 15 % of the requests of the first pass go to
anything else; none of the pages that are found says what another says.
"""

import argparse
import contextlib
import json
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

PACKAGED = Path("/usr/share/dokuwiki")


@contextlib.contextmanager
def dokuwiki(folder: Path, n_pages: int) -> Iterator[tuple[str, Path]]:
    """Serve a wiki; yield its address and the server's log."""
    root, log = folder / "wiki", folder / "server.log"
    shutil.copytree(PACKAGED, root, symlinks=False)
    (root / "inc" / "preload.php").unlink(missing_ok=True)
    shutil.copytree(
        "/etc/dokuwiki", root / "conf", dirs_exist_ok=True, ignore_dangling_symlinks=True
    )
    data = root / "data"
    for name in "pages attic cache index locks media media_attic media_meta meta tmp log".split():
        (data / name).mkdir(parents=True, exist_ok=True)
    (root / "conf" / "local.php").write_text(
        "<?php $conf['indexdelay']=0; $conf['useacl']=0; $conf['license']=''; "
        f"$conf['savedir']='{data}';"
    )
    links = "\n".join(f"  * [[page{number}]]" for number in range(n_pages))
    (data / "pages" / "start.txt").write_text(f"====== Start ======\nWelcome.\n{links}")
    for number in range(n_pages):
        (data / "pages" / f"page{number}.txt").write_text(
            f"====== Page {number} ======\n"
            f"The text of page {number}, about word{number * 7919}.\n\n"
            f"See [[page{(31 * number + 7) % n_pages}]] and [[start]].\n"
        )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with log.open("wb") as out:
        server = subprocess.Popen(
            ["php", "-S", f"127.0.0.1:{port}", "-t", str(root)], stdout=out, stderr=out
        )
        try:
            while True:
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                    break
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}/doku.php?id=start", log
        finally:
            server.terminate()
            server.wait()


def crawl(folder: Path, home: str) -> list[str]:
    """Crawl it once; return the signatures of what was indexed, as text."""
    (folder / "recrawl.toml").write_text(
        f'seeds = ["{home}"]\ncontact = "mailto:bench@site.test"\nbudget = "50/s"\n'
        '[politeness]\ndelay = "20ms"\nallow_private = ["127.0.0.1"]\n'
        '[plan]\nfirst_pass = "polite"\n'
    )
    run = [sys.executable, "-m", "recrawl"]
    subprocess.run([*run, "run", "--once", "-q"], cwd=folder, check=True)
    said = subprocess.run(
        [*run, "search", "--json", "-n", "1000", "text"],
        cwd=folder,
        capture_output=True,
        check=True,
    )
    return [hit["url"] for hit in json.loads(said.stdout)["hits"]]


def main() -> None:
    """Crawl and count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=200)
    n_pages = parser.parse_args().pages
    if not PACKAGED.is_dir() or shutil.which("php") is None:
        print("skipped: dokuwiki or php-cli is not installed")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with dokuwiki(folder, n_pages) as (home, log):
            found = crawl(folder, home)
            asked = re.findall(rb"GET (\S+)", log.read_bytes())
    content = {url for url in asked if re.fullmatch(rb"/doku\.php\?id=(page\d+|start)", url)}
    other = len(asked) - len(content)
    print(f"content pages fetched {len(content)} of {n_pages + 1}")
    print(f"requests {len(asked)}, to anything else {other} ({other / len(asked):.1%}; bar 15 %)")
    print(f"pages found by a word of all of them: {len(found)} (bar {n_pages})")
    if len(content) < n_pages + 1 or other > 0.15 * len(asked) or len(set(found)) < n_pages:
        sys.exit("a bar was missed")


if __name__ == "__main__":
    main()
