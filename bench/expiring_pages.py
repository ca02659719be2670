"""A site whose pages go: what is held of it, and how many requests go to what is gone.

    python bench/expiring_pages.py [--budgets 40,150,600] [--seed 0] [--expired]

280 advertisements, of which 15 are born and 15 gone each day, found by a list of the latest sixty;
none ever says something else. With ``--expired`` those that are gone say so, with status 200. Forty
days in virtual time, by the policy of a crawl; counted by the truth at the end, and by the requests
that were made.

Bar: from 150 requests a day on no more than a tenth of the copies are of pages that are not there,
and no more than a fifth of the requests.
"""

import argparse
import random
import sys

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.terms import FetchResponse
from recrawl.testing import Setup, run_virtually, virtual_crawl
from recrawl.testing.worlds import EPOCH_S

A, DAY_S, DAYS = "http://a.test", 86_400.0, 40
PER_DAY, LASTS, LISTED = 15, 20.0, 60
N_PAGES = int((DAYS + LASTS) * PER_DAY) + 10
EXPIRED = b"<title>Expired</title><p>This advertisement is no longer there, but many others are."
ADS = [f"{A}/ad/{n}" for n in range(N_PAGES)]


def is_there(n, day, seed):
    """Tell whether an advertisement is there: born in its turn, gone at random."""
    born = n / PER_DAY - LASTS
    return born <= day < born + LASTS * random.Random(f"{n} {seed}").expovariate(1.0)


def day_of(at_s):
    return (at_s - EPOCH_S) / DAY_S


def measure(per_day, seed, *, expired=False):
    """Return copies of pages that are there and are not, those there are, and requests in vain."""

    def latest(request):
        day = day_of(request.at_s)
        until = int((day + LASTS) * PER_DAY)
        there = [n for n in range(until, max(0, until - 400), -1) if is_there(n, day, seed)]
        links = "".join(f'<a href="{ADS[n]}">{n}</a> ' for n in there[:LISTED])
        return FetchResponse(request.url, 200, f"<title>Ads</title>{links}".encode(), "text/html")

    def advertisement(request):
        n = int(request.url.rpartition("/")[2])
        if not is_there(n, day_of(request.at_s), seed):
            return FetchResponse(request.url, *((200, EXPIRED, "text/html") if expired else (404,)))
        words = " ".join(random.Random(n).choices("abcdefghijkl", k=60))
        return FetchResponse(request.url, 200, f"<p>{n} {words}".encode(), "text/html")

    async def crawl():
        setup = Setup(
            (f"{A}/",),
            budget_per_s=per_day / DAY_S,
            revisit=RevisitRules(600.0, 60 * DAY_S, DAY_S / 6),
            rules={"replan_s": DAY_S / 6, "asked_every_s": 10.0},
            least_worth=0.0,
        )
        virtual = virtual_crawl(setup)
        virtual.web.reply(f"{A}/", latest)
        for url in ADS:
            virtual.web.reply(url, advertisement)
        await virtual.run_for(DAYS * DAY_S)
        return virtual

    virtual = run_virtually(crawl())
    there = {url for n, url in enumerate(ADS) if is_there(n, DAYS, seed)}
    held = {url for url in ADS if virtual.index.copy(url) is not None}
    numbers = {url: n for n, url in enumerate(ADS)}
    asked = [one for one in virtual.web.requests if one.url in numbers]
    in_vain = sum(not is_there(numbers[one.url], day_of(one.at_s), seed) for one in asked)
    return len(held & there), len(held - there), len(there), in_vain / len(virtual.web.requests)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--budgets", default="40,150,600", help="requests a day")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--expired", action="store_true", help="what is gone says so, with 200")
    given = parser.parse_args()
    held_bar = True
    for per_day in map(int, given.budgets.split(",")):
        good, dead, there, in_vain = measure(per_day, given.seed, expired=given.expired)
        print(
            f"{per_day:4} requests a day: {good} copies of {there} pages that are there, {dead} of "
            f"others; {in_vain:.0%} of the requests in vain",
            flush=True,
        )
        held_bar &= per_day < 150 or (dead <= 0.1 * (good + dead) and in_vain <= 0.2)
    sys.exit(not held_bar)


if __name__ == "__main__":
    main()
