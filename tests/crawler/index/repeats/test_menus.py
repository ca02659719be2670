"""Links that come to the menus of a host's pages."""

from recrawl.crawler.index.repeats import menus
from recrawl.crawler.index.repeats.menus import MenuEntries, beside

SHOP = ("http://a.test/shop", "Our  shop")


def test_an_entry_is_what_came_to_three_other_pages() -> None:
    """The same page again and again is one page; other hosts tell nothing."""
    entries = MenuEntries()
    new = {"Our shop"}

    assert not any(entries.among("a.test", "http://a.test/1", new, [SHOP]) for _ in range(9))
    assert not any(entries.among("b.test", f"http://b.test/{n}", new, [SHOP]) for n in range(2))
    assert entries.among("a.test", "http://a.test/2", new, [SHOP]) == set()
    assert entries.among("a.test", "http://a.test/3", set(), [SHOP]) == set()
    assert entries.among("a.test", "http://a.test/3", new, [SHOP]) == set()
    assert entries.among("a.test", "http://a.test/1", new, [SHOP]) == set()
    assert entries.among("a.test", "http://a.test/4", new, [SHOP]) == new
    assert entries.among("a.test", "http://a.test/1", new, [SHOP]) == set()


def test_links_and_hosts_are_bounded() -> None:
    """Those that came longest ago are forgotten."""
    entries = MenuEntries()
    many = [(f"http://a.test/{n}", f"{n}") for n in range(menus._MOST_LINKS + 1)]
    for page in range(3):
        entries.among("a.test", f"http://a.test/of/{page}", {text for _, text in many}, many)

    asked = {"0", "1", "2", "3"}
    assert entries.among("a.test", "http://a.test/of/9", asked, many[:4]) == {"3"}
    for host in range(menus._MOST_HOSTS):
        entries.among(f"{host}.test", "http://c.test/", {"1"}, many)
    assert entries.among("a.test", "http://a.test/of/9", {"9"}, many[9:10]) == set()


def test_what_stands_beside_repeated_lines() -> None:
    """Or at an end, also behind others that are new."""
    page = ["new 1", "Home", "new 2", "new 3", "own", "new 4", "own", "new 5", "Foot"]
    new = {line for line in page if line.startswith("new")}

    assert beside(page, new, {"Home", "Foot"}) == new - {"new 4"}
    assert beside(["own", "new 1"], {"new 1"}, set()) == {"new 1"}
