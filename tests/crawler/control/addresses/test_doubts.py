"""What addresses say of their pages by their words alone."""

import pytest

from recrawl.crawler.control.addresses.calendars import calendar_of
from recrawl.crawler.control.addresses.doubts import (
    face_of,
    group_of,
    has_hash,
    is_doubted,
    is_joined,
    is_unknown_file,
    is_view_of_version,
    less_specific,
    pages_of_file,
    parallels,
    shape_of_doubt,
    stem_of_page,
    suffix_of,
    thing_of_view,
    view_at_root,
)
from recrawl.crawler.control.addresses.lists import continues

HASH, SITE = "0123456789abcdef" * 2 + "01234567", "http://a.test"


@pytest.mark.parametrize(
    ("expected", "path"),
    [
        (True, f"/r/{HASH}/x"),
        (True, f"/r/{HASH}"),
        (False, "/r/main/x"),
        (False, f"/r?id={HASH}"),
    ],
)
def test_a_hash_is_a_folder_or_a_file(expected: bool, path: str) -> None:
    assert has_hash(SITE + path) is expected


@pytest.mark.parametrize(
    ("expected", "here", "there"),
    [
        (True, "/list?page=2", "/list?page=10"),
        (False, "/list?page=10", "/list?page=2"),
        (False, "/list?page=2", "/list?page=2"),
        (True, "/list/2/", "/list/3/"),
        (False, "/list/2/", "/list/3"),
        (False, "/list/2?page=2", "/list/3?page=3"),
        (False, "/list?page=2", "/list?sheet=3"),
        (False, "/list?page=b", "/list?page=c"),
        (False, "/list?page=3", "/list?page=b"),
    ],
)
def test_a_list_goes_on_where_one_number_is_larger(expected: bool, here: str, there: str) -> None:
    assert continues(SITE + here, SITE + there) is expected


@pytest.mark.parametrize(("name", "told"), [("", ""), ("to", "to=")])
def test_of_what_speaks_against_a_page_the_first_hundred_characters_count(
    name: str, told: str
) -> None:
    begins = "/login/".ljust(100, "x")

    assert shape_of_doubt(name, f"{begins}y") == shape_of_doubt(name, begins) == f"{told}{begins}"


@pytest.mark.parametrize(
    ("expected", "path"),
    [
        (("/shop/#/reviews/add", "/shop/lamp_12"), "/shop/lamp_12/reviews/add/"),
        (("/#/reviews", "/lamp_12"), "/lamp_12/reviews"),
        (("/shop/#/reviews/#", "/shop/lamp_12"), "/shop/lamp_12/reviews/7/"),
        (("/#/#/notes/#", "/3/12"), "/3/12/notes/7"),
        (None, "/shop/12/7"),
        (None, "/shop/reviews/7"),
        (None, "/shop/12/reviews/of-lamps-7"),
        (None, "/shop/lamp_12/"),
        (None, "/reviews/add"),
        (None, "/shop/lamp_12/reviews?by=me"),
        (None, "/shop/lamp/reviews"),
    ],
)
def test_what_is_shown_of_a_thing_stands_behind_its_number(
    expected: tuple[str, str] | None, path: str
) -> None:
    told = (
        None if expected is None else (expected[0], [SITE + expected[1], f"{SITE}{expected[1]}/"])
    )

    assert face_of(SITE + path) == told


def test_two_views_of_one_thing_have_all_folders_but_one_in_common() -> None:
    """The last part is the thing, and stays; a thing at the root has no folders."""
    assert parallels(f"{SITE}/work/log/x?a=1") == ["/*/log/x", "/work/*/x"]
    assert parallels(f"{SITE}/x") == []
    assert thing_of_view(f"{SITE}/work/log/a.txt") == "/work/*/a.txt"
    assert thing_of_view(f"{SITE}/log/work/a.txt") == "/*/work/a.txt"
    assert thing_of_view(f"{SITE}/log/2024/07") is None


def test_addresses_are_less_specific_with_one_parameter_less_with_one_and_with_none() -> None:
    three = ["/x", "/x?b=2&c=3", "/x?a=1&c=3", "/x?a=1&b=2", "/x?a=1", "/x?b=2", "/x?c=3"]
    assert less_specific("/x?a=1&b=2&c=3") == three
    assert less_specific("/x?a=1;b=2") == ["/x", "/x?b=2", "/x?a=1"]
    assert less_specific("/x?a=1") == ["/x"]
    assert less_specific("/x") == []


@pytest.mark.parametrize(
    ("expected", "path"),
    [
        ("/r/?id=#", f"/r/x?id={HASH}"),
        ("/r/?id", "/r/x?id=7"),
        ("/r/?a&id", "/r/x?id=7;a=1&id=8"),
        ("/r//#", f"/r/{HASH}/x"),
        ("/r/", "/r/x"),
    ],
)
def test_pages_change_alike_that_lie_in_one_folder_and_have_parameters_of_the_same_names(
    expected: str, path: str
) -> None:
    """Versions are apart: those that a hash names."""
    assert group_of(SITE + path) == SITE + expected


