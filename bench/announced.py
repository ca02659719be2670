"""What listings that announce changes bring a running crawl, and what those that lie cost it.

Pages that change by themselves, at rates that differ a hundredfold, on one host with a sitemap, in
the engine that crawls in earnest, in virtual time. Announced are all changes ("true"), also in an
index of sitemaps of ten pages that change alike, with the dates of these ("parts") or without them
("undated"); half of them, and one in ten that never was ("half"); every page at every request
("now"); every page each day, as sites are built anew ("build"); or there is no sitemap ("none"),
also with visits at even intervals ("uniform"). Told are the truth, by which version was fetched
last, what plans promised, and what was estimated, on average over the second half of the time; and
the requests as the server saw them.

Bars, averaged over seeds: with any sitemap at most a point less fresh than without, with a true one
never less fresh than uniform visits; and what was promised within 3 points of the truth.

    python bench/announced.py [--seeds 3] [--budgets 0.25,1,4] [--arms true,none,...] [--dated]
        [--policy recrawl] [--pages 120] [--rounds 1]

With ``--dated`` each answer says when its page last changed (Last-Modified). ``--rounds``
multiplies the time.
"""

import argparse
import sys
import time
from bisect import bisect_right
from dataclasses import replace

import numpy as np

from growing_web import DAY_S, GrowingFetcher, GrowingPage, GrowingWeb
from recrawl.crawler.ports import EventSink
from recrawl.crawler.settings import Settings
from recrawl.crawler.wiring.crawls import run_virtual_crawl
from recrawl.terms import FetchResponse

SPEED = 200.0  # crawl seconds a second of the loop: what is polled is polled less often
EPOCH_S = 1_790_000_000.0
A = "http://site.test"
ARMS = ("uniform", "none", "true", "parts", "undated", "half", "now", "build")
TRUE = ("true", "parts", "undated")
PER_DAY = 0.5  # changes of a page
SPREAD = 1.5  # of the logarithm of rates
FOLDER = 20
PART = 10
DAYS = {0.25: 120.0, 1.0: 60.0, 4.0: 30.0}  # by visits for each change
WORSE, PROMISED = 1.0, 3.0
SCHEMA = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def made_web(n_pages, days, seed):
    """Return a host whose front page links to all others, of which each changes by itself."""
    random = np.random.default_rng([seed, 41])
    rates = np.exp(SPREAD * random.standard_normal(n_pages))
    rates *= PER_DAY / rates.mean()
    paths = [f"/{number // FOLDER}/{number}" for number in range(n_pages)]
    pages = {
        path: GrowingPage(path, -1.0, 1.0, np.sort(random.uniform(0.0, days, n)))
        for path, n in zip(paths, random.poisson(rates * days), strict=True)
    }
    pages["/"] = GrowingPage("/", -1.0, 0.0, np.zeros(0), tuple(paths))
    return GrowingWeb(pages, days, ())


def announced(web, arm, seed):
    """Return by page the days that its sitemap gives, ascending; those before the first are -1."""
    random = np.random.default_rng([seed, 43])
    if arm not in (*TRUE, "half"):
        return {path: np.floor(np.arange(web.days)) for path in web.pages}
    told = {}
    for path, page in web.pages.items():
        at = page.changes
        told[path] = at if arm in TRUE else at[random.random(at.size) < 0.5]
    if arm == "half":
        paths = [path for path, page in web.pages.items() if page.weight]
        n_false = round(sum(days.size for days in told.values()) / 9.0)
        for path in random.choice(paths, n_false):
            told[path] = np.sort(np.append(told[path], random.uniform(0.0, web.days)))
    return told


class AnnouncingFetcher(GrowingFetcher):
    """Asks a growing web that has a sitemap.

    Parameters
    ----------
    arm : what the sitemap says, a name in ``ARMS``
    dated : whether each answer says when its page last changed
    """

    def __init__(self, web, clock, *, arm, seed, dated):
        super().__init__(web, clock, EPOCH_S)
        self._arm, self._dated = arm, dated
        self._told = announced(web, arm, seed)
        calm = sorted(self._told, key=lambda path: web.pages[path].changes.size)
        self._parts = [calm[first : first + PART] for first in range(0, len(calm), PART)]
        self.n_sitemap = 0

    async def fetch(self, url, **asked):
        """Return what the web answers, or its sitemap."""
        response = await super().fetch(url, **asked)
        path = url.removeprefix(A)
        day = (self._clock.now_s() - EPOCH_S) / DAY_S
        if path.startswith("/sitemap") and self._arm not in ("none", "uniform"):
            self.n_sitemap += 1
            part = path.removeprefix("/sitemap").removesuffix(".xml")
            if not part and self._arm in ("parts", "undated"):
                body = self._index(day)
            else:
                body = self._sitemap(self._parts[int(part)] if part else self._told, day)
            return FetchResponse(url, 200, body.encode(), "application/xml")
        page = self._web.pages.get(path)
        if self._dated and page is not None:
            modified = EPOCH_S + DAY_S * _last(page.changes, day)
            stamp = np.datetime64(int(modified), "s").item()
            return replace(response, last_modified=f"{stamp:%a, %d %b %Y %H:%M:%S} GMT")
        return response

    def _sitemap(self, paths, day):
        entries = []
        for path in paths:
            last = day if self._arm == "now" else _last(self._told[path], day)
            entries.append(f"<url><loc>{A}{path}</loc>{_lastmod(last)}</url>")
        return f"<urlset {SCHEMA}>{''.join(entries)}</urlset>"

    def _index(self, day):
        entries = []
        for number, paths in enumerate(self._parts):
            last = max(_last(self._told[path], day) for path in paths)
            date = _lastmod(last) if self._arm == "parts" else ""
            entries.append(f"<sitemap><loc>{A}/sitemap{number}.xml</loc>{date}</sitemap>")
        return f"<sitemapindex {SCHEMA}>{''.join(entries)}</sitemapindex>"


