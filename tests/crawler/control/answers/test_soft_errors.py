"""When an address that cannot exist is asked for, and what is known of a host afterwards."""

import pytest

from recrawl.crawler.control.answers import soft_errors
from recrawl.crawler.control.answers.soft_errors import SoftErrors, Suspicion, is_probe

DAY_S, NOW_S = 86_400.0, 1_800_000_000.0
SORRY = "we are sorry but there is nothing here"


def test_the_third_page_that_says_the_same_is_suspect_and_one_address_a_day_is_made_up() -> None:
    """Until a day has passed a host is not asked again; another host is."""
    seen = SoftErrors()
    said = [seen.observe(f"http://a.test/p/{n}", "Shop", SORRY, NOW_S) for n in range(3)]
    soon = seen.observe("http://a.test/p/3", "Shop", SORRY, NOW_S + DAY_S - 1.0)
    later = seen.observe("http://a.test/p/4", "Shop", SORRY, NOW_S + DAY_S)
    other = seen.observe("http://b.test/p/4", "404 not found", SORRY, NOW_S + 1.0)

    assert said[:2] == [Suspicion(), Suspicion()]
    assert soon == Suspicion(is_suspect=True)
    asked = [said[2].ask, later.ask, other.ask]
    assert all(url is not None and is_probe(url) for url in asked)
    assert len(set(asked)) == 3
    assert all(one.is_suspect for one in (said[2], later, other))
    assert seen.is_suspect("http://a.test/p/0") is True
    assert seen.is_suspect("http://a.test/elsewhere") is False

    seen.observe(later.ask or "", "Shop", SORRY, NOW_S + DAY_S)  # which settles it
    assert seen.observe("http://a.test/p/0", "Shop", SORRY, NOW_S + DAY_S).is_error
    assert seen.is_suspect("http://a.test/p/0") is False


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Menu\nNothing to see here.\nThis link does not exist or was deleted.", True),
        ("Menu\nNothing to see here.\nThis link exists no more.", False),
        ("Where a file does not exist, it is made. " + "Ferns grow in the shade. " * 20, False),
    ],
)
def test_what_hardly_says_more_than_that_it_is_an_error_is_suspect(text: str, asks: bool) -> None:
    """Also where its title is that of the whole site; a longer text may speak of errors."""
    assert (SoftErrors().observe("http://a.test/p/1", "Links", text, NOW_S).ask is not None) is asks


def test_what_says_what_a_made_up_address_says_is_an_error() -> None:
    """And other pages of the host are none."""
    seen = SoftErrors()
    probe = "http://a.test/p/zq0123456789abcdef"

    assert seen.observe(probe, "Shop", SORRY, NOW_S) == Suspicion(is_error=True)
    assert seen.observe("http://a.test/p/1", "Shop", SORRY, NOW_S) == Suspicion(is_error=True)
    assert seen.observe("http://a.test/p/2", "Shop", "boots of good leather", NOW_S) == Suspicion()
    assert seen.observe("http://b.test/p/1", "Shop", SORRY, NOW_S) == Suspicion()


TOPIC = "http://a.test/topic.php"
GONE = "Menu\nThe topic does not exist.\nIt is 11-30-2026, {} now"


def test_of_what_a_script_calls_an_error_a_thing_is_asked_for_that_cannot_exist() -> None:
    """As of a topic that was deleted, whatever the time; each script has an error of its own."""
    seen = SoftErrors()
    first = seen.observe(f"{TOPIC}?id=7&page=2", "Forum", GONE.format("09:15"), NOW_S)
    assert first.ask is not None
    assert first.ask.startswith(f"{TOPIC}?id=zq")
    assert is_probe(first.ask)
    assert seen.is_suspect(f"{TOPIC}?id=7&page=2")
    assert seen.observe(first.ask, "Forum", GONE.format("09:16"), NOW_S).is_error

    assert seen.observe(f"{TOPIC}?id=8", "Forum", GONE.format("10:01"), NOW_S).is_error
    assert not seen.observe(f"{TOPIC}?id=9", "Forum", "Of lamps and their light", NOW_S).is_error
    other = seen.observe("http://a.test/shop.php?id=8", "Forum", GONE.format("10:01"), NOW_S)
    assert not other.is_error
    assert other.ask is not None
    assert other.ask.startswith("http://a.test/shop.php?id=zq")


def test_a_list_that_a_script_shows_instead_of_what_cannot_exist_is_no_error() -> None:
    seen = SoftErrors()
    told = "All topics: of lamps, of ferns, of boots"
    seen.observe(f"{TOPIC}?id=7", "Forum", GONE.format("09:15"), NOW_S)
    seen.observe(f"{TOPIC}?id=zq0123456789abcdef", "Forum", told, NOW_S)

    assert seen.observe(TOPIC, "Forum", told, NOW_S) == Suspicion()
    assert seen.observe(f"{TOPIC}?id=0", "Forum", told, NOW_S) == Suspicion()


def test_few_scripts_of_a_host_are_asked_in_a_day() -> None:
    """And as often as before the host is."""
    seen = SoftErrors()
    pages = [f"http://a.test/s{n}.php?id={n}" for n in range(30)]
    asked = [seen.observe(url, "Forum", GONE.format("09:15"), NOW_S).ask or "" for url in pages]

    assert sum("?id=zq" in url for url in asked) == 8
    assert sum("/zq" in url for url in asked) == 1
    later = seen.observe(pages[20], "Forum", GONE.format("09:15"), NOW_S + DAY_S)
    assert later.ask is not None


def test_of_very_many_texts_all_is_forgotten_but_what_hosts_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Then three pages are needed again, and a host may be asked again."""
    monkeypatch.setattr(soft_errors, "_MOST_TEXTS", 5)
    seen = SoftErrors()
    for n in range(3):
        seen.observe(f"http://a.test/p/{n}", "Shop", SORRY, NOW_S)
    seen.observe("http://b.test/zq0123456789abcdef", "Shop", SORRY, NOW_S)
    for n in range(6):
        seen.observe(f"http://c.test/{n}", "Shop", f"boots number {n} of good leather", NOW_S)

    assert not seen.is_suspect("http://a.test/p/0")
    asked = [seen.observe(f"http://a.test/p/{n}", "Shop", SORRY, NOW_S).ask for n in range(3)]
    assert [url is not None for url in asked] == [False, False, True]
    assert seen.observe("http://b.test/p/1", "Shop", SORRY, NOW_S).is_error


def test_what_is_sorted_or_chosen_by_a_query_is_no_suspicion() -> None:
    """However often a page says the same."""
    seen = SoftErrors()
    urls = [f"http://a.test/list?sort={n}" for n in range(9)]

    assert {seen.observe(url, "Shop", SORRY, NOW_S) for url in urls} == {Suspicion()}
