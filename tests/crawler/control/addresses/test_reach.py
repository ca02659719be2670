"""Whether a configuration takes more addresses than the one before."""

from dataclasses import replace
from typing import Any

import pytest

from recrawl.crawler.control.addresses.admission import Admission
from recrawl.crawler.control.addresses.reach import Reach, reach_of
from recrawl.crawler.control.addresses.scope import Scope

BEFORE = Reach(("a.test",), ("/docs/*",), ("*/print/*",), (5.0, 1.0, 0.0), (100.0, 9.0))


@pytest.mark.parametrize(
    "now",
    [
        {"hosts": ("a.test", "b.test")},
        {"include": ()},
        {"include": ("/docs/*", "/blog/*")},
        {"include": ("/blog/*",)},
        {"exclude": ()},
        {"exclude": ("/x",)},
        {"bounds": (1.0, 10.0)},
        {"follows": (5.0, 0.0, 1.0)},
    ],
)
def test_what_lets_more_in_makes_a_reach_wider(now: dict[str, Any]) -> None:
    after = replace(BEFORE, **now).after(BEFORE, ["http://a.test/"], 7.0, has_refused=True)

    assert after == replace(BEFORE, **now, widened_s=7.0)


@pytest.mark.parametrize(
    "now",
    [
        {},
        {"hosts": ()},
        {"hosts": ("seeded.test", "a.test")},  # whose pages are found from its seed
        {"hosts": ("*.seeded.test",)},
        {"exclude": ("*/print/*", "/y")},
        {"bounds": (99.0, 9.0)},
        {"bounds": (100.0, 9.0, 7.0)},  # one that the version before did not have
        {"follows": (4.0, 1.0, 0.0)},
    ],
)
@pytest.mark.parametrize("widened_s", [None, 3.0])
def test_what_lets_less_in_or_has_a_seed_leaves_the_instant(
    now: dict[str, Any], widened_s: float | None
) -> None:
    before = replace(BEFORE, widened_s=widened_s)
    seeds = ["http://seeded.test/", "http://www.seeded.test/x"]

    assert replace(BEFORE, **now).after(before, seeds, 7.0, has_refused=True) == replace(
        before, **now
    )


def test_a_pattern_beside_a_crawl_without_patterns_makes_it_narrower() -> None:
    assert BEFORE.after(replace(BEFORE, include=()), [], 7.0, has_refused=True).widened_s is None


def test_a_bound_that_kept_nothing_out_makes_a_reach_no_wider() -> None:
    higher = replace(BEFORE, bounds=(200.0, 10.0))

    assert higher.after(BEFORE, [], 7.0, has_refused=False) == higher


def test_of_the_first_start_nobody_knows() -> None:
    assert BEFORE.after(None, [], 7.0, has_refused=True) == BEFORE


@pytest.mark.parametrize("reach", [BEFORE, replace(BEFORE, widened_s=1.5)])
def test_a_reach_is_read_as_it_was_kept(reach: Reach) -> None:
    assert Reach.of_text(reach.as_text()) == reach


@pytest.mark.parametrize("text", [None, "", "{", "[]", "{}", '{"hosts": 3}', "7"])
def test_what_another_version_kept_is_not_read(text: str | None) -> None:
    assert Reach.of_text(text) is None


def test_a_host_is_taken_as_the_scope_takes_it() -> None:
    reach = Reach(("*.a.test", "b.test:81"))

    assert reach.takes_host("http://www.a.test/x")
    assert reach.takes_host("http://b.test:81/")
    assert not reach.takes_host("http://b.test/")


def test_every_bound_of_the_rules_is_one_of_the_reach() -> None:
    scope = Scope(("a.test",), ("/a",), ("/b",), max_depth=7, max_hops=2)

    assert reach_of(Admission(scope, sitemaps=False), (9, 8)) == Reach(
        ("a.test",), ("/a",), ("/b",), (2.0, 0.0, 1.0), (7.0, 9.0, 8.0)
    )