@pytest.mark.parametrize(
    ("suffix", "stem", "is_unknown", "path"),
    [
        ("html", "/a/plan", False, "/a/plan.html"),
        ("pdf", None, False, "/a/plan.pdf"),
        ("qqq", None, True, "/a/plan.qqq"),
        ("php", None, True, "/a/plan.php"),
        ("js", None, False, "/a/plan.JS"),
        ("webp", None, False, "/a/plan.webp"),
        (None, "/a/plan", False, "/a/plan"),
    ],
)
def test_the_ending_of_a_name_says_what_a_file_is(
    suffix: str | None, stem: str | None, is_unknown: bool, path: str
) -> None:
    assert suffix_of(SITE + path) == suffix
    assert is_unknown_file(path) is is_unknown
    assert is_doubted(SITE + path) is (suffix in ("js", "webp"))
    assert suffix_of(f"{SITE}{path}?a=1") is None
    assert stem_of_page(SITE + path) == stem
    assert stem_of_page(f"{SITE}{path}?a=1") is None


@pytest.mark.parametrize(
    ("path", "joined"),
    [
        ("/tags/a+b", True), ("/tags/a,b/", True), ("/tags/a%2cb%2Cc", True), ("/tags/a", False),
        ("/tags/+b", False), ("/a+b/c", False), ("/tags/a+b?sort=1", False),
        ("/" + "a%2C" * 500 + "a//", False),
    ],
    ids=str,
)  # fmt: skip
def test_words_are_joined_at_the_end_of_a_path(path: str, *, joined: bool) -> None:
    assert is_joined(f"http://a.test{path}") is joined


@pytest.mark.parametrize(
    ("path", "calendar"),
    [
        ("/club/2026/02/05/", "/club"), ("/day.php?date=2027-03-01", "/day.php?date="),
        ("/c?view=day&time=1700000000", "/c?view=day&time="),
        ("/c?cal_date=20270301", "/c?cal_date="),
        ("/c?month=2027-03", "/c?month="), ("/c?p=1700000000", None), ("/c?id=20270301", None),
        ("/c?time=20271301", None), ("/c?v=2027-03-99", None), ("/2027-03-01/c", None),
        ("/c?from=2027-03-01T01%3A33%3A20Z&by=second", "/c?from=&by=second"),
        ("/c?from=2027-03-01T01:33:20.5%2B02:00", "/c?from="), ("/c?v=2027-03-01Tea", None),
        ("/c?" + "a=2027-03-01x&" * 150, None), ("/c?a=2027-03-01T" + "1" * 10_000, None),
    ],
    ids=str,
)  # fmt: skip
def test_a_date_in_an_address_is_of_a_calendar(path: str, calendar: str | None) -> None:
    assert calendar_of(f"http://a.test{path}") == calendar


@pytest.mark.parametrize(
    ("path", "pages"),
    [
        ("/books.csv?author=7&size=max", ["/books?author=7&size=max", "/books?author=7"]),
        ("/books.json?author", ["/books?author"]),
        ("/books.csv", []),
        ("/books?author=7", []),
        ("/books.html?author=7", []),
        ("/books.php?author=7", []),
    ],
)
def test_what_a_file_by_a_query_may_be_another_form_of(path: str, pages: list[str]) -> None:
    """Scripts and pages are none; nor is known what a query asks of all together."""
    assert pages_of_file(f"{SITE}{path}") == [f"{SITE}{one}" for one in pages]


@pytest.mark.parametrize(
    ("path", "view"),
    [
        ("/diff/tip/src/a.c", "/diff/"),
        ("/raw-file/tip/a.c", "/raw-file/"),
        ("/comparison/tip/a.c", "/comparison/"),
        ("/log/2026/11", None),
        ("/log/tip", None),
        ("/work/diff/a.c", None),
        ("/file/tip/a.c", None),
    ],
)
def test_a_view_that_is_named_first(path: str, view: str | None) -> None:
    assert view_at_root(f"{SITE}{path}") == view


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (f"/diff/{HASH}/src/a.c", True),
        (f"/work/blame/{HASH}/a.c", True),
        (f"/work/commit/{HASH}", False),
        (f"/changeset/{HASH}/work", False),
        (f"/changeset/{HASH}/work/src", True),
        (f"/changeset/{HASH}/a.c", True),
        (f"/file/{HASH}/src/a.c", False),
        ("/diff/tip/src/a.c", False),
    ],
)
def test_a_view_of_a_version_names_what_it_is_one_of(path: str, expected: bool) -> None:
    """What a hash alone names is the version itself."""
    assert is_view_of_version(f"{SITE}{path}") is expected
