"""What is said at the end of a crawl that has nothing to show."""

from dataclasses import replace

import pytest

from recrawl.crawler.frontier.memory import MemoryFrontier
from recrawl.crawler.ports import AdmissionLimits
from recrawl.crawler.reports.nothing import why_nothing, why_only_seeds
from recrawl.crawler.settings import Settings
from recrawl.terms import Discovery, Kind, Outcome, PageState, PageUpdate, Visit

SEED = "http://a.test/"


def known(
    outcome: Outcome, state: PageState, note: str | None, status: int = 200
) -> tuple[MemoryFrontier, Settings]:
    """Return a crawl of which that came of the only seed."""
    frontier = MemoryFrontier()
    frontier.admit([Discovery(SEED, SEED[:-1])], 1.0, AdmissionLimits())
    (lease,) = frontier.lease(1, limit=1, due_by_s=2.0, now_s=2.0, until_s=9.0)
    visit = Visit(3.0, outcome, status, note=note)
    frontier.complete([PageUpdate(lease, visit, state, due_s=99.0)])
    return frontier, Settings(seeds=(SEED,), contact="mailto:a@b.example")


def said(outcome: Outcome, state: PageState, note: str | None, status: int = 200) -> str | None:
    """Return what is said where that came of the only seed."""
    return why_nothing(*known(outcome, state, note, status))


@pytest.mark.parametrize(
    ("outcome", "state", "note", "words"),
    [
        (Outcome.NEW, PageState.EXCLUDED, "noindex", "asks not to be indexed (noindex)"),
        (Outcome.UNSUPPORTED, PageState.EXCLUDED, "content type a/b", "content type a/b"),
        (Outcome.NOT_FOUND, PageState.MISSING, None, "not-found (200)"),
        (Outcome.DISALLOWED, PageState.DISALLOWED, None, "robots.txt of http://a.test forbids"),
    ],
)
def test_the_seed_says_why(outcome: Outcome, state: PageState, note: str, words: str) -> None:
    """Also where it was read, and must not be shown."""
    told = said(outcome, state, note)

    assert told is not None
    assert SEED in told
    assert words in told


def test_one_page_is_something() -> None:
    """Whatever became of it afterwards."""
    assert said(Outcome.NEW, PageState.INDEXED, None) is None
    assert said(Outcome.NEW, PageState.GONE, None) is None


def test_a_seed_behind_a_login_says_what_would_open_it() -> None:
    """What is answered by 401 is not refused to everybody."""
    told = said(Outcome.DENIED, PageState.MISSING, None, 401)

    assert told is not None
    assert "[[access]]" in told


@pytest.mark.parametrize(
    ("note", "words"), [("nofollow", "(nofollow)"), (None, "unless a script makes it")]
)
def test_a_seed_that_leads_nowhere_says_why(note: str | None, words: str) -> None:
    """A crawl that knows one page, and will never know another, looks as if it were done."""
    told = why_only_seeds(*known(Outcome.NEW, PageState.INDEXED, note))

    assert told is not None
    assert SEED in told
    assert words in told


@pytest.mark.parametrize("named", [f"{SEED}lists/pages.xml", f"{SEED}sitemap.xml"])
def test_a_sitemap_that_names_only_another_host_says_which(named: str) -> None:
    """As where a site calls itself www in its sitemap, and is asked for without."""
    frontier, settings = known(Outcome.NEW, PageState.INDEXED, None)
    frontier.admit([Discovery(named, SEED[:-1], kind=Kind.SITEMAP)], 4.0, AdmissionLimits())
    (lease,) = frontier.lease(1, limit=1, due_by_s=5.0, now_s=5.0, until_s=9.0)
    visit = Visit(6.0, Outcome.LISTING, 200, note="leads only to www.a.test")
    frontier.complete([PageUpdate(lease, visit, PageState.INDEXED, due_s=99.0)])
    (host,) = frontier.hosts()
    rules = b"" if "lists" not in named else b"Sitemap: /lists/pages.xml"
    frontier.save_host(replace(host, robots_status=200, robots_body=rules))

    assert why_only_seeds(frontier, settings) == f"{named} leads only to www.a.test"


def test_where_another_page_is_known_nothing_is_said() -> None:
    """Whether it was visited or not; nor of a seed that was not read."""
    frontier, settings = known(Outcome.NEW, PageState.INDEXED, "nofollow")
    frontier.admit([Discovery(f"{SEED}other", SEED[:-1])], 4.0, AdmissionLimits())

    assert why_only_seeds(frontier, settings) is None
    assert why_only_seeds(*known(Outcome.NOT_FOUND, PageState.MISSING, None, 404)) is None


def test_a_page_that_is_not_there_is_no_page_to_go_on_with() -> None:
    """As what a script that fills the seed names in passing."""
    frontier, settings = known(Outcome.NEW, PageState.INDEXED, "says nothing without scripts")
    frontier.admit([Discovery(f"{SEED}other", SEED[:-1])], 4.0, AdmissionLimits())
    (lease,) = frontier.lease(1, limit=1, due_by_s=5.0, now_s=5.0, until_s=9.0)
    visit = Visit(6.0, Outcome.NOT_FOUND, 404)
    frontier.complete([PageUpdate(lease, visit, PageState.MISSING, due_s=99.0)])

    assert why_only_seeds(frontier, settings) == f"{SEED} says nothing without scripts"


@pytest.mark.parametrize(
    ("place", "name"), [("", "a.test"), ("https://b.test:8/robots.txt: ", "b.test")]
)
def test_a_private_address_says_which_name_would_be_let_in(place: str, name: str) -> None:
    """Of a robots.txt that leads elsewhere it is not the seed's."""
    frontier = MemoryFrontier()
    frontier.admit([Discovery(SEED, SEED[:-1])], 1.0, AdmissionLimits())
    why = f"robots.txt cannot be read: {place}a private address"
    frontier.save_host(replace(frontier.hosts()[0], failures=1, blocked_why=why))

    told = why_nothing(frontier, Settings(seeds=(SEED,), contact="mailto:a@b.example"))

    assert told is not None
    assert told.endswith(f'add to allow_private under [politeness]: "{name}"')


def test_a_host_that_could_not_be_asked_is_named_once() -> None:
    """However many seeds it has."""
    seeds = (SEED, f"{SEED}b", f"{SEED}c")
    frontier = MemoryFrontier()
    frontier.admit([Discovery(url, SEED[:-1]) for url in seeds], 1.0, AdmissionLimits())
    record = frontier.host(1, now_s=1.0)
    frontier.save_host(replace(record, failures=1, blocked_why="no connection"))

    told = why_nothing(frontier, Settings(seeds=seeds, contact="mailto:a@b.example"))

    assert told == "http://a.test could not be asked: no connection"
