"""Conformance tests for every frontier.

Longer than most modules because it is one suite, promise by promise.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import inf
from pathlib import Path

import numpy as np
import pytest

from recrawl.crawler.control.addresses.yields import LITTLE
from recrawl.crawler.control.revisiting.due_times import (
    ASKED_ONCE,
    BESIDE,
    BESIDE_BACK,
    LISTED_AGAIN,
    OUTSIDE,
    WIDENED,
)
from recrawl.crawler.facts import EndFacts, SettingsFacts
from recrawl.crawler.ports import LATEST_VISITS, AdmissionLimits, Frontier
from recrawl.terms import (
    Announcer,
    Discovery,
    Kind,
    Lease,
    Outcome,
    PageDetails,
    PageState,
    PageUpdate,
    PageWorth,
    PlanRecord,
    Visit,
    VisitedPage,
)

HOST = "http://a.test"
_SAID = {
    "n": Outcome.NEW,
    "c": Outcome.CHANGED,
    "u": Outcome.UNCHANGED,
    "s": Outcome.LISTING,
}
ANY = AdmissionLimits()


def _found(path: str, host: str = HOST, **fields: object) -> Discovery:
    return Discovery(url=host + path, host=host, **fields)  # type: ignore[arg-type]


def _update(
    lease: Lease, at_s: float, outcome: Outcome = Outcome.NEW, **fields: object
) -> PageUpdate:
    told = {Outcome.CHANGED: True, Outcome.UNCHANGED: False, Outcome.NOT_MODIFIED: False}
    last_s = lease.last_visit_s
    visit = Visit(
        visited_at_s=at_s,
        outcome=outcome,
        status=200,
        changed=told.get(outcome),
        interval_s=None if last_s is None else at_s - last_s,
    )
    values: dict[str, object] = {"state": PageState.INDEXED, "due_s": at_s + 100.0}
    return PageUpdate(lease=lease, visit=visit, **(values | fields))  # type: ignore[arg-type]


class FrontierSuite:
    """Conformance tests for every frontier."""

    forgets = True  # whether it drops old visits by itself

    def make(self, directory: Path) -> Frontier:
        """Return a new frontier; ``directory`` is empty and its own."""
        raise NotImplementedError

    @pytest.fixture
    def frontier(self, tmp_path: Path) -> Iterator[Frontier]:
        """Give an empty frontier."""
        made = self.make(tmp_path)
        yield made
        made.close()

    def _leased(self, frontier: Frontier, n: int = 1, now_s: float = 10.0) -> list[Lease]:
        host_id = frontier.hosts()[0].host_id
        return frontier.lease(host_id, limit=n, due_by_s=now_s, now_s=now_s, until_s=now_s + 50.0)

    def _admitted(self, frontier: Frontier, *paths: str, now_s: float = 0.0) -> None:
        frontier.admit([_found(path) for path in paths], now_s, ANY)

    def _lease(self, frontier: Frontier, path: str) -> Lease:
        """Return the lease of a page that is new."""
        self._admitted(frontier, path)
        (lease,) = self._leased(frontier)
        return lease

    def _details(
        self, frontier: Frontier, url: str = f"{HOST}/1", *, recent: int = 10
    ) -> PageDetails:
        details = frontier.details(url, recent=recent)
        assert details is not None
        return details

    def test_a_url_is_admitted_once(self, frontier: Frontier) -> None:
        """Discovering it again neither adds it nor moves its due time."""
        first = frontier.admit([_found("/1"), _found("/1"), _found("/2")], 5.0, ANY)
        again = frontier.admit([_found("/1")], 99.0, ANY)

        assert first == [frontier.hosts()[0].host_id]
        assert again == []
        assert frontier.n_pages_by_state() == {PageState.DISCOVERED: 2}
        assert frontier.hosts()[0].next_due_s == 5.0

    def test_admission_is_bounded(self, frontier: Frontier) -> None:
        """By pages in all, pages of a host, and variants of a query."""
        variants = [_found(f"/c?{n}", variant_of=7) for n in range(9)]
        frontier.admit(variants, 0.0, AdmissionLimits(max_query_variants=3))
        frontier.admit([_found(f"/{n}") for n in range(9)], 0.0, AdmissionLimits(max_pages=5))
        other = [_found(f"/{n}", "http://b.test") for n in range(9)]
        frontier.admit(other, 0.0, AdmissionLimits(max_pages_per_host=4))

        assert sum(frontier.n_pages_by_state().values()) == 3 + 2 + 4

    @pytest.mark.parametrize(
        "limits",
        [
            AdmissionLimits(max_pages=4),
            AdmissionLimits(max_pages_per_host=4),
            AdmissionLimits(max_query_variants=4),
        ],
    )
    def test_what_is_gone_or_has_moved_away_leaves_its_place(
        self, frontier: Frontier, limits: AdmissionLimits
    ) -> None:
        """To as many others, until it is back: what a site no longer has does not fill a crawl."""

        def n_after(first: int, now_s: float) -> int:
            found = [_found(f"/c?{n}", variant_of=7) for n in range(first, first + 9)]
            frontier.admit(found, now_s, limits)
            return sum(frontier.n_pages_by_state().values())

        def visited(now_s: float, **states: PageState) -> None:
            for lease in self._leased(frontier, 9, now_s):
                state = states.get(f"at_{lease.url.partition('?')[2]}", PageState.INDEXED)
                due_s = now_s + (10.0 if state is PageState.GONE else 1e6)
                frontier.complete([_update(lease, now_s, state=state, due_s=due_s)])

        assert n_after(0, 0.0) == 4
        visited(1.0, at_0=PageState.GONE)
        assert n_after(100, 2.0) == 5
        visited(3.0, at_100=PageState.MOVED)
        assert n_after(200, 4.0) == 6
        visited(20.0)
        assert frontier.n_pages_by_state() == {PageState.INDEXED: 5, PageState.MOVED: 1}
        assert n_after(300, 21.0) == 6, "one came back"

    def test_what_is_refused_is_counted_by_host_and_reason(self, frontier: Frontier) -> None:
        """And refused in the order of what is nearest: variants, listings, host, crawl."""
        sitemaps = [_found(f"/{n}.xml", kind=Kind.SITEMAP) for n in range(5)]
        frontier.admit(sitemaps, 0.0, AdmissionLimits(max_listings_per_host=2))
        feeds = [_found(f"/{n}.rss", kind=Kind.FEED) for n in range(3)]
        frontier.admit(feeds, 0.0, AdmissionLimits(max_listings_per_host=2))
        frontier.admit([_found("/a"), _found("/b")], 0.0, AdmissionLimits(max_pages_per_host=5))
        frontier.refuse({(HOST, "too-fast"): 7})
        frontier.refuse({(HOST, "too-fast"): 1})

        assert frontier.refused() == [
            (HOST, "too-fast", 8),
            (HOST, "listings", 4),
            (HOST, "host-full", 1),
        ]

    def test_the_host_that_fills_the_crawl_is_refused_and_others_are_not(
        self, frontier: Frontier
    ) -> None:
        """It leaves a tenth of the room to hosts that hold less."""
        limits = AdmissionLimits(max_pages=100)
        frontier.admit([_found("/", "http://b.test")], 0.0, limits)
        frontier.admit([_found(f"/{n}") for n in range(500)], 0.0, limits)
        frontier.admit([_found(f"/{n}", "http://b.test") for n in range(3)], 0.0, limits)

        assert sum(frontier.n_pages_by_state().values()) == 90 + 3
        assert frontier.refused() == [(HOST, "crawl-full", 411)]

    def test_the_state_says_what_the_index_holds(self, frontier: Frontier) -> None:
        """Pages are due in full, and strangers are pages from now on."""
        self._admitted(frontier, "/kept", "/lost", "/other")
        leases = self._leased(frontier, 3)
        frontier.complete(
            [_update(lease, 1.0, signature=b"s" * 16, etag='"1"') for lease in leases]
        )
        assert frontier.n_indexed() == 3
        assert sorted(frontier.sample_indexed(9)) == sorted(frontier.urls_indexed())

        copies = [(f"{HOST}/lost", None), (f"{HOST}/other", b"o"), ("http://b.test/x", b"x")]
        frontier.agree([*copies, ("http://b.test/y", None)], 5.0)

        assert dict(frontier.urls_indexed()) == {
            f"{HOST}/kept": b"s" * 16,
            f"{HOST}/other": b"o",
            "http://b.test/x": b"x",
        }
        again = self._leased(frontier, 9, now_s=5.0)
        assert {lease.url for lease in again} == {f"{HOST}/lost", f"{HOST}/other"}
        assert {lease.etag for lease in again} == {None}
        assert frontier.details("http://b.test/y") is None

    def test_leases_come_earliest_due_first(self, frontier: Frontier) -> None:
        """And nothing that is due later than asked for."""
        self._admitted(frontier, "/late", now_s=3.0)
        self._admitted(frontier, "/early", now_s=1.0)
        self._admitted(frontier, "/not-yet", now_s=30.0)

        leases = self._leased(frontier, 5)

        assert [lease.url for lease in leases] == [f"{HOST}/early", f"{HOST}/late"]

    def test_a_page_has_at_most_one_live_lease(self, frontier: Frontier) -> None:
        """Until it lapses or is given back."""
        self._admitted(frontier, "/1")
        first = self._leased(frontier)

        assert self._leased(frontier, now_s=11.0) == []
        again = self._leased(frontier, now_s=61.0)
        assert [lease.url for lease in again] == [f"{HOST}/1"]
        assert again[0].token != first[0].token
        frontier.release(first)
        assert self._leased(frontier, now_s=62.0) == [], "a lapsed lease gives nothing back"
        frontier.release(again)
        assert len(self._leased(frontier, now_s=62.0)) == 1

    def test_a_lease_is_completed_once(self, frontier: Frontier) -> None:
        """Though a batch says it twice, and another one again: the first counts."""
        lease = self._lease(frontier, "/1")
        first, second = (_update(lease, at_s, due_s=at_s + 9.0) for at_s in (11.0, 12.0))

        frontier.complete([first, second])
        frontier.complete([second])

        details = self._details(frontier, lease.url)
        assert details.due_s == 20.0

    def test_the_next_due_time_leaves_leased_pages_out(self, frontier: Frontier) -> None:
        """So that a host whose pages are all out does not look due."""
        self._admitted(frontier, "/1", now_s=1.0)
        self._admitted(frontier, "/2", now_s=7.0)
        host_id = frontier.hosts()[0].host_id
        self._leased(frontier, now_s=2.0)

        assert frontier.host(host_id, now_s=2.0).next_due_s == 7.0
        assert frontier.host(host_id, now_s=1000.0).next_due_s == 1.0

    def test_new_and_known_pages_share_a_refill(self, frontier: Frontier) -> None:
        """Half each while both wait; all places for one where the other has none."""
        self._admitted(frontier, *[f"/old{n}" for n in range(8)])
        leases = self._leased(frontier, 8)
        frontier.complete([_update(lease, 1.0, due_s=2.0) for lease in leases])
        self._admitted(frontier, *[f"/new{n}" for n in range(8)], now_s=3.0)

        urls = [lease.url for lease in self._leased(frontier, 8)]

        assert sum("/new" in url for url in urls) == 4
        assert sum("/old" in url for url in urls) == 4

    def test_a_completed_visit_is_recorded_and_moves_the_due_time(self, frontier: Frontier) -> None:
        """Everything the update says is what the next lease and the details say."""
        lease = self._lease(frontier, "/1")
        frontier.complete(
            [_update(lease, 12.0, signature=b"s", raw_hash=b"r", etag="e", last_modified="m")]
        )

        assert self._leased(frontier, now_s=50.0) == []
        (again,) = self._leased(frontier, now_s=112.0)
        assert (again.signature, again.raw_hash) == (b"s", b"r")
        assert (again.etag, again.last_modified) == ("e", "m")
        assert again.last_visit_s == 12.0
        details = self._details(frontier)
        assert (details.visits, details.changes, details.state) == (1, 0, PageState.INDEXED)
        assert details.indexed_at_s == 12.0
        assert [visit.outcome for visit in details.recent] == [Outcome.NEW]
        assert frontier.n_visits_by_outcome() == {Outcome.NEW: 1}
        assert frontier.n_visits_by_outcome(since_s=12.5) == {}

    def test_of_which_instant_a_copy_is_stays_known(self, frontier: Frontier) -> None:
        """The next lease, the details and the planner learn it where a cache answered."""
        self._admitted(frontier, "/1", "/2")
        for lease in self._leased(frontier, 2):
            update = _update(lease, 12.0)
            if lease.url.endswith("1"):
                update = replace(update, visit=replace(update.visit, seen_s=7.0))
            frontier.complete([update])

        leases = {lease.url[-1]: lease for lease in self._leased(frontier, 2, now_s=112.0)}
        pages = frontier.planned_pages()
        assert (leases["1"].last_visit_s, leases["1"].seen_s) == (12.0, 7.0)
        assert (leases["2"].last_visit_s, leases["2"].seen_s) == (12.0, None)
        assert sorted(pages.seen_s.tolist()) == [7.0, 12.0]
        details = self._details(frontier)
        assert (details.seen_s, details.recent[0].seen_s) == (7.0, 7.0)

        told = _update(leases["1"], 113.0, Outcome.UNCHANGED)
        visit = replace(told.visit, seen_s=100.0, interval_s=93.0, modified_s=90.0)
        frontier.complete([replace(told, visit=visit)])
        evidence = frontier.evidence([leases["1"].page_id])
        assert (evidence.intervals_s.tolist(), evidence.ages_s.tolist()) == ([93.0], [10.0])
        frontier.complete([_update(leases["2"], 113.0, Outcome.FAILED, failures=1)])
        assert sorted(frontier.planned_pages().seen_s.tolist()) == [12.0, 100.0]

    def test_what_pages_said_anew_is_kept_the_latest_first(self, frontier: Frontier) -> None:
        """With the page's title, for all pages and for one; visits without any add nothing."""
        frontier.admit([_found("/1"), _found("/2")], 0.0, ANY)
        first, second = self._leased(frontier, 2)
        frontier.complete([_update(first, 10.0, title="First"), _update(second, 11.0)])
        frontier.make_due(60.0)
        for lease in self._leased(frontier, 2, 60.0):
            frontier.complete([_update(lease, 61.0 + lease.page_id, Outcome.CHANGED, title="T",
                                       difference=f"-old {lease.page_id}\n+new")])  # fmt: skip

        told = frontier.differences(limit=5)

        assert [one.found_at_s for one in told] == sorted(
            (61.0 + first.page_id, 61.0 + second.page_id), reverse=True
        )
        only = frontier.differences(limit=5, url=first.url)
        assert [(one.url, one.title, one.text) for one in only] == [
            (first.url, "T", f"-old {first.page_id}\n+new")
        ]
        assert len(frontier.differences(limit=1)) == 1

    def test_a_lapsed_lease_writes_history_only(self, frontier: Frontier) -> None:
        """The page belongs to whoever holds the live lease."""
        lapsed = self._lease(frontier, "/1")
        (live,) = self._leased(frontier, now_s=70.0)
        frontier.complete([_update(lapsed, 71.0, signature=b"old")])
        frontier.complete([_update(live, 72.0, signature=b"new")])

        details = self._details(frontier)
        assert len(details.recent) == 2
        assert list(frontier.urls_indexed()) == [(f"{HOST}/1", b"new")]

    def test_time_in_which_a_page_could_bring_something_counts_once(
        self, frontier: Frontier
    ) -> None:
        """Not for a visit by a lease that lapsed: the page's last visit stays as it was."""
        frontier.complete([_update(self._lease(frontier, "/1"), 10.0)])
        (lapsed,) = self._leased(frontier, now_s=200.0)
        (live,) = self._leased(frontier, now_s=270.0)
        frontier.complete([_update(lapsed, 271.0, Outcome.UNCHANGED)])
        frontier.complete([_update(live, 272.0, Outcome.UNCHANGED)])

        (born,) = frontier.worths.births()

        assert born.exposure_s == pytest.approx(262.0)

    def test_a_page_put_off_is_due_no_sooner_whatever_becomes_of_its_lease(
        self, frontier: Frontier
    ) -> None:
        """Given back or lapsed, it waits; a lease that lapsed puts nothing off."""
        lease = self._lease(frontier, "/1")
        frontier.defer(lease, 500.0)
        frontier.release([lease])

        assert self._leased(frontier, now_s=499.0) == []
        (again,) = self._leased(frontier, now_s=500.0)
        assert again.failures == 1
        frontier.defer(lease, 5_000.0)
        assert frontier.host(again.host_id, now_s=9_999.0).next_due_s == 500.0

    def test_what_is_being_indexed_is_known_until_completed(self, frontier: Frontier) -> None:
        """The trace that recovery follows."""
        self._admitted(frontier, "/1", "/2")
        one, two = self._leased(frontier, 2)
        frontier.begin_indexing([one.page_id, two.page_id])
        frontier.complete([_update(one, 12.0, signature=b"s")])

        assert frontier.in_indexing() == [(two.page_id, two.url, None)]
        frontier.reconcile(two.page_id, b"found", 20.0)
        assert frontier.in_indexing() == []
        assert dict(frontier.urls_indexed())[two.url] == b"found"

    def test_evidence_is_of_pages_visited_since(self, frontier: Frontier) -> None:
        """Visits that tell changed or unchanged, with the time since the last one."""
        self._admitted(frontier, "/1", "/2")
        one, two = self._leased(frontier, 2)
        frontier.complete([_update(one, 10.0, due_s=20.0), _update(two, 10.0, due_s=500.0)])
        visited, seen = frontier.visited_since(0)
        nothing = frontier.evidence(visited.tolist())
        (one,) = self._leased(frontier, 2, now_s=70.0)
        frontier.complete([_update(one, 75.0, Outcome.CHANGED)])
        visited, last = frontier.visited_since(seen)
        evidence = frontier.evidence(visited.tolist())

        assert last > seen
        assert frontier.visited_since(last)[0].tolist() == []
        assert len(nothing.intervals_s) == 0
        assert evidence.page_ids.tolist() == [one.page_id]
        assert evidence.intervals_s.tolist() == [65.0]
        assert evidence.changed.tolist() == [True]
        assert list(evidence.urls) == [one.url]
        assert np.isnan(evidence.signalled).all(), "no sitemap says anything of it"

    def test_what_was_learned_is_kept_with_the_rates(self, frontier: Frontier) -> None:
        """Of pages and hosts; as it was kept last, beside when the page was visited last."""
        other = "http://b.test"
        self._admitted(frontier, "/1", "/2", "/3")
        frontier.admit([_found("/1", other)], 0.0, ANY)
        one, two, three = self._leased(frontier, 3)
        frontier.complete([_update(one, 10.0), _update(two, 10.0, lasting=True)])
        ids = np.array([one.page_id, two.page_id])
        rates, factors = np.array([0.5, 0.25]), np.array([1.2, 1.5])
        nothing = frontier.believed_before(ids.tolist())
        frontier.save_change_rates(
            ids, rates, factors, [b"a", b"\0b"], [(HOST, b"h"), ("http://nobody.test", b"n")]
        )
        frontier.save_change_rates(ids[:1], rates[:1], factors[:1], [b"c"], [(other, b"o")])
        frontier.save_change_rates(ids, rates, factors)

        known = frontier.believed_before([three.page_id, *ids.tolist()])

        assert nothing.page_ids.tolist() == list(nothing.pages) == []
        assert not nothing.hosts
        assert known.page_ids.tolist() == ids.tolist()
        assert list(known.urls) == [one.url, two.url]
        assert [bool(lasts) for lasts in known.lasting] == [False, True]
        assert known.last_visit_s.tolist() == [10.0, 10.0]
        assert list(known.pages) == [b"c", b"\0b"]
        assert known.hosts == {HOST: b"h"}
        assert frontier.evidence([one.page_id]).last_visit_s.tolist() == [10.0]
        assert np.isnan(frontier.evidence([three.page_id]).last_visit_s).all()

    def test_what_a_server_promises_of_a_page_is_evidence(self, frontier: Frontier) -> None:
        """Until it says something else; an answer that says nothing leaves it as it was."""
        self._admitted(frontier, "/1")
        for visited_s, said, expected in (
            (10.0, None, False),
            (30.0, True, True),
            (50.0, None, True),
            (70.0, False, False),
        ):
            (lease,) = self._leased(frontier, now_s=visited_s)
            update = _update(lease, visited_s, Outcome.UNCHANGED, due_s=visited_s + 1)
            frontier.complete([replace(update, lasting=said)])
            evidence = frontier.evidence([lease.page_id])
            assert [bool(lasts) for lasts in evidence.lasting] == [expected]

    def test_evidence_is_in_order_of_time(self, frontier: Frontier) -> None:
        """Forgetting needs the order; and evidence tells what a sitemap had announced."""
        lease = self._lease(frontier, "/1")
        frontier.complete([_update(lease, 10.0, due_s=20.0)])
        for visited_s, lastmod_s in ((30.0, 5.0), (70.0, 40.0), (100.0, 90.0)):
            frontier.admit([replace(_found("/1"), lastmod_s=lastmod_s)], visited_s, ANY)
            (lease,) = self._leased(frontier, now_s=visited_s)
            update = _update(lease, visited_s, Outcome.CHANGED, due_s=visited_s + 1)
            told = replace(update.visit, modified_s=visited_s - 4.0 if visited_s > 50.0 else None)
            frontier.complete([replace(update, visit=told)])

        evidence = frontier.evidence(frontier.visited_since(0)[0].tolist())
        latest = frontier.evidence(evidence.page_ids.tolist(), limit_per_page=2)

        assert evidence.intervals_s.tolist() == [20.0, 40.0, 30.0]
        assert (np.diff(evidence.visit_ids) > 0).all()
        assert latest.visit_ids.tolist() == evidence.visit_ids[1:].tolist()
        assert latest.intervals_s.tolist() == [40.0, 30.0]
        assert evidence.signalled.tolist() == [0.0, 1.0, 1.0]
        assert np.array_equal(evidence.ages_s, [np.nan, 4.0, 4.0], equal_nan=True)
        assert frontier.planned_pages().lastmod_s.tolist() == [90.0]

    def test_every_change_that_is_announced_counts(self, frontier: Frontier) -> None:
        """As does for how long nobody read of any, as a later date hides those before."""
        self._admitted(frontier, "/1")
        sitemap = replace(_found("/map"), kind=Kind.SITEMAP)
        frontier.admit([sitemap], 0.0, ANY)
        listing, page = sorted(self._leased(frontier, 2), key=lambda one: one.kind is Kind.PAGE)
        frontier.complete([_update(page, 10.0, due_s=900.0), _update(listing, 10.0, due_s=20.0)])
        (listing,) = self._leased(frontier, now_s=20.0)
        for read_s, lastmod_s in ((20.0, 5.0), (30.0, 29.0), (50.0, 44.0), (60.0, 44.0)):
            dated = replace(_found("/1"), lastmod_s=lastmod_s, found_on=listing.page_id)
            frontier.admit([dated], read_s, ANY)
            frontier.complete([_update(listing, read_s, due_s=read_s)])
            (listing,) = self._leased(frontier, now_s=read_s)
        frontier.complete([_update(listing, 60.0, due_s=990.0)])
        told = frontier.planned_pages()
        frontier.admit([replace(_found("/1"), lastmod_s=70.0)], 70.0, ANY)  # by who changed it
        (page,) = self._leased(frontier, now_s=900.0)
        frontier.save_announcers({page.host_id: Announcer(0.5, 0.9, 60.0)})
        frontier.complete([_update(page, 900.0, Outcome.CHANGED, due_s=990.0)])

        evidence, now = frontier.evidence([page.page_id]), frontier.planned_pages()

        assert told.n_announced.tolist() == [2.0]
        assert told.unheard_s.tolist() == [9.0 + 14.0], "from one reading to the date in the next"
        assert evidence.signalled.tolist() == [3.0]
        assert evidence.unheard_s.tolist() == [9.0 + 14.0 + 840.0]
        assert now.n_announced.tolist() == now.unheard_s.tolist() == [0.0]
        assert now.found_on.tolist() == [listing.page_id], "of the listing that dated it last"

    @pytest.mark.parametrize("planned", [False, True])
    @pytest.mark.parametrize("kind", [Kind.SITEMAP, Kind.PAGE])
    def test_what_a_page_was_found_in_is_heard_when_it_is_read(
        self, frontier: Frontier, kind: Kind, planned: bool
    ) -> None:
        """If it is a listing, be it read after the last plan, or before there is one."""
        frontier.admit([replace(_found("/map"), kind=kind)], 0.0, ANY)
        (finder,) = self._leased(frontier)
        frontier.complete([_update(finder, 10.0, due_s=60.0)])
        dated = replace(_found("/1"), lastmod_s=5.0, found_on=finder.page_id)
        frontier.admit([dated], 10.0, ANY)
        (page,) = self._leased(frontier, now_s=10.0)
        frontier.complete([_update(page, 20.0, due_s=100.0)])
        if planned:
            frontier.save_announcers({page.host_id: Announcer(0.5, 0.9, 30.0)})
        (finder,) = self._leased(frontier, now_s=60.0)
        frontier.admit([replace(dated, lastmod_s=50.0)], 60.0, ANY)
        frontier.complete([_update(finder, 60.0, due_s=900.0)])
        (page,) = self._leased(frontier, now_s=100.0)
        frontier.complete([_update(page, 100.0, Outcome.CHANGED, due_s=990.0)])

        evidence = frontier.evidence([page.page_id])

        hidden = 50.0 - 20.0  # before the date that is told
        if kind is Kind.SITEMAP:
            assert evidence.unheard_s.tolist() == [hidden + 40.0]
        else:
            assert evidence.unheard_s.tolist() == [hidden + (70.0 if planned else 0.0)]

    @pytest.mark.parametrize("lastmod_s", [None, 5.0, 70.0])
    def test_before_announcements_are_known_of_nothing_is_heard(
        self, frontier: Frontier, lastmod_s: float | None
    ) -> None:
        """But for what was; and of a page in no list there is nothing to hear."""
        self._admitted(frontier, "/1")
        (page,) = self._leased(frontier)
        frontier.complete([_update(page, 10.0, due_s=20.0)])
        frontier.admit([replace(_found("/1"), lastmod_s=lastmod_s)], 80.0, ANY)
        (page,) = self._leased(frontier, now_s=100.0)
        frontier.complete([_update(page, 100.0, Outcome.CHANGED, due_s=990.0)])

        evidence = frontier.evidence([page.page_id])

        assert evidence.unheard_s.tolist() == [90.0 if lastmod_s == 5.0 else 0.0]

    def test_what_went_and_is_listed_again_is_looked_at_again(self, frontier: Frontier) -> None:
        """Only where its host's dates are believed, and the date is later than the last visit."""
        self._admitted(frontier, "/1", "/2", "/3")
        for lease in self._leased(frontier, 3):
            update = _update(lease, 10.0, Outcome.NOT_FOUND, state=PageState.GONE, due_s=900.0)
            frontier.complete([update])
        frontier.admit([replace(_found("/1"), lastmod_s=20.0)], 30.0, ANY)
        frontier.admit([replace(_found("/2"), lastmod_s=5.0)], 30.0, ANY)
        host_id = frontier.hosts()[0].host_id

        assert frontier.look_again(40.0, [host_id + 1]) == 0
        assert frontier.look_again(40.0, [host_id]) == 1
        assert frontier.look_again(40.0, [host_id]) == 0
        assert [lease.url for lease in self._leased(frontier, 3, now_s=40.0)] == [_found("/1").url]
        told = self._details(frontier, _found("/1").url)
        assert told.due_why == LISTED_AGAIN

    def test_old_visits_are_forgotten_but_for_those_that_are_asked_for(
        self, frontier: Frontier
    ) -> None:
        """The evidence of pages and all else that is known of them stay as they were."""
        self._admitted(frontier, "/1", "/2")
        for at_s in range(10, 10 + 10 * (LATEST_VISITS + 6), 10):
            leases = self._leased(frontier, 2, now_s=float(at_s))
            frontier.complete(
                [_update(one, float(at_s), Outcome.UNCHANGED, due_s=at_s + 1.0) for one in leases]
            )
        ids = frontier.visited_since(0)[0].tolist()
        before = frontier.evidence(ids)
        counted = [one.visits for url in before.urls if (one := frontier.details(url))]

        after = frontier.forget_visits(45.0, after=0, limit=1)
        while after is not None:
            after = frontier.forget_visits(45.0, after=after, limit=1)

        for url in before.urls:
            told = self._details(frontier, url, recent=1_000)
            instants = sorted(visit.visited_at_s for visit in told.recent)
            if not self.forgets:
                continue
            assert instants[0] == 50.0, "all before, and as many are left as are asked for"
            assert len(instants) == LATEST_VISITS + 2
        again = frontier.evidence(ids)
        assert np.array_equal(again.intervals_s, before.intervals_s)
        assert np.array_equal(again.visit_ids, before.visit_ids)
        assert np.array_equal(again.page, before.page)
        left = [one.visits for url in before.urls if (one := frontier.details(url))]
        assert left == counted

    def test_pages_that_say_the_same_are_copies_of_the_first(self, frontier: Frontier) -> None:
        """Of one host, while they are indexed and say so; never of many that say nothing yet."""
        frontier.admit([_found(f"/{n}") for n in range(6)], 0.0, ANY)
        leases = self._leased(frontier, 6)
        said = (b"a", b"b", b"a", b"a", b"c", b"b")
        for lease, signature in zip(leases, said, strict=True):
            frontier.complete([_update(lease, 10.0, signature=signature)])
        ids = [lease.page_id for lease in leases]

        assert sorted(frontier.copies(8)) == sorted([ids[2], ids[3], ids[5]])
        assert frontier.copies(2) == [ids[5]]
        frontier.make_due(60.0)
        (again,) = [one for one in self._leased(frontier, 6, 60.0) if one.page_id == ids[2]]
        frontier.complete([_update(again, 61.0, Outcome.CHANGED, signature=b"d")])
        assert sorted(frontier.copies(8)) == sorted([ids[3], ids[5]])

    def test_a_plan_moves_rates_and_due_times(self, frontier: Frontier) -> None:
        """And is the one in force until the next."""
        lease = self._lease(frontier, "/1")
        frontier.complete([_update(lease, 12.0)])
        pages = frontier.planned_pages()
        assert pages.page_ids.tolist() == [lease.page_id]
        assert np.isnan(pages.crawl_rates_per_s).all()
        frontier.save_change_rates(pages.page_ids, np.array([0.5]), np.array([1.2]))
        plan = PlanRecord(13.0, 1, 0.1, 2.0, 0.9, 0)
        frontier.save_plan(plan)
        frontier.save_crawl_rates(plan, pages.page_ids, np.array([0.25]), np.array([16.0]))

        assert frontier.last_plan() == plan
        again = frontier.planned_pages()
        assert again.change_rates_per_s.tolist() == [0.5]
        assert again.change_rate_factors.tolist() == [1.2]
        assert again.crawl_rates_per_s.tolist() == [0.25]
        assert again.due_s.tolist() == [16.0]

    def test_a_visit_that_a_plan_did_not_know_of_says_when_its_page_is_due(
        self, frontier: Frontier
    ) -> None:
        """It was made before the plan was solved, and on its way to the records then."""
        self._admitted(frontier, "/1", "/2")
        leases = self._leased(frontier, 2)
        frontier.complete([_update(lease, 12.0) for lease in leases])
        before = frontier.planned_pages()
        known_s = np.array([11.0, 12.0])
        plan = PlanRecord(13.0, 2, 0.1, 2.0, 0.9, 0)
        frontier.save_crawl_rates(
            plan, before.page_ids, np.full(2, 0.25), np.full(2, 16.0), last_visit_s=known_s
        )
        after = frontier.planned_pages()

        assert after.crawl_rates_per_s.tolist() == [0.25, 0.25]
        assert after.due_s.tolist() == [before.due_s[0], 16.0]
        assert before.due_s[0] != 16.0

    def test_a_plan_tells_of_clocks_and_of_what_companions_moved(self, frontier: Frontier) -> None:
        """Until the page's next visit; where a plan moves nothing, what was said holds."""
        self._admitted(frontier, "/1", "/ill")
        well, ill = self._leased(frontier, 2)
        frontier.complete([_update(well, 12.0), _update(ill, 12.0, failures=1)])
        plan = PlanRecord(13.0, 1, 0.1, 2.0, 0.9, 0, "foresight", '[{"group": "http://a.test/"}]')
        frontier.save_plan(plan)
        ids, two = np.array([well.page_id, ill.page_id]), np.ones(2)
        frontier.save_crawl_rates(plan, ids, two, 20.0 * two, own_due_s=np.array([25.0, 26.0]))

        def own_due_s() -> list[float | None]:
            told = [frontier.details(lease.url) for lease in (well, ill)]
            return [one.own_due_s for one in told if one]

        assert frontier.last_plan() == plan
        assert own_due_s() == [25.0, None]
        frontier.make_due(30.0)
        (again,) = [one for one in self._leased(frontier, 2, 31.0) if one.page_id == well.page_id]
        frontier.complete([_update(again, 31.0, Outcome.UNCHANGED)])
        assert own_due_s() == [None, None]
        frontier.save_crawl_rates(replace(plan, solved_at_s=32.0), ids, two, 50.0 * two)
        assert own_due_s() == [None, None]

    def test_what_visits_found_is_told_the_latest_first(self, frontier: Frontier) -> None:
        """First copies and changed ones of pages, since an instant, among the latest visits."""
        frontier.admit([_found("/1"), _found("/2"), _found("/s", kind=Kind.SITEMAP)], 0.0, ANY)
        for at_s, outcomes in ((10.0, "nns"), (20.0, "cuc")):
            frontier.make_due(at_s)
            leases = sorted(self._leased(frontier, 3, at_s), key=lambda lease: lease.url)
            for number, lease in enumerate(leases):
                outcome = _SAID[outcomes[number]]
                frontier.complete([_update(lease, at_s + number, outcome)])

        one, two = f"{HOST}/1", f"{HOST}/2"
        every = [(one, 20.0, False), (two, 11.0, True), (one, 10.0, True)]
        assert frontier.found_since(0.0, among=99, limit=99) == every
        assert frontier.found_since(10.5, among=99, limit=99) == every[:2]
        assert frontier.found_since(0.0, among=99, limit=1) == every[:1]

    def test_listings_are_no_pages_to_plan(self, frontier: Frontier) -> None:
        """Sitemaps and feeds are visited, and counted apart."""
        frontier.admit([_found("/sitemap.xml", kind=Kind.SITEMAP)], 0.0, ANY)
        (lease,) = self._leased(frontier)
        frontier.complete([_update(lease, 12.0, Outcome.LISTING)])

        assert len(frontier.planned_pages().page_ids) == 0
        assert frontier.n_pages_by_state() == {}
        assert list(frontier.urls_indexed()) == []

    def test_weights_follow_the_configuration(self, frontier: Frontier) -> None:
        """A changed weight is counted, an unchanged one is not."""
        self._admitted(frontier, "/1", "/2")

        assert frontier.reweigh(lambda url: 5.0 if url.endswith("1") else 1.0) == 1
        details = self._details(frontier)
        assert details.weight == 5.0

    def test_every_page_can_be_made_due(self, frontier: Frontier) -> None:
        """For a single pass over everything."""
        lease = self._lease(frontier, "/1")
        frontier.complete([_update(lease, 12.0)])

        assert frontier.n_due(50.0) == 0
        frontier.make_due(50.0, visited_before_s=12.0)  # this one was visited since
        assert frontier.n_due(50.0) == 0
        frontier.make_due(50.0, visited_before_s=12.5)
        assert frontier.n_due(50.0) == 1
        assert frontier.make_due(40.0) == 1
        assert frontier.n_due(40.0) == 1

    def test_what_brings_nothing_new_is_not_made_due(self, frontier: Frontier) -> None:
        """Each pass would visit it all, as what was learned of it is not kept."""
        frontier.admit([_found("/a?print=1"), _found("/b")], 0.0, ANY)
        for lease, why in zip(self._leased(frontier, 2), (LITTLE, OUTSIDE), strict=True):
            frontier.put_off([(lease, 500.0)], why)

        frontier.make_due(50.0)

        assert frontier.n_due(50.0) == 1
        assert frontier.n_due(500.0) == 2

    def test_pages_that_other_rules_read_now_are_due_one_after_the_other(
        self, frontier: Frontier
    ) -> None:
        """Those of most weight first, none later than before; what holds no copy is left alone."""
        paths = [f"/{name}" for name in "abcdefg"]
        found = [_found(path, weight=1.0 + place) for place, path in enumerate(paths)]
        frontier.admit(found, 0.0, ANY)
        told: dict[str, dict[str, object]] = {
            "/a": {"read_as": 7}, "/b": {"read_as": 0}, "/c": {"due_s": 100.5}, "/d": {},
            "/e": {"signature": None, "state": PageState.GONE}, "/f": {"read_as": 8},
        }  # fmt: skip
        for lease in self._leased(frontier, 7, 10.0):
            path = lease.url.removeprefix(HOST)
            said = {"due_s": 900.0, "signature": b"s"} | told.get(path, {})
            if path in told:
                frontier.complete([_update(lease, 10.0, Outcome.NEW, **said)])
            else:
                frontier.release([lease])
        marks = {f"{HOST}/b": 5, f"{HOST}/c": 5, f"{HOST}/d": 5, f"{HOST}/f": 8}

        assert frontier.read_again(lambda url: marks.get(url, 0), 100.0, 2.0) == 4
        due = {path: frontier.details(HOST + path) for path in paths}
        assert {path: one.due_s for path, one in due.items() if one is not None and one.visits} == {
            "/d": 100.0,
            "/c": 100.5,
            "/b": 101.0,
            "/a": 101.5,
            "/e": 900.0,
            "/f": 900.0,
        }
        assert due["/d"] is not None
        assert "read again" in due["/d"].due_why

    def test_a_reach_that_became_wider_has_pages_looked_at_that_may_lead_there(
        self, frontier: Frontier
    ) -> None:
        """Moved ones at once, the others whole, by weight; none that was visited since."""
        paths = ("/a", "/b", "/moved", "/away", "/late", "/gone", "/outside")
        frontier.admit([_found(path, weight=1.0 + n) for n, path in enumerate(paths)], 0.0, ANY)
        moved = {"state": PageState.MOVED, "signature": None}
        told: dict[str, dict[str, object]] = {
            "/moved": moved | {"redirect_url": "http://b.test/moved"},
            "/away": moved | {"redirect_url": "http://c.test/away"},
            "/gone": {"state": PageState.GONE, "signature": None},
        }
        for lease in self._leased(frontier, 7):
            path = lease.url.removeprefix(HOST)
            if path == "/outside":
                frontier.put_off([(lease, 900.0)], OUTSIDE)
                continue
            said = {"due_s": 900.0, "signature": b"s", "etag": "e", "raw_hash": b"r"}
            at_s = 60.0 if path == "/late" else 12.0
            update = _update(lease, at_s, Outcome.NEW, **said | told.get(path, {}))
            frontier.complete([update])

        frontier.save_host(replace(frontier.hosts()[0], robots_until_s=86_449.0))

        n = frontier.widen(lambda url: "c.test" not in url, 50.0, 100.0, 0.5)

        details = {path: frontier.details(HOST + path) for path in paths}
        due = {path: (one.due_s, one.due_why == WIDENED) for path, one in details.items() if one}
        assert n == 4
        assert frontier.hosts()[0].robots_until_s == 0.0
        assert due.pop("/outside") == due.pop("/moved") == (100.0, True)
        assert due.pop("/b") == (100.0, True)
        assert due.pop("/a") == (102.0, True)
        assert set(due.values()) == {(900.0, False)}
        leases = {lease.url: lease for lease in self._leased(frontier, 9, 1_000.0)}
        assert (leases[f"{HOST}/a"].etag, leases[f"{HOST}/a"].raw_hash) == (None, None)
        assert (leases[f"{HOST}/late"].etag, leases[f"{HOST}/late"].raw_hash) == ("e", b"r")

    def test_a_plan_makes_no_page_later_that_is_looked_at_for_a_wider_reach(
        self, frontier: Frontier
    ) -> None:
        """One that is due sooner by the plan is visited then."""
        lease = self._lease(frontier, "/1")
        frontier.complete([_update(lease, 12.0, signature=b"s", due_s=500.0)])
        frontier.widen(lambda _: True, 13.0, 20.0, 1.0)
        plan, ids = PlanRecord(21.0, 1, 1.0, 1.0, 0.5, 0), np.array([lease.page_id])
        for due_s, kept_s in ((300.0, 20.0), (15.0, 15.0)):
            frontier.save_crawl_rates(plan, ids, np.array([0.1]), np.array([due_s]))
            details = self._details(frontier)
            assert details.due_s == kept_s

    def test_what_a_wider_reach_lets_in_was_not_born_then(self, frontier: Frontier) -> None:
        """It stood on the page that is read again; what a later visit finds there is new."""
        hub = self._lease(frontier, "/hub")
        frontier.complete([_update(hub, 10.0, signature=b"s")])
        frontier.widen(lambda _: True, 13.0, 20.0, 1.0)
        (hub,) = self._leased(frontier, now_s=20.0)
        frontier.admit([_found("/let-in", found_on=hub.page_id)], 20.0, ANY)
        frontier.complete([_update(hub, 20.0, Outcome.UNCHANGED, due_s=30.0, due_why="the plan")])
        hub = next(one for one in self._leased(frontier, 9, 30.0) if one.url.endswith("/hub"))
        frontier.admit([_found("/new", found_on=hub.page_id)], 40.0, ANY)
        frontier.complete([_update(hub, 40.0, Outcome.CHANGED)])

        known = (frontier.details(f"{HOST}/{name}") for name in ("let-in", "new"))
        ids = [one.page_id for one in known if one is not None]
        told, (born,) = frontier.evidence(ids), frontier.worths.births()

        assert dict(zip(told.page_ids.tolist(), told.born_s.tolist(), strict=True))[ids[1]] == 30.0
        assert np.isnan(told.born_s[told.page_ids.tolist().index(ids[0])])
        assert born.n == pytest.approx(1.0, rel=1e-3)

    def test_pages_that_went_beside_one_that_is_back_are_looked_at(
        self, frontier: Frontier
    ) -> None:
        """Two on either side, wherever; not what was looked at since, or never was there."""
        paths = [f"/{name}" for name in "abcdefghi"] + [f"/b{number:03}" for number in range(200)]
        self._admitted(frontier, *paths)
        went = {"/a": PageState.MOVED, "/b": PageState.GONE, "/d": PageState.GONE}
        went |= {"/f": PageState.MOVED, "/g": PageState.GONE, "/h": PageState.MOVED}
        never_there = f"{HOST}/c"
        for at_s in (10.0, 20.0):
            for lease in self._leased(frontier, len(paths), at_s):
                path = lease.url.removeprefix(HOST)
                if at_s == 10.0 and lease.url != never_there:
                    frontier.complete([_update(lease, at_s, due_s=at_s + 1.0)])
                    continue
                state = PageState.MOVED if lease.url == never_there else went.get(path)
                visited_s = 60.0 if path == "/d" else at_s
                outcome = Outcome.MOVED if state else Outcome.UNCHANGED
                told = _update(lease, visited_s, outcome, state=state or PageState.INDEXED)
                frontier.complete([replace(told, due_s=900.0)])
        back = self._details(frontier, f"{HOST}/e")

        assert frontier.look_beside({back.page_id: 50.0}, 100.0, are_back=True) == 4

        pages = [frontier.details(HOST + path) for path in paths]
        looked = {page.url for page in pages if page and page.due_s == 100.0}
        assert looked == {HOST + path for path in ("/a", "/b", "/f", "/g")}
        whys = {page.due_why for page in pages if page and page.url in looked}
        assert whys == {BESIDE_BACK}

    def test_what_was_denied_is_asked_for_again_from_the_most_important(
        self, frontier: Frontier
    ) -> None:
        """One of each host, or so many of a host; none that is there, or gone otherwise.

        What robots.txt forbids comes after those.
        """
        told = {
            "/a": (PageState.MISSING, Outcome.DENIED), "/b": (PageState.GONE, Outcome.DENIED),
            "/c": (PageState.GONE, Outcome.NOT_FOUND), "/d": (PageState.INDEXED, Outcome.NEW),
            "/e": (PageState.DISALLOWED, Outcome.DISALLOWED),
        }  # fmt: skip
        found = [_found(path, weight=1.0 + n) for n, path in enumerate(told)]
        frontier.admit([*found, _found("/a", "http://b.test")], 0.0, ANY)
        hosts = {host.host: host.host_id for host in frontier.hosts()}
        for host, host_id in hosts.items():
            for lease in frontier.lease(host_id, limit=9, due_by_s=1.0, now_s=1.0, until_s=9.0):
                state, outcome = told[lease.url.removeprefix(host)]
                frontier.complete([_update(lease, 2.0, outcome, state=state, due_s=900.0)])

        def due() -> set[str]:
            urls = [f"{HOST}{path}" for path in told] + ["http://b.test/a"]
            pages = [frontier.details(url) for url in urls]
            return {page.url for page in pages if page and page.due_s == 20.0}

        assert frontier.ask_leave(20.0) == sorted(hosts.values())
        assert due() == {f"{HOST}/b", "http://b.test/a"}
        assert frontier.ask_leave(20.0, host_id=hosts["http://b.test"], most=9) == [
            hosts["http://b.test"]
        ]
        assert frontier.ask_leave(20.0, host_id=hosts[HOST], most=9) == [hosts[HOST]]
        assert due() == {f"{HOST}/a", f"{HOST}/b", f"{HOST}/e", "http://b.test/a"}

    def test_sitemaps_that_were_not_there_are_looked_for(self, frontier: Frontier) -> None:
        """No page, none that is there, and none that nobody names."""
        told = {
            "/a": (Kind.SITEMAP, PageState.GONE), "/b": (Kind.SITEMAP, PageState.MISSING),
            "/c": (Kind.SITEMAP, PageState.INDEXED), "/d": (Kind.PAGE, PageState.GONE),
            "/e": (Kind.SITEMAP, PageState.GONE),
        }  # fmt: skip
        found = [_found(path, kind=kind) for path, (kind, _) in told.items()]
        frontier.admit(found, 0.0, ANY)
        for lease in self._leased(frontier, 9):
            state = told[lease.url.removeprefix(HOST)][1]
            frontier.complete([_update(lease, 20.0, state=state, due_s=900.0)])
        named = [f"{HOST}{path}" for path in ("/a", "/b", "/c", "/d", "/none")]

        assert [frontier.look_for(30.0, named) for _ in range(2)] == [2, 0]
        assert {one.url for one in self._leased(frontier, 9, 31.0)} == set(named[:2])

    def test_pages_that_wait_for_old_rules_are_counted(self, frontier: Frontier) -> None:
        """Of hosts that were read before, may be asked, and are not open."""
        old, rests = {"robots_status": 404, "robots_until_s": 50.0}, {"blocked_until_s": 150.0}
        told = [old, old | {"robots_until_s": 150.0}, old | rests, {}]
        found = [_found("/1", f"http://{n}.test") for n in range(len(told))]
        frontier.admit([*found, _found("/2", "http://0.test")], 0.0, ANY)
        for record in frontier.hosts():
            number = int(record.host.removeprefix("http://").partition(".")[0])
            frontier.save_host(replace(record, **told[number]))  # type: ignore[arg-type]

        assert (frontier.n_due(100.0), frontier.n_closed(100.0)) == (5, 2)
        first = next(one.host_id for one in frontier.hosts() if one.host == "http://0.test")
        frontier.lease(first, limit=1, due_by_s=100.0, now_s=100.0, until_s=150.0)
        assert (frontier.n_closed(100.0), frontier.n_closed(49.0)) == (1, 0)

    def test_a_reach_is_kept(self, frontier: Frontier) -> None:
        """The one that was told last."""
        before = frontier.reach()
        frontier.save_reach("a")
        frontier.save_reach("b")

        assert (before, frontier.reach()) == (None, "b")

    def test_moves_are_told_by_host_and_where_they_lead(self, frontier: Frontier) -> None:
        """Within a host nothing has moved away; pages never visited do not count."""
        leads = [
            "https://a.test/1",
            "http://b.test:81/2?q=/",
            "http://b.test:81/3",
            f"{HOST}/x",
            None,
        ]
        self._admitted(frontier, *(f"/{n}" for n in range(6)))
        for lease, target in zip(self._leased(frontier, 5), leads, strict=True):
            state = PageState.INDEXED if target is None else PageState.MOVED
            frontier.complete([_update(lease, 12.0, state=state, redirect_url=target)])

        assert frontier.moves() == [
            (HOST, "http://b.test:81", 2, 5),
            (HOST, "https://a.test", 1, 5),
        ]

    def test_a_visit_says_by_which_rules_it_read_and_a_plan_makes_nothing_later(
        self, frontier: Frontier
    ) -> None:
        """The new content is recorded, though nobody can say whether it has changed."""
        lease = self._lease(frontier, "/1")
        frontier.complete([_update(lease, 12.0, signature=b"s", read_as=7, due_s=500.0)])
        assert frontier.read_again(lambda _: 7, 20.0, 1.0) == 0
        assert frontier.read_again(lambda _: 9, 20.0, 1.0) == 1
        plan, ids = PlanRecord(21.0, 1, 1.0, 1.0, 0.5, 0), np.array([lease.page_id])
        for due_s, kept_s in ((300.0, 20.0), (15.0, 15.0), (400.0, 400.0)):
            frontier.save_crawl_rates(plan, ids, np.array([0.1]), np.array([due_s]))
            details = self._details(frontier)
            assert details.due_s == kept_s

        (again,) = self._leased(frontier, 1, 450.0)
        assert again.read_as == 7
        visit = Visit(450.0, Outcome.CHANGED, changed=None)
        changed = _update(again, 450.0, Outcome.CHANGED, signature=b"t", read_as=9, due_s=460.0)
        frontier.complete([replace(changed, visit=visit)])
        (last,) = self._leased(frontier, 1, 470.0)
        assert (last.read_as, last.last_visit_s) == (9, 450.0)
        frontier.complete([_update(last, 470.0, Outcome.NOT_MODIFIED, signature=b"t", due_s=480.0)])
        assert self._leased(frontier, 1, 490.0)[0].read_as == 9

    def test_hosts_and_facts_are_kept(self, frontier: Frontier) -> None:
        """Robots.txt and back-off outlive the process."""
        from dataclasses import replace

        self._admitted(frontier, "/1", now_s=4.0)
        (record,) = frontier.hosts()
        changed = replace(
            record,
            robots_status=200,
            robots_body=b"x",
            robots_until_s=9.0,
            failures=2,
            blocked_until_s=8.0,
            blocked_why="answered 503",
            ip_address="192.0.2.1",
            ip_blocked_until_s=7.0,
            rest_s=1.5,
            is_read_in_full=True,
        )
        told = Announcer(recall=0.5, precision=0.9, heard_s=7.0)
        assert frontier.announcers() == {}
        frontier.save_announcers({record.host_id: told})
        frontier.save_host(changed)
        frontier.save_facts(EndFacts(ended_in_order=True), SettingsFacts(delay_s=1.0, robots=2.0))
        frontier.save_facts(SettingsFacts(robots=3.0))

        assert frontier.hosts() == [changed]
        assert frontier.announcers() == {record.host_id: told}
        frontier.save_announcers({record.host_id: Announcer(0.0, 0.0, 9.0)})
        assert frontier.announcers() == {}, "what it announces is mostly not true by now"
        assert frontier.facts().end.ended_in_order
        assert frontier.facts().settings == SettingsFacts(delay_s=1.0, robots=3.0)

    def test_due_times_of_a_clock_that_was_ahead_are_brought_forward(
        self, frontier: Frontier
    ) -> None:
        """To the longest interval from now; nearer ones stay."""
        frontier.admit([_found("/far"), _found("/near")], 1_000_000.0, ANY)
        frontier.admit([_found("/now")], 500.0, ANY)

        assert frontier.make_due_by(500.0, 100.0) == 2
        assert frontier.make_due_by(500.0, 100.0) == 0
        due = {
            path: details.due_s
            for path in ("/far", "/near", "/now")
            if (details := frontier.details(HOST + path))
        }
        assert due == {"/far": 600.0, "/near": 600.0, "/now": 500.0}

    def test_what_a_clock_that_was_ahead_has_found_is_due(self, frontier: Frontier) -> None:
        """But not what was put off for another reason, nor what was visited meanwhile."""
        self._admitted(frontier, "/visited", "/put-off", "/late")
        leases = {lease.url[len(HOST) :]: lease for lease in self._leased(frontier, 3)}
        frontier.complete([_update(leases["/visited"], 2_000.0, due_s=5_000.0)])
        frontier.put_off([(leases["/put-off"], 5_000.0)], "for a reason")
        frontier.release([leases["/late"]])
        frontier.admit([_found("/ahead")], 4_000.0, ANY)

        assert frontier.make_found_due(1_000.0) == 1
        assert frontier.make_found_due(1_000.0) == 0
        due = {
            path: details.due_s
            for path in ("/visited", "/put-off", "/late", "/ahead")
            if (details := frontier.details(HOST + path))
        }
        late_s = due.pop("/late")
        assert late_s <= 1_000.0
        assert due == {"/visited": 5_000.0, "/put-off": 5_000.0, "/ahead": 1_000.0}

    def test_an_unknown_url_has_no_details(self, frontier: Frontier) -> None:
        """Asking costs nothing and changes nothing."""
        assert frontier.details(f"{HOST}/nowhere") is None

    def test_what_is_worth_most_is_leased_ahead_of_its_time(self, frontier: Frontier) -> None:
        """Only pages due by their worth, none visited too recently, none leased already."""
        self._admitted(frontier, "/fixed", "/fresh", "/far", "/near", "/new")
        leases = {lease.url[len(HOST) :]: lease for lease in self._leased(frontier, 5)}
        told = [("/fixed", None, 0.0), ("/fresh", 100.0, 950.0), ("/far", 4e5, 0.0)]
        for path, interval_s, at_s in [*told, ("/near", 3e3, 0.0)]:
            due_s = at_s + (interval_s or 5_000.0)
            frontier.complete([_update(leases[path], at_s, due_s=due_s, interval_s=interval_s)])
        frontier.release([leases["/new"]])
        host_id = frontier.hosts()[0].host_id

        def ahead(limit: int) -> tuple[list[str], float]:
            found, from_s = frontier.lease_ahead(
                host_id,
                limit=limit,
                worth=lambda lease, now_s: (now_s - lease.last_visit_s) / lease.due_s,  # type: ignore[operator]
                now_s=1_000.0,
                min_interval_s=100.0,
                until_s=1_050.0,
            )
            return [lease.url[len(HOST) :] for lease in found], from_s

        assert ahead(1) == (["/near"], 1_000.0)
        assert ahead(5) == (["/far"], 1_000.0)
        assert ahead(5) == ([], 1_050.0), "the one visited too recently may be had then"

    def test_a_page_that_was_put_off_is_not_leased_ahead(self, frontier: Frontier) -> None:
        """Its due time is fixed, whatever a visit would be worth."""
        lease = self._lease(frontier, "/1")
        frontier.complete([_update(lease, 0.0, due_s=3e3, interval_s=3e3)])
        told = {"limit": 1, "now_s": 1_000.0, "min_interval_s": 100.0, "until_s": 1_050.0}

        def ahead() -> list[Lease]:
            return frontier.lease_ahead(lease.host_id, worth=lambda *_: 0.5, **told)[0]  # type: ignore[arg-type]

        (again,) = ahead()
        frontier.put_off([(again, 2_000.0)], "for a reason")

        assert ahead() == []
        assert self._leased(frontier, now_s=1_999.0) == []
        assert [one.page_id for one in self._leased(frontier, now_s=2_000.0)] == [lease.page_id]

    def test_a_host_without_pages_due_by_their_worth_has_nothing_ahead(
        self, frontier: Frontier
    ) -> None:
        """And says that asking again is of no use."""
        self._admitted(frontier, "/new")
        host_id = frontier.hosts()[0].host_id

        found = frontier.lease_ahead(
            host_id,
            limit=3,
            worth=lambda lease, now_s: 1.0,
            now_s=5.0,
            min_interval_s=1.0,
            until_s=9.0,
        )

        assert found == ([], inf)

    def test_a_plan_leaves_pages_in_trouble_to_their_back_off(self, frontier: Frontier) -> None:
        """Their rate is kept for later."""
        self._admitted(frontier, "/ill", "/well")
        ill, well = self._leased(frontier, 2)
        frontier.complete([_update(ill, 1.0, failures=1, due_s=700.0), _update(well, 1.0)])
        ids = np.array([ill.page_id, well.page_id])
        frontier.save_plan(PlanRecord(2.0, 2, 1.0, 1.0, 0.5, 0))
        frontier.save_crawl_rates(
            PlanRecord(2.0, 2, 1.0, 1.0, 0.5, 0), ids, np.full(2, 0.1), np.full(2, 11.0)
        )

        told = [frontier.details(lease.url) for lease in (ill, well)]
        assert [one.due_s for one in told if one] == [700.0, 11.0]
        assert [one.crawl_rate_per_s for one in told if one] == [0.1, 0.1]

    def test_a_visit_made_while_a_plan_was_solved_says_when_the_next_one_is(
        self, frontier: Frontier
    ) -> None:
        """The plan did not know of it; its rate holds from the next visit on."""
        lease = self._lease(frontier, "/1")
        frontier.complete([_update(lease, 30.0, due_s=900.0)])

        plan, ids = PlanRecord(20.0, 1, 1.0, 1.0, 0.5, 0), np.array([lease.page_id])
        frontier.save_plan(plan)
        frontier.save_crawl_rates(plan, ids, np.array([0.1]), np.array([25.0]))

        told = self._details(frontier, lease.url)
        assert (told.due_s, told.crawl_rate_per_s) == (900.0, 0.1)

    def test_what_is_asked_for_comes_before_all_else(self, frontier: Frontier) -> None:
        """Pages known and unknown; what does not belong to the crawl is refused with a reason."""
        self._admitted(frontier, "/old", "/due")
        leases = self._leased(frontier, 2)
        frontier.complete([_update(lease, 1.0, due_s=500.0) for lease in leases])
        self._admitted(frontier, "/new", now_s=2.0)
        numbers = frontier.ask([f"{HOST}/old", f"{HOST}/unknown", "http://else.test/"], 10.0)

        def read(url: str) -> Discovery | str:
            return Discovery(url, HOST) if url.startswith(HOST) else "another host"

        touched = frontier.take_asked(read, 11.0, ANY)
        again = frontier.take_asked(read, 11.0, ANY)
        first = self._leased(frontier, 2, now_s=11.0)

        assert (touched, again) == ([frontier.hosts()[0].host_id], [])
        assert {lease.url for lease in first} == {f"{HOST}/old", f"{HOST}/unknown"}
        answers = {one.url: (one.outcome, one.note) for one in frontier.answers(numbers)}
        assert answers == {
            f"{HOST}/old": (None, None),
            f"{HOST}/unknown": (None, None),
            "http://else.test/": ("refused", "another host"),
        }
        frontier.complete([_update(lease, 12.0) for lease in first])
        assert [one.outcome for one in frontier.answers(numbers)] == ["new", "new", "refused"]
        assert self._leased(frontier, 9, now_s=13.0)[0].url == f"{HOST}/new"

    def test_answers_and_plans_are_forgotten_with_old_visits(self, frontier: Frontier) -> None:
        """But for the plan in force, and for what has not been answered yet."""
        self._admitted(frontier, "/1")
        numbers = [frontier.ask([f"{HOST}/1"], float(at_s))[0] for at_s in (10, 20, 90)]
        frontier.take_asked(lambda url: Discovery(url, HOST), 90.0, ANY)
        frontier.complete([_update(one, 30.0) for one in self._leased(frontier, now_s=100.0)])
        frontier.save_plan(PlanRecord(10.0, 1, 0.1, 2.0, 0.9, 0))
        frontier.save_plan(in_force := PlanRecord(20.0, 1, 0.1, 2.0, 0.9, 0))

        assert frontier.forget_visits(15.0, after=0, limit=9) is None
        answered = [(one.number, one.outcome) for one in frontier.answers(numbers)]
        assert answered == [(numbers[1], "new"), (numbers[2], None)]

        assert frontier.forget_visits(1_000.0, after=0, limit=9) is None
        assert [one.number for one in frontier.answers(numbers)] == [numbers[2]]
        assert frontier.last_plan() == in_force

    def test_of_what_pages_said_anew_only_the_latest_stays(self, frontier: Frontier) -> None:
        """A thousand of it, wherever that is kept."""
        lease = self._lease(frontier, "/1")
        for first in (0, 600):
            numbers = range(first, first + 600)
            frontier.complete([
                _update(lease, 20.0 + n, Outcome.CHANGED, difference=f"+{n}") for n in numbers
            ])  # fmt: skip

        assert frontier.forget_visits(0.0, after=0, limit=9) is None

        texts = [one.text for one in frontier.differences(limit=2_000)]
        assert texts == [f"+{n}" for n in range(1_199, 199, -1)]

    def test_a_visit_that_began_before_it_was_asked_for_is_made_again(
        self, frontier: Frontier
    ) -> None:
        """A copy fetched before the request may be older than what somebody asks for."""
        in_flight = self._lease(frontier, "/1")
        numbers = frontier.ask([f"{HOST}/1"], 20.0)
        frontier.take_asked(lambda url: Discovery(url, HOST), 20.0, ANY)
        frontier.complete([_update(in_flight, 15.0, due_s=900.0)])

        (again,) = self._leased(frontier, now_s=21.0)
        assert frontier.answers(numbers)[0].outcome is None
        frontier.complete([_update(again, 22.0, Outcome.UNCHANGED, due_s=900.0)])
        assert frontier.answers(numbers)[0].outcome == "unchanged"
        assert self._leased(frontier, now_s=23.0) == []

    @pytest.mark.parametrize("outcome", [Outcome.LOST, Outcome.OBSOLETE, Outcome.DEFERRED])
    def test_what_was_not_read_is_still_asked_for(
        self, frontier: Frontier, outcome: Outcome
    ) -> None:
        """The answer is what came of it in the end."""
        self._admitted(frontier, "/1")
        numbers = frontier.ask([f"{HOST}/1"], 5.0)
        frontier.take_asked(lambda url: Discovery(url, HOST), 5.0, ANY)
        (lease,) = self._leased(frontier)
        frontier.complete([_update(lease, 11.0, outcome, due_s=11.0)])

        (again,) = self._leased(frontier, now_s=12.0)
        frontier.complete([_update(again, 12.0, Outcome.CHANGED)])
        assert frontier.answers(numbers)[0].outcome == "changed"

    def test_gone_pages_are_brought_forward_and_counted(self, frontier: Frontier) -> None:
        """Only those; how long they have been away counts from when each was seen last."""
        self._admitted(frontier, "/gone", "/there")
        leases = self._leased(frontier, 2)
        frontier.complete([_update(lease, 10.0, due_s=20.0) for lease in leases])
        gone, there = self._leased(frontier, 2, now_s=20.0)
        frontier.complete(
            [
                _update(gone, 30.0, Outcome.GONE, state=PageState.GONE, due_s=9_000.0),
                _update(there, 30.0, Outcome.UNCHANGED, due_s=9_000.0),
            ]
        )

        assert frontier.gone_s(110.0) == 100.0
        ids, there_s = frontier.went(10.0)
        assert (ids.tolist(), there_s.tolist()) == ([gone.page_id], [10.0])
        assert not frontier.went(10.1)[0].size
        assert frontier.planned_pages().there_s.tolist() == [30.0]
        assert frontier.went_of_folder(f"{HOST}/", 10.0) == (1, 40.0)
        assert frontier.went_of_folder(f"{HOST}/", 10.1) == (0, 30.0)
        assert frontier.went_of_folder(f"{HOST}/t", 0.0) == (0, 30.0)
        assert frontier.went_of_folder("http://b.test/", 0.0) == (0, 0.0)
        assert frontier.look_at_gone(500.0) == 1
        told = [frontier.details(lease.url) for lease in (gone, there)]
        assert [one.due_s for one in told if one] == [500.0, 9_000.0]

    def test_listings_are_read_as_soon_as_is_said_unless_they_failed(
        self, frontier: Frontier
    ) -> None:
        """Pages are not, and nothing is read later."""
        kinds = {"/page": Kind.PAGE, "/map": Kind.SITEMAP, "/soon": Kind.FEED, "/ill": Kind.FEED}
        found = [replace(_found(path), kind=kind) for path, kind in kinds.items()]
        frontier.admit(found, 0.0, ANY)
        leases = {lease.url.removeprefix(HOST): lease for lease in self._leased(frontier, 4)}
        for path, lease in leases.items():
            at_s = 100.0 if path == "/soon" else 9_000.0
            update = _update(lease, 10.0, Outcome.LISTING, due_s=at_s)
            frontier.complete([replace(update, failures=1) if path == "/ill" else update])

        ids = [lease.page_id for lease in leases.values()]
        assert frontier.read_within(dict.fromkeys(ids, 490.0)) == 1
        told = {path: frontier.details(f"{HOST}{path}") for path in kinds}
        due_s = {path: one.due_s for path, one in told.items() if one}
        assert due_s == {"/page": 9_000.0, "/map": 500.0, "/soon": 100.0, "/ill": 9_000.0}

    def test_a_signal_is_noted_as_a_date_and_makes_nothing_due(self, frontier: Frontier) -> None:
        """Its worth has yet to be proved, as for the dates of sitemaps; new pages are taken in."""
        lease = self._lease(frontier, "/known")
        frontier.complete([_update(lease, 10.0, due_s=9_000.0)])
        numbers = frontier.ask([f"{HOST}/known", f"{HOST}/new"], 50.0, is_signal=True)

        touched = frontier.take_asked(lambda url: Discovery(url, HOST), 51.0, ANY)

        assert touched == []
        assert [one.outcome for one in frontier.answers(numbers)] == ["noted", "noted"]
        known, new = (frontier.details(f"{HOST}/{name}") for name in ("known", "new"))
        assert known is not None
        assert (known.due_s, known.lastmod_s) == (9_000.0, 50.0)
        assert new is not None
        assert new.state is PageState.DISCOVERED

    def test_pages_are_put_off_and_brought_forward(self, frontier: Frontier) -> None:
        """With the reason; what is visited by then stays as it is."""
        self._admitted(frontier, "/a?x=1", "/b")
        leases = self._leased(frontier, 2)

        frontier.put_off([(lease, 500.0) for lease in leases], LITTLE)

        assert self._leased(frontier, 2) == []
        put_off = self._details(frontier, f"{HOST}/a?x=1")
        assert (put_off.due_s, put_off.due_why) == (500.0, LITTLE)
        assert frontier.refused() == [(HOST, "low-yield", 2)]
        assert frontier.make_due_by(10.0, 400.0) == 2  # as at a start with a shorter interval
        assert frontier.refused() == [(HOST, "low-yield", 2)]
        frontier.bring_forward([lease.page_id for lease in leases], 10.0)
        assert len(self._leased(frontier, 2)) == 2
        assert list(frontier.visited(10)) == []
        assert frontier.refused() == []

    def test_what_is_asked_for_once_is_not_brought_forward(self, frontier: Frontier) -> None:
        """At a start, as other pages are that are due later than any interval allows."""
        self._admitted(frontier, "/zq", "/b")
        leases = self._leased(frontier, 2)

        frontier.complete(
            [
                _update(lease, 0.0, due_s=1e9, due_why=ASKED_ONCE if lease.url[-1] == "q" else "")
                for lease in leases
            ]
        )

        assert frontier.make_due_by(10.0, 400.0) == 1
        assert self._details(frontier, f"{HOST}/zq").due_s == 1e9

    def test_visited_pages_are_told_of_with_what_they_answered(self, frontier: Frontier) -> None:
        """Those that were never visited are not."""
        self._admitted(frontier, "/a")
        frontier.complete([_update(self._leased(frontier, 1)[0], 10.0, signature=b"said")])
        self._admitted(frontier, "/never")

        page = VisitedPage(f"{HOST}/a", PageState.INDEXED, b"said", 200, 0, 10.0)
        assert list(frontier.visited(10**9)) == [page]

    def test_what_is_left_out_of_the_index_is_told_of_unless_it_led_to_pages(
        self, frontier: Frontier
    ) -> None:
        """As the later pages of a list do; nor are pages that moved."""
        self._admitted(frontier, "/list", "/form", "/moved")
        leases = self._leased(frontier, 3)
        states = dict.fromkeys((f"{HOST}/list", f"{HOST}/form"), PageState.EXCLUDED)
        frontier.complete(
            [
                _update(one, 10.0, state=states.get(one.url, PageState.MOVED), signature=None)
                for one in leases
            ]
        )
        on = {lease.url: lease.page_id for lease in leases}[f"{HOST}/list"]
        frontier.admit([replace(_found("/page"), found_on=on)], 10.0, ANY)

        assert [url for url, *_ in frontier.visited(10**9)] == [f"{HOST}/form"]

    def test_pages_beside_one_that_is_gone_are_looked_at(self, frontier: Frontier) -> None:
        """Two on either side; not what was visited since, is in trouble, or of another host."""
        paths = [f"/{name}" for name in "abcdefghi"]
        self._admitted(frontier, *paths)
        frontier.admit([_found("/b1", host="http://a.test:81")], 0.0, ANY)
        for lease in self._leased(frontier, 9):
            at_s = 90.0 if lease.url.endswith("/d") else 10.0
            frontier.complete([_update(lease, at_s, due_s=900.0)])
        ids = {}
        for path in paths:
            details = self._details(frontier, _found(path).url)
            ids[path] = details.page_id

        assert frontier.look_beside({ids["/e"]: 50.0}, 100.0) == 4

        told = {path: frontier.details(_found(path).url) for path in paths}
        moved = {path for path, one in told.items() if one and one.due_s == 100.0}
        assert moved == {"/b", "/c", "/f", "/g"}  # /d was visited since
        assert {one.due_why for path, one in told.items() if one and path in moved} == {BESIDE}
        assert frontier.look_beside({ids["/e"]: 50.0}, 100.0) == 3  # what is due is passed over
        # A plan that would have them visited later does not put them off.
        rows = np.array([ids["/b"], ids["/d"]])
        frontier.save_crawl_rates(
            PlanRecord(95.0, 9, 1.0, 1.0, 0.5, 0), rows, np.full(2, 0.01), np.full(2, 500.0)
        )
        due = [one.due_s for path in ("/b", "/d") if (one := frontier.details(_found(path).url))]
        assert due == [100.0, 500.0]

    # -- what pages are worth --

    def test_new_addresses_are_born_on_pages_that_were_visited_before(
        self, frontier: Frontier
    ) -> None:
        """Addresses on a first visit were there already; those on a later one are new."""
        frontier.admit([_found("/hub")], 0.0, ANY)
        (hub,) = self._leased(frontier)
        frontier.admit([_found("/old", found_on=hub.page_id)], 10.0, ANY)
        frontier.complete([_update(hub, 10.0)])
        (hub,) = (one for one in self._leased(frontier, 5, 200.0) if one.url.endswith("/hub"))
        news = [_found(f"/new{n}", found_on=hub.page_id) for n in range(3)]
        frontier.admit(news, 210.0, ANY)
        frontier.complete([_update(hub, 210.0, Outcome.CHANGED)])
        frontier.worths.found_again({hub.page_id: (1, 30.0)})

        (born,) = frontier.worths.births()

        assert (born.page_id, born.kind) == (hub.page_id, Kind.PAGE)
        assert born.n == pytest.approx(3.0, rel=1e-3)
        assert born.exposure_s == pytest.approx(200.0, rel=1e-3)
        assert (born.again, born.lead_s) == (1.0, 30.0)
        assert born.worth is None

    def test_births_are_known_of_what_a_page_led_to_that_was_read_without_it(
        self, frontier: Frontier
    ) -> None:
        """Halfway between the two readings; with the evidence, and with what is believed."""
        hub = self._lease(frontier, "/hub")
        frontier.admit([_found("/old", found_on=hub.page_id)], 10.0, ANY)
        frontier.complete([_update(hub, 10.0)])
        frontier.admit([_found("/new", found_on=hub.page_id), _found("/listed")], 50.0, ANY)
        known = (frontier.details(f"{HOST}/{name}") for name in ("hub", "old", "new", "listed"))
        ids = [one.page_id for one in known if one is not None]
        nothing = np.zeros(4)
        frontier.save_change_rates(np.array(ids), nothing, nothing + 1.0, [b"known"] * 4)

        told, kept = frontier.evidence(ids), frontier.believed_before(ids)

        unknown = np.nan
        for one in (told, kept):
            born_s = dict(zip(one.page_ids.tolist(), one.born_s, strict=True))
            found = [born_s[number] for number in ids]
            np.testing.assert_array_equal(found, [unknown, unknown, 30.0, unknown])

    def test_seeds_that_led_on_and_listings_are_entries_until_a_second_visit(
        self, frontier: Frontier
    ) -> None:
        """A seed that led nowhere is none, nor is a page that a link leads to."""
        found = [_found("/hub"), _found("/alone"), _found("/map", kind=Kind.SITEMAP)]
        frontier.admit(found, 0.0, ANY)
        leases = {lease.url[-4:]: lease for lease in self._leased(frontier, 3)}
        hub, map_ = leases["/hub"], leases["/map"]
        frontier.complete([_update(lease, 10.0) for lease in leases.values()])
        frontier.admit([_found("/page", found_on=hub.page_id, depth=1)], 10.0, ANY)
        (page,) = (one for one in self._leased(frontier, 9, 15.0) if one.url.endswith("/page"))
        frontier.admit([_found("/further", found_on=page.page_id, depth=2)], 15.0, ANY)
        frontier.complete([_update(page, 15.0)])

        before = frontier.worths.entries()
        (again,) = (one for one in self._leased(frontier, 9, 900.0) if one.url == hub.url)
        frontier.complete([_update(again, 900.0, Outcome.UNCHANGED)])

        assert before == [(one.page_id, one.host_id) for one in (hub, map_)]
        assert frontier.worths.entries() == [(map_.page_id, map_.host_id)]

    def test_what_is_found_is_worth_what_it_turned_out_to_be(self, frontier: Frontier) -> None:
        """The mean of those visited since; what was no page counts as 0."""
        frontier.admit([_found("/hub")], 0.0, ANY)
        (hub,) = self._leased(frontier)
        frontier.complete([_update(hub, 10.0)])
        (hub,) = self._leased(frontier, 1, 200.0)
        news = [_found("/a", found_on=hub.page_id, weight=3.0), _found("/b", found_on=hub.page_id)]
        frontier.admit(news, 210.0, ANY)
        frontier.complete([_update(hub, 210.0, Outcome.CHANGED, due_s=9e9)])
        a, b = sorted(self._leased(frontier, 5, 220.0), key=lambda lease: lease.url)
        frontier.complete([_update(a, 220.0), _update(b, 220.0, state=PageState.EXCLUDED)])

        (born,) = frontier.worths.births()

        assert born.worth == pytest.approx(1.5)

    def test_importance_multiplies_the_weight_of_the_pattern(self, frontier: Frontier) -> None:
        """Whatever either of them is later."""
        frontier.admit([_found("/a", weight=2.0, importance=0.5), _found("/b")], 0.0, ANY)
        before = {lease.url[-1]: lease.weight for lease in self._leased(frontier, 2)}

        first = frontier.worths.addresses(after=0, limit=9)[0]
        hosts = frontier.worths.save([PageWorth(first[0], 6.0, 3.0, '{"links": 3.0}')])
        frontier.reweigh(lambda url: 4.0 if url.endswith("/a") else 1.0)

        details = frontier.details(f"{HOST}/a")
        assert before == {"a": 1.0, "b": 1.0}
        assert hosts == [first[1]]
        assert details is not None
        assert (details.weight, details.importance) == (12.0, 3.0)
        assert details.importance_parts == '{"links": 3.0}'

    def test_links_are_kept_until_others_are_told(self, frontier: Frontier) -> None:
        """A visit that found nothing new says nothing of links."""
        frontier.admit([_found("/a"), _found("/b")], 0.0, ANY)
        a, b = self._leased(frontier, 2)
        frontier.complete([_update(a, 10.0, links=b"12345678"), _update(b, 10.0)])
        again = {lease.page_id: lease for lease in self._leased(frontier, 2, 300.0)}
        frontier.complete([_update(again[a.page_id], 300.0, Outcome.UNCHANGED)])

        assert frontier.worths.link_lists(after=0, limit=9) == [(a.page_id, b"12345678")]
        assert frontier.worths.link_lists(after=a.page_id, limit=9) == []

    def test_counts_add_up_and_fade(self, frontier: Frontier) -> None:
        """By half within their half-life, before anything is added."""
        frontier.admit([_found("/a"), _found("/b")], 0.0, ANY)
        worths = frontier.worths

        assert worths.count("logs", {f"{HOST}/a": 4.0, f"{HOST}/none": 1.0}, 0.0, 100.0) == 1
        assert worths.count("logs", {f"{HOST}/a": 1.0, f"{HOST}/b": 2.0}, 100.0, 100.0) == 2
        assert sorted(row[1:] for row in worths.tallies()) == [
            ("logs", 2.0, 100.0),
            ("logs", 3.0, 100.0),
        ]
        worths.forget("logs")
        assert worths.tallies() == []

    def test_without_a_share_pages_are_handed_out_by_what_they_are_worth(
        self, frontier: Frontier
    ) -> None:
        """Of pages never visited those of most weight, beside what is due in its order."""
        found = [_found("/old"), _found("/a", weight=1.0), _found("/b", weight=5.0), _found("/c")]
        frontier.admit(found[:1], 0.0, ANY)
        (old,) = self._leased(frontier)
        frontier.complete([_update(old, 10.0, due_s=20.0)])
        frontier.admit(found[1:], 11.0, ANY)

        leases = frontier.lease(
            frontier.hosts()[0].host_id,
            limit=3,
            due_by_s=30.0,
            now_s=30.0,
            until_s=99.0,
            discovery_share=None,
            worth=lambda lease, _: 3.0 if lease.url.endswith("/old") else lease.weight,
        )

        assert [lease.url[-2:] for lease in leases] == ["/b", "ld", "/a"]

    @pytest.mark.parametrize("share", [0.5, 1.0, None])
    def test_of_pages_never_visited_those_of_most_weight_come_first(
        self, frontier: Frontier, share: float | None
    ) -> None:
        """Then those that were found first, whatever share of the visits is theirs."""
        paths = {"/a": 1.0, "/b": 0.25, "/c": 5.0, "/d": 1.0}
        frontier.admit([_found(path, weight=weight) for path, weight in paths.items()], 1.0, ANY)
        frontier.admit([_found("/e", weight=1.0)], 2.0, ANY)

        leases = frontier.lease(
            frontier.hosts()[0].host_id,
            limit=4,
            due_by_s=30.0,
            now_s=30.0,
            until_s=99.0,
            discovery_share=share,
            worth=lambda lease, _: lease.weight,
        )

        assert [lease.url[-2:] for lease in leases] == ["/c", "/a", "/d", "/e"]

    def test_depths_are_counted_by_host(self, frontier: Frontier) -> None:
        """With how many of the pages there were visited, and what the others weigh."""
        deeper = [_found("/a", depth=1), replace(_found("/b", depth=1), weight=2.5)]
        frontier.admit([_found("/"), *deeper], 0.0, ANY)
        (home,) = (one for one in self._leased(frontier, 3) if one.url.endswith("/"))
        frontier.complete([_update(home, 10.0)])
        host_id = frontier.hosts()[0].host_id

        assert frontier.worths.depths() == [(host_id, 0, 1, 1, 0.0), (host_id, 1, 2, 0, 3.5)]
