"""Yields of kinds of address: pages are visited as their kind has proved worth it.

One script of a site can have an address for every page, and a hundred for each that edit, compare,
sort or log in; a directory of archives has thousands that nobody can read. So addresses are of
kinds (:mod:`recrawl.crawler.control.addresses.classifier`), and what pages of a kind bring is
counted (:mod:`recrawl.crawler.control.addresses.novelty` tells what is new).

The first of a kind are visited like any other page; what they bring (a page that was not known, or
nothing) is a coin tossed, and while the chance that the next brings something is small, few more
are tried. Of what is shown of things, and of endings that nobody knows, few are on their way before
they have brought something. A page that asks to sign in brings nothing, nor does a list by a query,
or by words that are joined at the end of a path, that leads to nothing but pages that are known.
What is left out of the index brings something where it leads on, as the later pages of an archive
do, and what redirects brings what is found there that was not visited. What speaks against an
address (:mod:`recrawl.crawler.control.addresses.doubts`) makes its kind prove itself sooner, and
all that is doubted on a host together is held to a small share of what the host has brought:
evidence overrides it.
"""

from collections.abc import Iterable
from typing import Final

from recrawl.crawler.control.addresses.address_kinds import AddressKind
from recrawl.crawler.control.addresses.calendars import calendar_of, month_of
from recrawl.crawler.control.addresses.classifier import AddressClassifier
from recrawl.crawler.control.addresses.doubts import is_script, less_specific
from recrawl.crawler.control.addresses.gists import Gist
from recrawl.crawler.control.addresses.lists import begins_a_list
from recrawl.crawler.control.addresses.novelty import Novelty
from recrawl.crawler.control.answers.soft_errors import is_probe
from recrawl.crawler.control.urls import host_of
from recrawl.terms import Kind, Lease, Outcome, PageState, PageUpdate

LITTLE: Final = "addresses of its kind have brought nothing new: only few of them are tried"
_TRICKLE_S: Final = 3 * 3_600.0  # between two tries of a kind that brings nothing
_NOT_SEEN: Final = frozenset(
    {Outcome.LOST, Outcome.OBSOLETE, Outcome.DEFERRED, Outcome.THROTTLED, Outcome.DISALLOWED}
)
# Trouble of a page says nothing of the branch that it lies in.
_TROUBLE: Final = frozenset(
    {Outcome.FAILED, Outcome.SERVER_ERROR, Outcome.NOT_FOUND, Outcome.GONE, Outcome.DENIED}
)
_NO_COPIES: Final = frozenset({PageState.EXCLUDED, PageState.MOVED, PageState.MISSING})
_DENIED: Final = frozenset({401, 403})
_NEVER: Final = frozenset({405, 406})  # for the way in which it is asked for, whatever it names
_REFUSED: Final = 400  # from this status on a page is refused as such
_MOST_KEPT: Final = 200_000


