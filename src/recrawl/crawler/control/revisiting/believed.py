"""Beliefs about the pages of a running crawl, from visits and announcements.

The module is longer than most, as all that is believed of a page has its row here.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from recrawl.crawler.control.addresses.doubts import group_of
from recrawl.crawler.control.addresses.scope import Weights
from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.control.evidence import BelievedBefore, Evidence, PlannedPages
from recrawl.crawler.control.revisiting.host_signals import MOMENT_S, HostSignals
from recrawl.crawler.control.revisiting.kept_beliefs import KeptPages, pages_of_bytes
from recrawl.crawler.control.revisiting.new_visits import NewVisits
from recrawl.crawler.control.urls import host_of
from recrawl.crawler.control.worth.births import NewPages
from recrawl.crawler.control.worth.removal_hazards import REMEMBERED_S, removal_hazards
from recrawl.learning.beliefs import PRIOR_SHAPE
from recrawl.learning.signals import page_precisions
from recrawl.terms import Announcer

if TYPE_CHECKING:
    from recrawl.crawler.control.revisiting.revisits import RevisitControl
    from recrawl.crawler.control.revisiting.told_clocks import ToldClocks

_PROVEN_PAGES: Final = 10  # of a kind of address, visited so often without a change: it has none
_PROVEN_VISITS: Final = 3
_PROMISED_PAGES: Final = 3  # as many where their servers say that they hold for good
_PROMISED_VISITS: Final = 2
_MANY_VISITS: Final = 20
_OTHER_MEMORY: Final = 4.0  # times as long or as short as when a page was learned
_NEWS: Final = 0.1
_MOVED: Final = 0.1
_LASTING: Final = "!"  # before a kind of address: no address begins so
_OCTAVES: Final = (-11, 13)  # of a prior of once in two weeks: from once in 80 years to 5 minutes
_SCALES: Final = 9  # octaves by which their average may be higher: up to once in 40 minutes


class Believed:
    """Change rates and what signals are worth, page by page.

    Parameters
    ----------
    rules : bounds on intervals
    budget_per_s : visits per second, before the first plan
    prior_rate_per_s, prior_shape : gamma prior of change rates
    half_lives : of what pages are worth after a change, by their addresses; None: nothing fades
    """

    def __init__(
        self,
        rules: RevisitRules,
        *,
        budget_per_s: float,
        prior_rate_per_s: float,
        prior_shape: float = PRIOR_SHAPE,
        half_lives: Weights | None = None,
    ) -> None:
        self.laws_are_learned = False  # from all that was taken in
        self.groups = np.zeros((2, 0), np.int64)  # host and kind of address of each row
        self.told_clocks: ToldClocks | None = None  # of a policy that foresees
        self._rules = rules
        self._budget_per_s = budget_per_s
        self._prior = (prior_rate_per_s, prior_shape)
        self._control: RevisitControl | None = None
        self._rows: dict[int, int] = {}
        self._known = np.zeros(0, np.bool_)  # of each row: learned or recalled
        self._until = np.zeros(0, np.int64)  # of each row: number of the last visit learned from
        self._memory_s = np.zeros(0)  # of each row: a half-life when it was learned as a whole
        self._new = NewVisits()
        self.hosts = HostSignals()
        self._half_lives = half_lives
        self._visits = np.zeros((2, 0), np.int64)  # of each row: intervals told, changes in them
        self._quiet_s = np.zeros(0)  # of each row: learned since its visit, that nothing was told
        self._heard = np.zeros(0)  # of each row: changes announced since its visit, and learned
        self._promised = np.zeros(0, np.bool_)  # of each row: its server says it holds for good
        self._kinds: dict[str, int] = {}

    def learn(self, evidence: Evidence) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Learn pages anew; return their change rates, 1/s, and the errors of the logarithms."""
        self.laws_are_learned = False
        control, rows = self._named(evidence)
        new = self._new.among(rows, evidence.page)
        if evidence.visit_ids.size:
            until = self._until[rows[evidence.page]]
            new = np.where(until >= 0, evidence.visit_ids > until, new)
            np.maximum.at(self._until, rows[evidence.page], evidence.visit_ids)
        told = self._counts(rows, evidence)
        self._visits[:, rows] = np.maximum(self._visits[:, rows], told)
        if self.told_clocks is not None:
            self.told_clocks.learn(rows, evidence)
        page, hosts = rows[evidence.page], self.groups[0, rows[evidence.page]]
        self.hosts.learn(hosts[new], evidence.only(new))
        control.recall(rows, *self.hosts.split(page, hosts, evidence))
        self._memory_s[rows] = _memory_s(control)
        return self._learned(control, rows)

    def may_go_on(self, page_ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which pages need not be learned anew when they are visited.

        Those of which enough visits are known that what is found out of their hosts meanwhile would
        change little, unless something was learned of them since that a visit takes back, or what
        was learned is remembered for another time by now, as after another budget.
        """
        control, rows = self.control_of(page_ids)
        enough = (self._visits[0, rows] >= _MANY_VISITS) & (self._until[rows] >= 0)
        enough &= (self._quiet_s[rows] == 0.0) & (self._heard[rows] == 0.0)
        return np.asarray(enough & _is_of(self._memory_s[rows], control))

    def go_on(self, evidence: Evidence) -> NDArray[np.bool_]:
        """Learn what is new of pages that are known; tell for which of them that was all.

        Parameters
        ----------
        evidence : their latest visits. Of a page of which all of these are new there may be more
        """
        control, rows = self._named(evidence)
        new = evidence.visit_ids > self._until[rows[evidence.page]]
        n_new = np.bincount(evidence.page, new, minlength=rows.size)
        is_all = n_new < np.bincount(evidence.page, minlength=rows.size)
        latest = evidence.only(new & is_all[evidence.page])
        if latest.page.size:
            self.laws_are_learned = False
        np.maximum.at(self._until, rows[latest.page], latest.visit_ids)
        self._visits[:, rows] += self._counts(rows, latest)
        if self.told_clocks is not None:
            self.told_clocks.learn(rows, latest)
        page, hosts = rows[latest.page], self.groups[0, rows[latest.page]]
        self.hosts.learn(hosts, latest)
        control.beliefs.observe(*self.hosts.split(page, hosts, latest))
        self._learned(control, rows)
        return np.asarray(is_all)

    def rates(self, page_ids: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return change rates, 1/s, and the errors of the logarithms."""
        control, rows = self.control_of(page_ids)
        return control.beliefs.rates(rows)

    def _learned(
        self, control: "RevisitControl", rows: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Note that pages are known as far as their visits go; return what :meth:`rates` does."""
        rates, errors = control.beliefs.rates(rows)
        self._quiet_s[rows], self._heard[rows] = 0.0, 0.0
        return rates, errors

    def _counts(self, rows: NDArray[np.int64], evidence: Evidence) -> NDArray[np.int64]:
        """Count the intervals of each page, and the changes in them; shape (2, rows)."""
        n = rows.size
        changes = np.bincount(evidence.page, evidence.changed, minlength=n).astype(np.int64)
        return np.stack([np.bincount(evidence.page, minlength=n), changes])

    def expect(self, page_ids: NDArray[np.int64]) -> None:
        """Take in pages that are about to be learned.

        How long what is learned of one lasts hangs on how many there are, however few at once are.
        """
        self.control_of(page_ids)

    def knows(self, page_ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell of which pages anything was learned or recalled."""
        _, rows = self.control_of(page_ids)
        return np.asarray(self._known[rows])

    def keep(
        self, page_ids: NDArray[np.int64], last_visit_s: NDArray[np.float64]
    ) -> tuple[list[bytes], list[tuple[str, bytes]]]:
        """Return what a state keeps of pages that were just learned, and of hosts with news.

        Parameters
        ----------
        page_ids : shape (n,)
        last_visit_s : shape (n,), of their last visit that it was learned from
        """
        control, rows = self.control_of(page_ids)
        known = control.beliefs.evidence[rows]
        pages = KeptPages(last_visit_s, self._memory_s[rows], self._visits[:, rows], known)
        return pages.as_bytes(control.beliefs.rates_known[0]), self.hosts.news()

    def tell_clocks(self, evidence: Evidence) -> None:
        """Tell the clocks of a policy that foresees the latest visits of pages that it recalled."""
        if self.told_clocks is not None:
            self.told_clocks.learn(self.control_of(evidence.page_ids)[1], evidence)

    def recall(self, before: BelievedBefore, last_visit: int = -1) -> NDArray[np.int64]:
        """Go on with what was believed; return the pages of which that was all there is to know.

        The others were visited since, or what was kept of them cannot be read: they are to be
        learned from their visits. What was kept of a host counts if nothing is known of it yet.

        Parameters
        ----------
        before : what a state keeps
        last_visit : number of the last visit before that was read; -1: visits have none
        """
        self.hosts.recall(before.hosts)
        control, rows = self._named(before)
        shape = control.beliefs.evidence.shape[1:]
        found, kept = pages_of_bytes(before.pages, control.beliefs.rates_known[0], shape)
        control.beliefs.evidence[rows[found]] = kept.evidence
        self._visits[:, rows[found]] = kept.visits
        self._new.recall(rows[found], kept.visits[0])
        self._learned(control, rows[found])
        self.laws_are_learned = False
        self._memory_s[rows[found]] = kept.memory_s
        is_all = kept.last_visit_s == before.last_visit_s[found]
        is_all &= _is_of(kept.memory_s, control)
        self._until[rows[found[is_all]]] = last_visit
        return np.asarray(before.page_ids[found[is_all]])

    def _named(self, told: Evidence | BelievedBefore) -> "tuple[RevisitControl, NDArray[np.int64]]":
        """Take in pages with their groups; return what :meth:`control_of` does."""
        control, rows = self.control_of(told.page_ids)
        urls, kinds = told.urls, self._kinds
        self.groups[0, rows] = self.hosts.number(map(host_of, urls))
        lasting = told.lasting or [False] * rows.size
        self.groups[1, rows] = [
            kinds.setdefault(_LASTING * bool(lasts) + group_of(url), len(kinds))
            for url, lasts in zip(urls, lasting, strict=True)
        ]
        self._promised[rows] = lasting
        self._known[rows] = True
        if self._half_lives is not None:
            lives = [self._half_lives.of(url) for url in urls]
            control.fade(rows, np.array(lives, np.float64))
        if self.told_clocks is not None:
            self.told_clocks.know(rows, urls, told.born_s)
        return control, rows

    def relearn(self, pages: PlannedPages) -> tuple[PlannedPages, NDArray[np.bool_]]:
        """Return what is believed of pages now, by how rates are spread among all of them.

        What some were seen to do tells of all: where many change within minutes, those that nobody
        has looked at again are believed to change too. How rates are spread is learned first, if
        the policy that was asked for a plan has not done so.

        Parameters
        ----------
        pages : that are kept fresh

        Returns
        -------
        pages : with the rates that are believed now, and their factors
        moved : shape (n,), those whose rate is not what it was, by a tenth
        """
        control, rows = self.control_of(pages.page_ids)
        if not self.laws_are_learned:
            control.beliefs.learn(rows, list(self.groups))
            self.laws_are_learned = True
        rates, errors = control.beliefs.rates(rows)
        with np.errstate(invalid="ignore", divide="ignore"):
            moved = ~(np.abs(np.log(rates / pages.change_rates_per_s)) < _MOVED)
        told = replace(pages, change_rates_per_s=rates, change_rate_factors=np.exp(errors))
        return told, moved

    def hear(
        self, pages: PlannedPages, heard_s: NDArray[np.float64], now_s: float
    ) -> NDArray[np.float64]:
        """Take in which changes were announced since the visits of pages, and that others were not.

        Where changes are announced, pages that did not change are not visited: that nothing was
        heard of them is all there is to learn from. Of pages that change too fast for the budget,
        what was announced is. A visit that follows takes both back, and tells of the same.

        Parameters
        ----------
        pages : that are kept fresh
        heard_s : shape (n,), until when announcements are known; nan: there are none
        now_s : instant

        Returns
        -------
        heard_s : shape (n,), nan also where announcements of the page are not to be relied on
        """
        control, rows = self.control_of(pages.page_ids)
        recalls, precisions = self.announced(rows, pages)
        control.rely_on(rows, -np.log1p(-precisions), 1.0 - recalls)
        told = np.where(recalls > 0.0, pages.told(now_s), 0.0)
        control.set_signals(rows, told)
        n_new = np.maximum(told - self._heard[rows], 0.0).astype(np.int64)
        page = np.repeat(np.arange(rows.size), n_new)
        passed_s = np.maximum(now_s - pages.seen_s, MOMENT_S) / np.maximum(told, 1.0)
        control.hear_changes(rows[page], precisions[page], passed_s[page])
        self._heard[rows] += n_new
        with np.errstate(invalid="ignore"):
            silent_s = heard_s - pages.seen_s - pages.unheard_s - self._quiet_s[rows]
            # Not at each plan anew: what adds a tenth to what is known is soon enough.
            new = (n_new > 0) | (silent_s > _NEWS * (heard_s - pages.last_visit_s))
            new &= (recalls > 0.0) & (silent_s > MOMENT_S)
        found = np.flatnonzero(new)
        nothing = np.zeros(found.size, np.bool_)
        for_s = silent_s[found]
        control.beliefs.observe(rows[found], recalls[found] * for_s, nothing, for_s)
        self._quiet_s[rows[found]] += for_s
        return np.where(recalls > 0.0, heard_s, np.nan)

    def announced(
        self, rows: NDArray[np.int64], pages: PlannedPages
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the share of each page's changes that is announced, and of that which is true.

        Both are 0 where announcements are mostly not true, the former also where no listing has
        the page.
        """
        rates, hosts = self.rates(pages.page_ids)[0], self.groups[0, rows]
        recalls, shares = self.hosts.worth_of(hosts)
        precisions = page_precisions(shares, rates, hosts)
        return np.where(np.isfinite(pages.lastmod_s), recalls, 0.0), precisions

    def announcers(self, pages: PlannedPages, heard_s: NDArray[np.float64]) -> dict[int, Announcer]:
        """Return what the announcements of hosts have proved to be worth, by the host's id.

        Of a host that has proved to announce mostly what is not true: nothing, both 0. Until when
        that is known is the mean over its pages.

        Parameters
        ----------
        pages, heard_s : as for :meth:`hear`
        """
        _, rows = self.control_of(pages.page_ids)
        hosts, first, of_host = np.unique(pages.host_ids, return_index=True, return_inverse=True)
        numbers, is_heard = self.groups[0, rows[first]], np.isfinite(heard_s)
        with np.errstate(invalid="ignore"):
            mean_s = np.bincount(of_host, np.where(is_heard, heard_s, 0.0)) / np.bincount(
                of_host, is_heard
            )
        known = np.isfinite(self.hosts.trust(numbers)) & np.isfinite(mean_s)
        columns = (hosts, *self.hosts.worth_of(numbers), mean_s)
        told = zip(*(one[known].tolist() for one in columns), strict=True)
        return {host: Announcer(*worth) for host, *worth in told}

    def trust_in_dates(self, page_ids: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return how far what announces changes of these pages is to be trusted, in [0, 1].

        One minus what a signal leaves of the chance of being fresh, or 0 where most are not true;
        nan: it has not shown yet.
        """
        _, rows = self.control_of(page_ids)  # pages that are new grow what is known of rows
        hosts = self.groups[0, rows]
        is_known, shares = np.isfinite(self.hosts.trust(hosts)), self.hosts.worth_of(hosts)[1]
        return np.where(is_known, page_precisions(shares, self.rates(page_ids)[0], hosts), np.nan)

    def recalls(self, page_ids: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the share of changes that the host of each page announces, of pages listed."""
        _, rows = self.control_of(page_ids)
        return self.hosts.worth_of(self.groups[0, rows])[0]

    def never_change(self, page_ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which pages are of a kind of address of which none was ever seen to change.

        Once ten of them were visited three times: what a version is called by holds for good. Pages
        whose server says so are a kind of their own, of which three visited twice are enough.
        """
        _, rows = self.control_of(page_ids)
        group, n_groups = self.groups[1], int(self.groups[1].max(initial=-1)) + 1
        told, changes = self._visits
        known = np.bincount(group[told >= _PROVEN_VISITS - 1], minlength=n_groups) >= _PROVEN_PAGES
        promised = self._promised & (told >= _PROMISED_VISITS - 1)
        known |= np.bincount(group[promised], minlength=n_groups) >= _PROMISED_PAGES
        moved = np.bincount(group, changes, minlength=n_groups)
        return np.asarray((known & (moved == 0))[group[rows]])

    def expect_births(self, new_pages: Mapping[int, NewPages]) -> None:
        """Go by what visits of pages are learned to bring that is new."""
        if self._control is None:
            return
        known = [
            (self._rows[page_id], new.flow_per_s, new.shared, new.lead_s)
            for page_id, new in new_pages.items()
            if page_id in self._rows
        ]
        table = np.array(known, np.float64).reshape(len(known), 4)
        self._control.expect_births(table[:, 0].astype(np.int64), table[:, 1:].T.copy())

    def expect_removals(
        self, pages: PlannedPages, gone: NDArray[np.int64], gone_there_s: NDArray[np.float64]
    ) -> None:
        """Learn at which rate pages go (:mod:`.removal_hazards`).

        Parameters
        ----------
        pages : that are kept fresh
        gone, gone_there_s : pages that went of late, and for how long each was there
        """
        control, rows = self.control_of(pages.page_ids)
        went = np.array([self._rows.get(page_id, -1) for page_id in gone.tolist()], np.int64)
        named = (went >= 0) & self._known[went]
        hazards = removal_hazards(
            self.groups[:, rows],
            np.clip(pages.there_s, 0.0, REMEMBERED_S),
            self.groups[:, went[named]],
            np.clip(gone_there_s[named], 0.0, REMEMBERED_S),
        )
        control.expect_removals(rows, hazards)

    def control_of(self, page_ids: NDArray[np.int64]) -> "tuple[RevisitControl, NDArray[np.int64]]":
        """Return what decides, grown by pages that are new to it, and the rows of these pages."""
        # Compiled loops take a second to import: paid here, beside the crawl, not at its start.
        from recrawl.crawler.control.revisiting.revisits import RevisitControl

        if self._control is None:
            self._control = RevisitControl(
                np.zeros(0),
                self._budget_per_s,
                prior_rate=self._prior[0],
                prior_shape=self._prior[1],
                bounds=(self._rules.min_interval_s, self._rules.max_interval_s),
                octaves=_OCTAVES,
                scales=_SCALES,
            )
        known = self._rows
        rows = [known.setdefault(page_id, len(known)) for page_id in page_ids.tolist()]
        kept = self._control.weights
        self._control.grow(np.append(kept, np.ones(len(known) - kept.size)))
        fresh = np.zeros((2, len(known) - self.groups.shape[1]), np.int64)
        self.groups = np.concatenate([self.groups, fresh], axis=1)
        self._visits = np.concatenate([self._visits, fresh], axis=1)
        nothing = np.zeros(fresh.shape[1], np.bool_)
        self._promised = np.append(self._promised, nothing)
        self._known = np.append(self._known, nothing)
        self._until = np.append(self._until, np.full(fresh.shape[1], -1))
        self._memory_s = np.append(self._memory_s, np.zeros(fresh.shape[1]))
        self._quiet_s = np.append(self._quiet_s, np.zeros(fresh.shape[1]))
        self._heard = np.append(self._heard, np.zeros(fresh.shape[1]))
        return self._control, np.array(rows, np.int64)


def _memory_s(control: "RevisitControl") -> float:
    return float(control.beliefs.half_lives[1])


def _is_of(memory_s: NDArray[np.float64], control: "RevisitControl") -> NDArray[np.bool_]:
    """Tell what was learned with memories about as long as they are now."""
    ratio = memory_s / _memory_s(control)
    return np.asarray((ratio > 1.0 / _OTHER_MEMORY) & (ratio < _OTHER_MEMORY))
