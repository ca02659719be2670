"""How long pages of a section that was removed stay in the index.

    python bench/removals.py [--budgets 20,50,150]

Five sections of a hundred pages; four of them are calm. After forty days one of these is gone; in
virtual time, by the policy of a crawl. Beside it: as many pages that go here and there.

Bar: within six tenths of a round of all pages nine in ten of the section are known to be gone, from
one visit to each page in ten days on; pages that are there lose no more than 1.5 points of
freshness against the same web with nothing removed.
"""

import argparse

import numpy as np

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.dispatching.politeness import PolitenessRules
from recrawl.crawler.runtime.crawl import CrawlPlan
from recrawl.terms import FetchResponse
from recrawl.testing import Setup, run_virtually, virtual_crawl
from recrawl.testing.worlds import EPOCH_S

A, DAY_S, LASTS_S, WENT_S = "http://a.test", 86_400.0, 120 * 86_400.0, EPOCH_S + 40 * 86_400.0
URLS = [
    f"{A}/{section}/{folder}/{n}" for section in "abcde" for folder in range(10) for n in range(10)
]


def measure(per_day, gone, seed=0):
    """Days until each page that went was found to be gone, and how fresh the others were since."""
    random = np.random.default_rng(seed)
    rates = [0.2 if url.startswith(f"{A}/e/") else 0.01 for url in URLS]
    changes = {
        url: EPOCH_S + np.sort(random.uniform(0.0, LASTS_S, random.poisson(rate * LASTS_S / DAY_S)))
        for url, rate in zip(URLS, rates, strict=True)
    }

    def answer(request):
        if request.url in gone and request.at_s >= WENT_S:
            return FetchResponse(request.url, 404)
        version = np.searchsorted(changes[request.url], request.at_s)
        return FetchResponse(request.url, 200, f"{request.url}: {version}".encode(), "text/plain")

    async def crawl():
        setup = Setup(
            revisit=RevisitRules(600.0, 60 * DAY_S, 4 * DAY_S, listing_s=30 * DAY_S),
            rules={"replan_s": 14_400.0},
            seeds=tuple(URLS),
            least_worth=0.0,
        )
        plan = CrawlPlan(per_day / DAY_S, PolitenessRules(delay_s=1.0), revisit="foresight")
        virtual = virtual_crawl(setup, plan=plan)
        for url in URLS:
            virtual.web.reply(url, answer)
        await virtual.run_for(LASTS_S)
        return virtual

    visits = {url: [] for url in URLS}
    for request in run_virtually(crawl()).web.requests:
        if request.url in visits:
            visits[request.url].append(request.at_s)
    end_s = EPOCH_S + LASTS_S
    found = [min([at for at in visits[url] if at >= WENT_S], default=end_s) for url in gone]
    fresh_s = 0.0
    for url in set(URLS) - gone:
        at = np.array(visits[url])
        following = np.append(changes[url], np.inf)[np.searchsorted(changes[url], at)]
        until = np.minimum(following, np.append(at[1:], end_s))
        fresh_s += np.maximum(until - np.maximum(at, WENT_S), 0.0).sum()
    share = fresh_s / ((len(URLS) - len(gone)) * (end_s - WENT_S))
    return (np.array(found) - WENT_S) / DAY_S, 100.0 * share


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--budgets", default="20,50,150", help="visits a day")
    given = parser.parse_args()
    section = {url for url in URLS if url.startswith(f"{A}/b/")}
    scattered = set(np.random.default_rng(1).choice(URLS, len(section), replace=False).tolist())
    for per_day in map(int, given.budgets.split(",")):
        _, whole = measure(per_day, set())
        for name, gone in (("a section", section), ("here and there", scattered)):
            days, fresh = measure(per_day, gone)
            quantiles = "/".join(f"{one:.1f}" for one in np.quantile(days, [0.1, 0.5, 0.9, 1.0]))
            print(
                f"{per_day} visits a day, {name}: known to be gone after {quantiles} days "
                f"(10/50/90/100 %), {days.mean():.1f} on average; the others {fresh:.1f} % fresh "
                f"({whole:.1f} where nothing went); a round takes {len(URLS) / per_day:.1f} days",
                flush=True,
            )


if __name__ == "__main__":
    main()
