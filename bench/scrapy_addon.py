"""Spiders with the add-on against the same spiders without it, on a site whose pages change.

The site answers for any host, as a proxy, and goes by simulated days. Freshness is the share of
the site's items whose latest copy, as the pipelines had it, is the one that the site shows; looked
at eight times a day, over the second half of the time.

Bars: at equal fetches fresher than a plain rerun, than HTTPCACHE with the RFC2616 policy and than
scrapy-deltafetch (where it is installed); less than 0.3 ms more a request than without; every item
delivered at least once however often the crawl is killed.

    python bench/scrapy_addon.py [fresh] [overhead] [kills]
    python bench/scrapy_addon.py fresh --spiders FOLDER:MODULE:CLASS ...   # unmodified, of others
"""

import argparse
import importlib.util
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from tests.integrations.site import Answer, Site, serving  # noqa: E402

DAY_S = 86_400.0
DAYS = 28
RUNS_A_DAY = 2
DRIVE = ROOT / "tests" / "integrations" / "drive.py"
OURS = ("", "bench.scrapy_spiders", "Books")


@dataclass
class ChangingSite:
    """Lists of quotes and of books; each page changes by a Poisson process of its own rate."""

    n_lists: int = 60
    n_items: int = 6  # books on each list
    seed: int = 1
    now_s: float = 0.0
    asked: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        n = self.n_lists * (self.n_items + 1)
        # Spread over powers of ten, as change rates are: from some a day to once in years.
        rates = np.exp(rng.normal(math.log(0.05 / DAY_S), 1.8, n)).clip(0, 4 / DAY_S)
        self.times = [
            np.sort(rng.uniform(0, DAYS * DAY_S, rng.poisson(rate * DAYS * DAY_S)))
            for rate in rates
        ]
        self.site = Site(self.page)

    def version(self, page: int, at_s: float | None = None) -> int:
        """Return how often a page has changed."""
        return int(np.searchsorted(self.times[page], self.now_s if at_s is None else at_s))

    def truth(self, at_s: float, *, books: bool) -> dict[str, str]:
        """Return every item's name and what it is like now."""
        if books:
            return {
                f"b{k}": str(self.version(self.n_lists + k, at_s))
                for k in range(self.n_lists * self.n_items)
            }
        return {f"q{n}": str(self.version(n, at_s)) for n in range(self.n_lists)}

    def page(self, host: str, path: str) -> str | Answer | None:
        """Answer a request."""
        if path.startswith("/_at/"):
            self.now_s = float(path.removeprefix("/_at/"))
            return "ok"
        if path == "/robots.txt":
            return None
        self.asked[path] += 1
        name = path.strip("/").partition("/")
        if name[0] == "book":
            k = int(name[2])
            price = self.version(self.n_lists + k)
            return (
                f'<html><div class="product_main"><h1>b{k}</h1>'
                f'<p class="price_color">{price}</p></div></html>'
            )
        n = int(name[2]) if name[0] == "page" else 0
        return self._list(n) if 0 <= n < self.n_lists else None

    def _list(self, n: int) -> str:
        quote = (
            f'<div class="quote"><span class="text">q{n} {self.version(n)}</span>'
            '<small class="author">A</small></div>'
        )
        books = "".join(
            f'<article class="product_pod"><h3><a href="/book/{k}">b</a></h3></article>'
            for k in range(n * self.n_items, (n + 1) * self.n_items)
        )
        following = f'<li class="next"><a href="/page/{n + 1}">next</a></li>'
        return f"<html>{quote}{books}{following if n + 1 < self.n_lists else ''}</html>"


def item_of(item: dict[str, Any]) -> tuple[str, str]:
    """Name an item of one of these spiders, and say what it is like."""
    if "title" in item:
        return str(item["title"]), str(item["price"])
    name, _, version = str(item["text"]).partition(" ")
    return name, version


def play(
    spider: tuple[str, str, str], days: list[float], settings: dict[str, Any]
) -> tuple[float, int]:
    """Run a spider at some days; return the mean freshness of its items, and the fetches."""
    folder, module, name = spider
    web = ChangingSite()
    with serving(web.site), tempfile.TemporaryDirectory() as state:
        fill = {key: value.format(state=state) if isinstance(value, str) else value
                for key, value in settings.items()}  # fmt: skip
        task = {
            "site": web.site.url,
            "reactor": "asyncio",
            "spider": f"{module}.{name}",
            "settings": {"ROBOTSTXT_OBEY": False, "RETRY_ENABLED": False} | fill,
            "runs": [{"at": day * DAY_S} for day in days],
        }
        ended = subprocess.run(
            [sys.executable, str(DRIVE)],
            input=json.dumps(task),
            capture_output=True,
            text=True,
            check=False,
            cwd=state,
            env=os.environ
            | {"PYTHONPATH": os.pathsep.join([folder, str(ROOT), os.environ.get("PYTHONPATH", "")])}
            | {"http_proxy": web.site.url, "no_proxy": "127.0.0.1"},
        )
    if ended.returncode or '"error": "' in ended.stdout:
        sys.exit(f"{spider}: {ended.stderr[-2000:]} {ended.stdout[-500:]}")
    told = json.loads(ended.stdout)
    return freshness(web, days, told), sum(web.asked.values())


def freshness(web: ChangingSite, days: list[float], told: list[dict[str, Any]]) -> float:
    """Return the share of items held as they are, over the second half."""
    looks = np.arange(DAYS / 2, DAYS, 0.125)
    books = any("title" in item for run in told for item in run["items"])
    held: dict[str, str] = {}
    fresh, run = [], 0
    for look in looks:
        while run < len(days) and days[run] <= look:
            held.update(map(item_of, told[run]["items"]))
            run += 1
        truth = web.truth(look * DAY_S, books=books)
        fresh.append(np.mean([held.get(name) == said for name, said in truth.items()]))
    return float(np.mean(fresh))


