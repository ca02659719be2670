"""Stock applications crawled with what `recrawl init` would do; judged by their server's log.

    python bench/applications.py [NAME ...] [--pages 100] [--later 120]

DokuWiki, MediaWiki on SQLite, WordPress on MariaDB, gitweb and cgit, listings of Apache and nginx,
as Debian packages them; builds of Sphinx, MkDocs and Docusaurus, Roundup and Trac, as PyPI and npm
have them; a blog and a list in facets by small scripts: filled, crawled once, crawled on while
pages are edited through the application. What is not installed is skipped.

Bars: every content page is fetched and found; at most 15 % of the requests of the first pass go to
anything else; no page that is found says what another says; of later visits at least 80 % go to
pages that can change, and edits are found within twice the planned interval.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from application_builds import BUILDS
from application_sites import APPLICATIONS, Missing, Site
from application_trackers import TRACKERS

SITES = {**APPLICATIONS, **BUILDS, **TRACKERS}
RUN = [sys.executable, "-m", "recrawl"]
WASTE, CHANGING = 0.15, 0.80


@dataclass
class Judged:
    """What a server's log says of a crawl."""

    name: str
    content: int = 0
    fetched: int = 0
    requests: int = 0
    wasted: int = 0
    found: int = 0
    copies: int = 0
    other: list[str] = field(default_factory=list)
    later: int = 0
    later_changing: int = 0
    delays_s: list[float] = field(default_factory=list)
    missed: int = 0
    edits: int = 0
    interval_s: float = 0.0

    @property
    def waste(self) -> float:
        """Share of the first pass's requests that went neither to content nor on the way to it."""
        return self.wasted / max(self.requests, 1)

    def missed_bars(self) -> list[str]:
        """Return which bars were missed."""
        bars = {
            "pages": self.fetched >= self.content,
            "found": self.found >= self.content,
            "waste": self.wasted <= WASTE * self.requests,
            "copies": self.copies == 0,
            "later": self.later_changing >= CHANGING * self.later,
            "delay": not self.edits
            or (bool(self.delays_s) and statistics.median(self.delays_s) <= 2 * self.interval_s),
        }
        return [name for name, is_met in bars.items() if not is_met]


def is_robots_txt(url: str) -> bool:
    """Tell whether it is asked out of courtesy."""
    return url == "/robots.txt"


def first_pass(site: Site, folder: Path, judged: Judged) -> None:
    """Crawl once, and search."""
    (folder / "recrawl.toml").write_text(
        f'seeds = ["{site.home}"]\ncontact = "mailto:bench@site.test"\nbudget = "50/s"\n'
        '[politeness]\ndelay = "20ms"\nallow_private = ["127.0.0.1"]\n'
        '[plan]\nfirst_pass = "polite"\nreplan = "10s"\n'
        '[revisit]\nmin_interval = "5s"\ninitial_interval = "20s"\n'
    )
    subprocess.run([*RUN, "run", "--once", "-q"], cwd=folder, check=True, timeout=1800)
    asked = [(method, url) for method, url, _ in site.asked() if not is_robots_txt(url)]
    content = {url for _, url in asked if site.content(url)}
    way = {url for _, url in asked if site.way(url)}
    judged.content, judged.fetched, judged.requests = site.n_content, len(content), len(asked)
    judged.wasted = len(asked) - len(content | way)
    judged.other = [url for _, url in asked if url not in content | way]
    hits = found(folder, site.word)
    paths = [re.sub(r"^https?://[^/]+", "", hit["url"]) for hit in hits]
    judged.found = len({path for path in paths if site.content(path) or path == "/"})
    texts = [(hit.get("title"), hit.get("snippet") or hit.get("text")) for hit in hits]
    judged.copies = len(texts) - len(set(texts))


def found(folder: Path, word: str) -> list[dict[str, str]]:
    """Search for a word, through to the end of the results."""
    hits: list[dict[str, str]] = []
    while True:
        said = subprocess.run(
            [*RUN, "search", "--json", "-n", "1000", "--offset", str(len(hits)), word],
            cwd=folder,
            capture_output=True,
            check=True,
        )
        more = json.loads(said.stdout)["hits"]
        hits += more
        if len(more) < 1000:
            return hits


def go_on(site: Site, folder: Path, judged: Judged, seconds: float) -> None:
    """Crawl on while pages are edited."""
    budget_per_s = judged.content / 30.0  # each page twice a minute, were it only for them
    judged.interval_s = 30.0
    size = site.log.stat().st_size
    running = subprocess.Popen([*RUN, "run", "--budget", f"{budget_per_s:.3g}/s", "-q"], cwd=folder)
    edited: dict[str, float] = {}
    seen: list[tuple[float, str]] = []
    place, started, number = size, time.monotonic(), 0
    try:
        while (now := time.monotonic()) < started + seconds:
            if (
                site.edit
                and now - started > 4 * (judged.edits + 1)
                and now < started + seconds - 60
            ):
                judged.edits += 1
                number = (number + 37) % max(judged.content - 1, 1)
                edited[site.edit(number)] = time.monotonic()
            news = site.asked(place)
            place = site.log.stat().st_size
            seen += [(time.monotonic(), url) for _, url, _ in news if not is_robots_txt(url)]
            time.sleep(0.3)
    finally:
        running.terminate()
        running.wait()
    judged.later = len(seen)
    changes = site.changes or (lambda url: site.content(url) or site.way(url))
    judged.later_changing = sum(changes(url) for _, url in seen)
    for url, at in edited.items():
        after = [when - at for when, asked in seen if asked == url and when > at]
        if after:
            judged.delays_s.append(after[0])
        else:
            judged.missed += 1


def tell(judged: Judged, *, verbose: bool) -> None:
    """Print one application's figures."""
    delays = judged.delays_s
    late = f"{statistics.median(delays):.0f} s" if delays else "-"
    print(
        f"{judged.name:10} content {judged.fetched}/{judged.content}  found {judged.found}  "
        f"requests {judged.requests}  waste {judged.waste:.0%}  copies {judged.copies}  later "
        f"{judged.later}, to pages that change {judged.later_changing / max(judged.later, 1):.0%}  "
        f"edits {judged.edits}, found after {late}, not yet {judged.missed}  "
        f"bars missed: {', '.join(judged.missed_bars()) or 'none'}",
        flush=True,
    )
    if verbose:
        for url in judged.other[:1000]:
            print("    ", url)


def main() -> None:
    """Crawl and count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(SITES))
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--later", type=float, default=120.0, help="seconds; 0: first pass only")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--keep", type=Path, help="leave the state there")
    options = parser.parse_args()
    bad = False
    for name in options.names:
        with tempfile.TemporaryDirectory() as made:
            folder = options.keep / name if options.keep else Path(made)
            folder.mkdir(parents=True, exist_ok=True)
            try:
                with SITES[name](folder, options.pages) as site:
                    judged = Judged(name)
                    first_pass(site, folder, judged)
                    if options.later:
                        go_on(site, folder, judged, options.later)
            except Missing as missing:
                print(f"{name:10} skipped: {missing} is not installed")
                continue
            tell(judged, verbose=options.verbose)
            bad = bad or bool(judged.missed_bars())
    sys.exit("a bar was missed" if bad else 0)


if __name__ == "__main__":
    main()