def _lastmod(day):
    return f"<lastmod>{np.datetime64(int(EPOCH_S + DAY_S * day), 's')}Z</lastmod>"


def _last(days, day):
    place = bisect_right(days, day)
    return days[place - 1] if place else -1.0


class Plans(EventSink):
    """Keeps what plans say."""

    def __init__(self):
        self.said = []

    def emit(self, event, fields):
        """Take note."""
        if event == "plan":
            self.said.append([fields["at_s"], fields["freshness"], fields["estimate"]])


def crawl(arm, budget, seed, options):
    """Return the true share of fresh copies, what was promised and estimated, and requests."""
    web = made_web(options.pages, options.rounds * DAYS[budget], seed)
    settings = Settings(
        seeds=[f"{A}/"],
        contact="mailto:bench@site.test",
        budget_per_s=budget * options.pages * PER_DAY / DAY_S,
        n_robots=2,
        replan_s=DAYS[budget] * 180.0,  # 480 plans
        control="room",
        importance=(("even", 1.0),),
        policy="uniform" if arm == "uniform" else options.policy,
    )
    made, plans = [], Plans()

    def fetcher_at(clock):
        made.append(AnnouncingFetcher(web, clock, arm=arm, seed=seed, dated=options.dated))
        return made[0]

    until_s = EPOCH_S + web.days * DAY_S
    run_virtual_crawl(
        settings, fetcher_at, events=plans, epoch_s=EPOCH_S, until_s=until_s, speed=SPEED
    )
    half = 0.5 * web.days
    true = web.coverage(made[0].visits, np.linspace(half, web.days, 300).tolist())
    said = np.array(plans.said)
    _, promised, estimated = said[said[:, 0] > EPOCH_S + half * DAY_S].mean(axis=0)
    return 100.0 * true, 100.0 * promised, 100.0 * estimated, made[0].n_requests, made[0].n_sitemap


def judge(budget, found):
    """Say which bars are missed at a budget."""
    missed = []
    means = {arm: np.mean(rows, axis=0) for arm, rows in found.items()}
    for arm, (true, promised, *_) in means.items():
        if arm not in ("none", "uniform") and "none" in means:
            worse = means["none"][0] - true
            if worse > WORSE:
                missed.append(f"{budget}x, {arm}: {worse:.1f} points less fresh than without")
        if arm in TRUE and "uniform" in means and means["uniform"][0] > true:
            missed.append(f"{budget}x, {arm}: less fresh than uniform visits")
        if arm != "uniform" and abs(promised - true) > PROMISED:
            missed.append(f"{budget}x, {arm}: promised {promised - true:+.1f} beside the truth")
    return missed


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--budgets", default="0.25,1,4")
    parser.add_argument("--arms", default=",".join(ARMS))
    parser.add_argument("--policy", default="foresight")
    parser.add_argument("--pages", type=int, default=120)
    parser.add_argument("--rounds", type=float, default=1.0)
    parser.add_argument("--dated", action="store_true")
    options = parser.parse_args()
    missed = []
    print(f"{'':14}{'true':>7}{'from':>7}{'to':>7}{'promised':>10}{'estimate':>10}", end="")
    print(f"{'requests':>10}{'sitemap':>9}")
    for budget in map(float, options.budgets.split(",")):
        found = {}
        for arm in options.arms.split(","):
            began = time.perf_counter()
            rows = [crawl(arm, budget, seed, options) for seed in range(options.seeds)]
            found[arm] = rows
            true, promised, estimated, n, n_sitemap = np.mean(rows, axis=0)
            least, most = (pick(row[0] for row in rows) for pick in (min, max))
            print(
                f"{budget:g}x {arm:<9}{true:8.1f}{least:7.1f}{most:7.1f}{promised:10.1f}"
                f"{estimated:10.1f}{n:10,.0f}{n_sitemap:9,.0f}"
                f"  {time.perf_counter() - began:.0f} s",
                flush=True,
            )
        missed += judge(budget, found)
    for line in missed:
        print("MISSED:", line)
    print(f"{len(missed)} bars are missed" if missed else "the bars are met")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