def every(days: float) -> list[float]:
    """Return the days of runs that follow each other at this interval."""
    return [float(day) for day in np.arange(0.0, DAYS, days)]


def fresh(spiders: list[tuple[str, str, str]]) -> bool:
    """Compare arms at equal fetches."""
    good = True
    print(f"{'spider':28} {'arm':26} {'fetches':>8} {'fresh':>7}")
    for spider in spiders:
        plain = {days: play(spider, every(days), {"ADDONS": {}}) for days in (1.0, 2.0, 4.0)}
        # What a rerun every four days fetches, but for the first run, which all have.
        n = min(fetches for _, fetches in plain.values())
        runs = len(every(4.0))
        budget = n / runs * (runs - 1) / DAYS
        ours = play(
            spider,
            every(1 / RUNS_A_DAY),
            {
                "RECRAWL_STATE": "{state}/recrawl",
                "RECRAWL_BUDGET": f"{budget:.3f}/d",
                "RECRAWL_MIN_INTERVAL": "1h",
            },
        )
        arms = {f"plain, every {days:g} d": score for days, score in plain.items()}
        arms["HTTPCACHE RFC2616, 4 d"] = play(
            spider,
            every(4.0),
            {
                "ADDONS": {},
                "HTTPCACHE_ENABLED": True,
                "HTTPCACHE_POLICY": "scrapy.extensions.httpcache.RFC2616Policy",
                "HTTPCACHE_DIR": "{state}/cache",
            },
        )
        if importlib.util.find_spec("scrapy_deltafetch"):
            arms["deltafetch, twice a day"] = play(
                spider,
                every(1 / RUNS_A_DAY),
                {
                    "ADDONS": {},
                    "SPIDER_MIDDLEWARES": {"bench.scrapy_delta.Delta": 100},
                    "DELTAFETCH_ENABLED": True,
                    "DELTAFETCH_DIR": "{state}/delta",
                },
            )
        arms["recrawl, twice a day"] = ours
        for name, (share, fetches) in arms.items():
            print(f"{spider[2]:28} {name:26} {fetches:8,} {100 * share:6.1f}%")
        equal = arms["plain, every 4 d"][0]
        good &= ours[0] > max(equal, arms["HTTPCACHE RFC2616, 4 d"][0])
        good &= ours[1] <= 1.05 * n
        shares, spent = zip(*sorted(plain.values()), strict=True)
        alike = math.exp(float(np.interp(ours[0], shares, np.log(spent))))
        print(f"{spider[2]:28} as fresh as a plain rerun with {alike:,.0f} fetches\n")
    return good


def overhead(n_rounds: int, few: int = 500, many: int = 4_500) -> bool:
    """Measure what a request costs more, in processor time, where nothing is fetched.

    By the difference of a long and a short crawl, which leaves out what a start costs. Both arms
    run at the same time on one processor, in turns of some milliseconds: what other programs and
    the heat of the machine do to the one, they do to the other.
    """
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})  # and of what is started from here

    def took_s(n: int) -> tuple[float, ...]:
        with tempfile.TemporaryDirectory() as state:
            arms = [
                subprocess.Popen(
                    [
                        sys.executable, "-m", "bench.scrapy_spiders",
                        json.dumps({"N": n, "RECRAWL_STATE": f"{state}/recrawl"} | settings),
                    ],
                    stdout=subprocess.PIPE, text=True, cwd=ROOT,
                )
                for settings in ({"ADDONS": {}}, {})
            ]  # fmt: skip
            return tuple(float(arm.communicate()[0].split()[-1]) for arm in arms)

    rounds = []
    for _ in range(n_rounds):
        short, long = took_s(few), took_s(many)
        each = [1000 * (b - a) / (many - few) for a, b in zip(short, long, strict=True)]
        rounds.append((each[1] - each[0], *each))
        print(f"a request: {each[0]:.3f} ms without, {each[1]:.3f} ms with", flush=True)
    os.sched_setaffinity(0, cores)
    more = [one[0] for one in rounds]
    print(
        f"{median(more):.3f} ms more a request, the median of {n_rounds} rounds, which said "
        f"{min(more):.3f} to {max(more):.3f} (bar 0.3)"
    )
    return median(more) < 0.3


def kills(n_kills: int) -> bool:
    """Kill a crawl at one request after another, in one state; then let it end."""
    from tests.integrations.kills import crawl_with_kills

    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        found = crawl_with_kills(Path(folder), [1 + k % 37 for k in range(n_kills)], n_pages=1_500)
    print(
        f"{found.n_killed} kills: {found.missing} of {found.expected} items missing, "
        f"{found.delivered / found.expected:.2f} deliveries of each "
        f"({time.monotonic() - started:.0f} s)"
    )
    return found.missing == 0 and found.n_killed == n_kills


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=["fresh", "overhead", "kills"])
    parser.add_argument("--spiders", nargs="*", default=[":".join(OURS)])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    good = True
    for part in given.parts:
        if part == "fresh":
            spiders = [tuple(text.split(":")) for text in given.spiders]
            good &= fresh(spiders)  # type: ignore[arg-type]
        elif part == "overhead":
            good &= overhead(given.rounds)
        else:
            good &= kills(given.kills)
    sys.exit(0 if good else "a bar is missed")


if __name__ == "__main__":
    main()
