"""One price for every fetch: what a visit is worth beside what one costs, whatever its kind.

The plan sets the price. A page that is known is due when what its visit saves and finds is worth
it. An address that was never visited is a page that the index does not have: its first visit is
worth what it is expected to be, for as long as one visit keeps a page fresh on average, and for as
long as it has waited, so that none waits for ever. The unit is weight times seconds.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf, sqrt
from typing import Final

from recrawl.crawler.control.worth.announced import UNPROVED
from recrawl.crawler.control.worth.births import (
    NewPages,
    birth_interval,
    birth_worth,
    hope_for_births,
    learn_births,
)
from recrawl.crawler.control.worth.index_dates import (
    ROUNDS,
    Dated,
    index_cost,
    index_flows,
)
from recrawl.crawler.control.worth.order import root_urgency
from recrawl.crawler.control.worth.tiers import ASKED, FIRST_BY_WORTH, NEW, worth_share
from recrawl.terms import Birth, Kind, Lease, PageState

_RISES: Final = 1.05  # the least worth of first visits, with each that is worth more
_MOST_GAIN: Final = 0.2985  # of a visit, over weight and age: (1 - (1 + x) exp(-x)) / x at its top
_PRIOR_VISITS: Final = 2.0  # that led nowhere, before those of a depth count


class OnePrice:
    """The price in force, and what visits are worth beside it.

    Parameters
    ----------
    fresh_s : for how long a visit keeps a page fresh, before a plan says so, > 0
    """

    def __init__(self, fresh_s: float) -> None:
        self.price = 0.0  # no plan yet: nothing is too dear
        self.fresh_s = fresh_s
        self.lasting = 1.0  # of its weight, what a page is worth once it is known
        self.new_pages: Mapping[int, NewPages] = {}
        self.announced: Mapping[int, NewPages] = {}
        self.of_parts: dict[int, Sequence[NewPages]] = {}  # what indexes tell of their sitemaps
        self.leads: Mapping[tuple[int, int], float] = {}
        self.hoped: Mapping[int, NewPages] = {}
        self.least_first = inf  # in the unit of the price

    def observe_births(
        self,
        births: Sequence[Birth],
        entries: Iterable[tuple[int, ...]],
        usual_worth: float,
    ) -> Mapping[int, NewPages]:
        """Learn what pages bring that is new; return it, with what others are hoped to bring.

        Parameters
        ----------
        births : what later visits have found
        entries : page and host of seeds and listings that were visited once
        usual_worth : weight of a page on average
        """
        self.new_pages = learn_births(births, usual_worth, self.lasting)
        self.hoped = hope_for_births(entries, self.lasting * usual_worth)
        return {**self.hoped, **self.new_pages}

    def observe_depths(
        self, counts: Iterable[tuple[int, int, int, int, float]], usual_worth: float
    ) -> None:
        """Learn what a first visit leads to: the pages that are a link further from a seed.

        Parameters
        ----------
        counts : host, links from a seed, pages there, how many were visited, what the others weigh
        usual_worth : weight of a page on average
        """
        table = {(host, depth): (n, visited) for host, depth, n, visited, _ in counts}
        net = self.lasting * usual_worth
        self.leads = {
            (host, depth): net * table.get((host, depth + 1), (0, 0))[0] / (visited + _PRIOR_VISITS)
            for (host, depth), (_, visited) in table.items()
        }

    def observe_plan(self, price: float, fresh_s: float, lasting: float = 1.0) -> None:
        """Learn what a new plan says.

        Parameters
        ----------
        price : of a visit, in weight times seconds, >= 0
        fresh_s : for how long a visit keeps a page fresh on average, >= 0
        lasting : of a page's weight, that it is worth once it is known, in [0, 1]
        """
        self.price, self.lasting = price, lasting
        if fresh_s > 0.0:
            self.fresh_s = fresh_s

    def share(self, lease: Lease, now_s: float) -> float:
        """Return what a visit is worth, as a share of the price; what was asked for comes first."""
        if lease.tier == ASKED:
            return inf
        if lease.tier == NEW or lease.state is PageState.DISCOVERED:
            return self.first_share(lease, now_s)
        if lease.state is PageState.MISSING:  # its copy is as good as stale
            worth = lease.weight * self._lasts_s(lease, now_s)
            return max(self._change_share(lease, now_s), worth / max(self.price, 1e-9))
        share = self._change_share(lease, now_s)
        if lease.last_visit_s is None or self.price <= 0.0:
            return share
        age_s, brought = max(now_s - lease.last_visit_s, 0.0), self._brought(lease)
        return max(share, sum(birth_worth(new, age_s) for new in brought) / self.price)

    def _brought(self, lease: Lease) -> Sequence[NewPages]:
        """Return what a visit brings beside the changes of the page itself."""
        new = self.new_pages.get(lease.page_id) or self.hoped.get(lease.page_id)
        told = None if lease.kind is Kind.PAGE else self.announced.get(lease.page_id)
        parts = self.of_parts.get(lease.page_id, ())
        return [*(one for one in (new, told) if one is not None), *parts]

    def _change_share(self, lease: Lease, now_s: float) -> float:
        """Return what a visit is worth for the changes that it may find, as a share of the price.

        Of a page that no plan knows yet it is due by an interval that has nothing to do with the
        price, and its rate may be any.
        """
        is_known, late_s = lease.change_rate_per_s is not None, now_s - lease.due_s
        if is_known and late_s > 0.0 and self._is_told(lease, now_s):
            return (1.0 + late_s * (root_urgency(lease) or 0.0) / sqrt(2.0 * self.price)) ** 2
        share = worth_share(lease, now_s)
        if is_known or lease.tier < FIRST_BY_WORTH or lease.last_visit_s is None or share < 1.0:
            return share
        most = _MOST_GAIN * lease.weight * max(now_s - lease.last_visit_s, 0.0)
        return min(share, most / max(self.price, 1e-9))

    def _is_told(self, lease: Lease, now_s: float) -> bool:
        """Tell whether a page is due before its interval ends: lateness says what it is worth."""
        age_s = now_s - (now_s if lease.last_visit_s is None else lease.last_visit_s)
        is_early = age_s * (lease.crawl_rate_per_s or inf) < 1.0
        return is_early and lease.tier >= FIRST_BY_WORTH and self.price > 0.0

    def first_share(self, lease: Lease, now_s: float) -> float:
        """Return what a first visit is worth, as a share of the price: the page, and its links."""
        return self._first_worth(lease, now_s) / max(self.price, 1e-9)

    def observe_first(self, lease: Lease, now_s: float) -> None:
        """Learn that a first visit is made: the least of late is what more of them are worth."""
        worth = self._first_worth(lease, now_s)
        self.least_first = min(worth, _RISES * self.least_first)

    def of_first(self, n_waiting: int, n_visits: float) -> float:
        """Return what first visits are worth that wait for the budget; 0 where none has to.

        Nothing else is worth a request that is worth less.

        Parameters
        ----------
        n_waiting : addresses that compete for their first visit
        n_visits : that the budget pays soon
        """
        return self.least_first if n_waiting > n_visits and self.least_first < inf else 0.0

    def _first_worth(self, lease: Lease, now_s: float) -> float:
        worth = max(lease.weight, 1e-9) + self.leads.get((lease.host_id, lease.depth), 0.0)
        return worth * self._lasts_s(lease, now_s)

    def _lasts_s(self, lease: Lease, now_s: float) -> float:
        """Return for how long a visit mends what is wrong by now."""
        return self.fresh_s + max(now_s - lease.due_s, 0.0)

    def root_urgency(self, lease: Lease) -> float | None:
        """Return the root of what lateness costs, of changes and of what is born meanwhile."""
        root, new = root_urgency(lease), self.new_pages.get(lease.page_id)
        return root if root is None or new is None else sqrt(root * root + new.flow_per_s)

    def listed(self, page_id: int, *, quiet: int = 0) -> list[NewPages]:
        """Return what a sitemap or feed brings: new pages, and changes that it announces.

        Parameters
        ----------
        page_id : of the listing
        quiet : how many times it has told nothing new of late: each halves what it is thought to
            announce
        """
        new, told = self.new_pages.get(page_id), self.announced.get(page_id)
        found = [] if new is None else [new]
        if told is not None and told.flow_per_s > 0.0:
            found.append(replace(told, flow_per_s=told.flow_per_s * 0.5**quiet))
        return found

    def listing_interval(
        self,
        page_id: int,
        usual_s: float,
        longest_s: float,
        *,
        quiet: int = 0,
        dated: Dated | None = None,
        parts: Sequence[tuple[Dated, Sequence[NewPages]]] = (),
    ) -> float | None:
        """Return when a sitemap or feed is worth reading again; None: nothing is known of it.

        Parameters
        ----------
        usual_s, longest_s : what the rules say, and the most
        quiet : as of :meth:`listed`
        dated : what an index tells of it by a date; None: nothing
        parts : sitemaps of which it gives dates, and what each brings
        """
        if self.price <= 0.0:
            return None
        waits = dated is not None and dated.waits
        priced = self.listed(page_id, quiet=0 if waits else quiet) + index_flows(parts)
        if dated is not None and not waits:  # the rest is told when its index is read
            silent = 1.0 - dated.recall
            priced = [replace(one, flow_per_s=silent * one.flow_per_s) for one in priced]
        if not priced:
            return None
        most_s, told = max(longest_s, usual_s), [one for one, _ in parts]
        priced_s = birth_interval(priced, self.price, most_s)
        for _ in range(ROUNDS if waits or parts else 0):
            cost = index_cost(told, priced_s) if dated is None else dated.price_share(priced_s)
            priced_s = birth_interval(priced, cost * self.price, most_s)
        # Dates prove themselves only where they are read.
        is_unproved = self.announced.get(page_id) is UNPROVED
        return min(priced_s, usual_s) if is_unproved else priced_s