class AddressYields:
    """Learns what kinds of address bring, and says which pages wait.

    In memory: what the state knows of visited pages is enough to learn it anew.

    Attributes
    ----------
    novelty : what pages have said
    classifier : the kinds of addresses
    """

    def __init__(self) -> None:
        self.novelty = Novelty(self._take_back)
        self.classifier = AddressClassifier(self.novelty)
        self._credited: set[str] = set()  # addresses with a query that count as new
        self._sent_on: dict[int, list[list[AddressKind]]] = {}  # of pages that lead on, by where to
        self._in_vain: set[int] = set()  # lists and months that led to nothing yet
        self._waits: dict[int, AddressKind] = {}  # of pages, for which kind: theirs may change

    def recall(self, visited: Iterable[tuple[str, PageState, bytes | None, int | None]]) -> None:
        """Learn from pages that were visited before: address, state, signature, last status."""
        pages = list(visited)
        self.novelty.keep_visited(url for url, *_ in pages)
        for url, state, signature, status in pages:
            if state is PageState.DISCOVERED:  # never answered, or its copy was lost: it may bring
                continue
            found = self.classifier.kinds_of(url)
            if self.classifier.is_in_doubt(url, found):
                self.classifier.doubted(host_of(url)).tries += 1
            for kind in found:
                kind.tries += 1
            self.novelty.recall(url, state)
            self.classifier.learn_void(url, None if state is PageState.GONE else signature)
            new = state is PageState.INDEXED and self.novelty.is_new(url, signature)
            self._count(
                url,
                found,
                new,
                is_trouble=status is not None and status >= _REFUSED and status not in _NEVER,
                is_denied=status in _DENIED,
                is_left_out=state in _NO_COPIES,
            )

    def observe(self, update: PageUpdate) -> list[tuple[int, int]]:
        """Learn from a visit; return pages, with their hosts, that need no longer be put off."""
        lease, outcome = update.lease, update.visit.outcome
        if lease.last_visit_s is not None or lease.state is not PageState.DISCOVERED:
            return self.classifier.outgrown_pages()
        if _is_apart(lease):
            return self.classifier.outgrown_pages()
        found, url = self.classifier.kinds_of(lease.url, lease.kind), lease.url
        told = list(found)
        if outcome in _NOT_SEEN:
            in_doubt = self.classifier.is_in_doubt(url, found)
            for kind in (*found, self.classifier.doubted(host_of(url))) if in_doubt else found:
                kind.tries = max(kind.tries - 1, 0)
            if outcome is Outcome.DISALLOWED:
                told += self._tell_senders(url, brings=False)
        elif not self._is_sent_on(update, found):
            told += self._learn(update, found)
        welcome = []
        for kind in (*told, self.classifier.doubted(host_of(url))):
            welcome += kind.welcome()
        welcome += self.classifier.doubted(host_of(url)).no_more(found)
        return welcome + self.classifier.outgrown_pages()

    def _learn(self, update: PageUpdate, found: list[AddressKind]) -> list[AddressKind]:
        """Count what a page brought; return the kinds of those that led on to it."""
        lease, url, outcome = update.lease, update.lease.url, update.visit.outcome
        novelty, says = self.novelty, None if update.gist is None else Gist(*update.gist)
        novelty.keep_things(url, update.state)
        said = update.signature if update.gist is None else update.gist[0]
        self.classifier.learn_void(url, said if update.state is PageState.INDEXED else None)
        if update.gist is not None or update.canonical is not None:
            self.classifier.learn_canonical(url, update.canonical)
        if lease.kind is Kind.FEED:
            new = update.told_news is not False
        elif update.state is PageState.EXCLUDED:  # what it says may stand elsewhere, to be found
            new = update.told_news is True
        else:
            if says is None:
                says_more = novelty.is_new(url, update.signature)
            else:
                title, face = update.title or "", self.classifier.face_of(url)
                novelty.keep_near(url, says, title, lease.depth)
                says_more = novelty.says_more(url, says, face, update.language, lease.depth)
                says_more = says_more and not novelty.is_as_before(url, found[0].name, title, says)
            new = update.state is PageState.INDEXED and says_more and update.told_news is not False
        goes_on_for_ever = update.goes_on and novelty.is_list_as_before(url, says, new=new)
        if goes_on_for_ever and "?" in url:
            found[0].is_endless = True
        new &= not goes_on_for_ever
        is_twin = not new and says is not None and novelty.is_twin(url, says, lease.depth)
        new = self._count(
            url,
            found,
            new,
            is_trouble=outcome in _TROUBLE and not _says_what_it_does(update),
            is_denied=update.visit.status in _DENIED,
            is_twin=is_twin,
            is_left_out=is_twin or goes_on_for_ever or update.state in _NO_COPIES,
        )
        told = self._tell_senders(url, brings=new)
        if new:  # a list that leads on may be the same list, narrowed
            return told + (self._tell_lists(url) if update.told_news is None else [])
        if update.state is PageState.INDEXED and (update.told_news is False or calendar_of(url)):
            if len(self._in_vain) > _MOST_KEPT:
                self._in_vain.clear()
            self._in_vain.add(hash(url.rstrip("/")))
        return told

    def _tell_lists(self, url: str) -> list[AddressKind]:
        """Count as worth it what seemed to lead nowhere but to itself, narrowed, and leads to this.

        A list to what it lists by one parameter more, a month to its days. Return their kinds.
        """
        if not self._in_vain:
            return []
        above = [one.rstrip("/") for one in (*less_specific(url), month_of(url) or "")]
        led = [one for one in above if hash(one) in self._in_vain]
        self._in_vain.difference_update(map(hash, led))
        kinds = [kind for one in led for kind in self.classifier.kinds_of(one)]
        for kind in kinds:
            kind.nothing -= kind.nothing > 0
            kind.count(brings=True)
        return kinds

    def _is_sent_on(self, update: PageUpdate, found: list[AddressKind]) -> bool:
        """Remember a page; tell whether it leads to one that is not visited: it shows its worth.

        Of several that lead to the same, the first; so do those that lead to it. Where both are of
        one kind, the page stands for what leads to it: its try is that page's.
        """
        url, target = update.lease.url, update.redirect_url if update.told_news else None
        self.novelty.keep_visited([url])
        if target is None or self.novelty.was_visited(target) or hash(target) in self._sent_on:
            return False
        if len(self._sent_on) > _MOST_KEPT:
            self._sent_on.clear()
        shared = self.classifier.kinds_of(target, update.lease.kind)
        senders = [found, *self._sent_on.pop(hash(url), ())]
        for kind in (kind for sender in senders for kind in sender if kind in shared):
            kind.tries = max(kind.tries - 1, 0)
        self._sent_on[hash(target)] = [
            [kind for kind in sender if kind not in shared] for sender in senders
        ]
        return True

    def _tell_senders(self, url: str, *, brings: bool) -> list[AddressKind]:
        """Count what a page brought for those that led on to it; return their kinds."""
        kinds = [kind for found in self._sent_on.pop(hash(url), ()) for kind in found]
        for kind in kinds:
            kind.count(brings)
        return kinds

    def is_in_doubt(self, url: str) -> bool:
        """Tell whether an address speaks against a page, and its kind has not proved worth it.

        Parameters
        ----------
        url : in normal form
        """
        return self.classifier.is_in_doubt(url, self.classifier.kinds_of(url))

    def due_s(self, lease: Lease, now_s: float) -> float:
        """Return when a page that was never visited is to be tried: now, or later.

        A page that is to be tried now counts as tried. One that is put off is told of by
        :meth:`observe` as soon as its kind turns out to be worth it.
        """
        if _is_apart(lease):
            return now_s
        found = self.classifier.kinds_of(lease.url, lease.kind)
        all_doubted = self.classifier.doubted(host_of(lease.url))
        is_next = all_doubted.is_next(lease.page_id)  # in doubt or not: the place is free then
        doubted = all_doubted if self.classifier.is_in_doubt(lease.url, found) else None
        against = _against(found, None if is_next else doubted)
        if lease.kind is Kind.FEED and is_script(lease.url):
            against = None  # few, and of a start page from which nothing else leads on
        if against is not None and not 0.0 < against.next_s <= now_s:
            against.next_s = against.next_s or now_s + _TRICKLE_S
            if not against.waiting:
                self.classifier.hold(against, lease.url)
            if self._waits.get(lease.page_id) is not against:
                self._waits_no_more(lease.page_id)
            against.put_off(lease, found)
            if lease.page_id in against.waiting:
                self._waits[lease.page_id] = against
            if against.brings_little:
                self._tell_senders(lease.url, brings=False)
            return against.next_s + _TRICKLE_S * len(against.waiting)
        if against is not None:  # a few are tried all the same
            against.next_s = now_s + _TRICKLE_S
        self._waits_no_more(lease.page_id)
        for kind in found if doubted is None else (*found, doubted):
            kind.tries += 1
        self.novelty.keep_visited(
            [lease.url]
        )  # what leads to it meanwhile is not what it is known by
        return now_s

    def _waits_no_more(self, page_id: int) -> None:
        """Have a page wait for no kind, which would tell of it again while it is visited."""
        kind = self._waits.pop(page_id, None)
        if kind is not None:
            kind.waiting.pop(page_id, None)

    def _count(
        self,
        url: str,
        found: list[AddressKind],
        is_new: bool,
        *,
        is_trouble: bool = False,
        is_denied: bool = False,
        is_twin: bool = False,
        is_left_out: bool = False,
    ) -> bool:
        """Count what a page brought for its kinds; return whether it is new all in all."""
        is_new = is_new and not self.novelty.is_known_otherwise(url)
        # What says nothing of all else: where a list begins, and a month or a day without anything.
        is_apart = not is_new and (begins_a_list(url) or calendar_of(url) is not None)
        for kind in found:
            # What is asked for of many pages may be refused for each, as a form to change them is.
            is_of_many = kind.is_mode or kind.is_face
            is_spared = is_trouble and not (is_denied and is_of_many)
            is_spared |= is_apart and not kind.is_mode
            if kind.is_broad and is_spared:
                kind.tries = max(kind.tries - 1, 0)
                continue
            kind.count(is_new or (kind.is_of_copies and not is_left_out))
            kind.twins += is_twin
        self.classifier.doubted(host_of(url)).brought += is_new
        if is_new and "?" in url:
            if len(self._credited) > _MOST_KEPT:
                self._credited.clear()
            self._credited.add(url)
        return is_new

    def _take_back(self, url: str) -> None:
        """Count what was visited first as bringing nothing: it is a variant of what came later."""
        if url not in self._credited:
            return
        self._credited.discard(url)
        for kind in self.classifier.kinds_of(url):
            kind.brought -= kind.brought > 0
            kind.nothing += 1


def _against(found: list[AddressKind], doubted: AddressKind | None) -> AddressKind | None:
    """Return the kind that says that an address is to wait, if one does."""
    if doubted is not None and doubted.n_welcome <= 0:
        return doubted
    if not found[0].is_broad and found[0].is_known:  # what is known of it itself decides
        return found[0] if found[0].n_welcome <= 0 else None
    first, *broader = found
    if found[-1].is_of_several and found[-2].tries == 0:  # no such names were combined before
        broader.pop()
    return next((kind for kind in reversed([first, *broader]) if kind.n_welcome <= 0), None)


def _is_apart(lease: Lease) -> bool:
    """Tell whether a page is visited for what it says of others, whatever its likes have brought.

    A sitemap tells when they changed, and what cannot exist how an error looks there.
    """
    return lease.kind is Kind.SITEMAP or is_probe(lease.url)


def _says_what_it_does(update: PageUpdate) -> bool:
    """Tell whether a page was refused by leading elsewhere, or whoever asks so: it is no trouble.

    As a form that only those see who sign in, or what a script asks for.
    """
    status = update.visit.status
    if update.visit.outcome is not Outcome.DENIED or status is None:
        return False
    return status < _REFUSED or status in _NEVER
