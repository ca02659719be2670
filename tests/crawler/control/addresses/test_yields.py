"""What kinds of address bring: shapes are told apart, tried, and visited as they prove worth it."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random

import pytest

from recrawl.crawler.control.addresses.address_kinds import AddressKind
from recrawl.crawler.control.addresses.doubts import (
    compares,
    face_of,
    hash_of,
    is_doubted,
    page_of_version,
    stem_of_page,
    stems_of_source,
)
from recrawl.crawler.control.addresses.gists import (
    content_hash,
    gist,
    is_list,
    is_near,
    nearly_same,
)
from recrawl.crawler.control.addresses.lists import (
    continues,
    goes_on,
    leads_elsewhere,
    leads_on,
    place_in_list,
    unsorted,
)
from recrawl.crawler.control.addresses.versions import numbered_file
from recrawl.crawler.control.addresses.yields import AddressYields
from recrawl.terms import Kind, Lease, Outcome, PageState, PageUpdate, Visit

A, NOW_S, HOUR_S = "http://a.test", 1_800_000_000.0, 3_600.0


def lease(number: int, path: str) -> Lease:
    return Lease(number, f"{A}{path}", 1, 1, NOW_S)


def visited(of: Lease, text: str | None, outcome: Outcome = Outcome.NEW) -> PageUpdate:
    """A first visit that found this text, or nothing to index."""
    state = PageState.EXCLUDED if text is None else PageState.INDEXED
    signature = None if text is None else text.encode()
    return PageUpdate(of, Visit(NOW_S, outcome), state, NOW_S, signature=signature)


def crawled(yields: AddressYields, paths: list[str], texts: list[str | None]) -> list[int]:
    """Visit what may be, each at once when it is told of; return the numbers of those visited."""
    leases = {number: lease(number, path) for number, path in enumerate(paths)}
    waiting = list(leases)
    seen: list[int] = []
    while waiting:
        number = waiting.pop(0)
        if number in seen or (number not in seen and yields.due_s(leases[number], NOW_S) > NOW_S):
            continue
        seen.append(number)
        welcome = yields.observe(visited(leases[number], texts[number]))
        waiting = [page_id for page_id, _ in welcome] + waiting
    return seen


def words(seed: int, n: int) -> str:
    """Return so many made-up words, always the same of a seed."""
    return " ".join("".join(Random(seed * n + nth).choices("abcdefgh", k=6)) for nth in range(n))


def test_answers_of_a_forum_with_addresses_of_their_own_are_given_up() -> None:
    """Each names its topic as canonical; where such addresses are pages, all are visited."""
    topics = range(300)
    paths = [f"/t/topic-{t}/{t}{answer}" for t in topics for answer in ("", "/2", "/3")]
    texts = [None if path.count("/") == 4 else path for path in paths]

    seen = crawled(AddressYields(), paths, texts)
    again = AddressYields()
    again.recall((f"{A}{paths[n]}", visited(lease(n, ""), texts[n]).state, None, 200) for n in seen)

    assert sum(texts[number] is not None for number in seen) == len(topics)
    assert sum(texts[number] is None for number in seen) <= 12
    assert again.due_s(lease(1, "/t/topic-999/999/2"), NOW_S) > NOW_S
    assert len(crawled(AddressYields(), paths, list(paths))) == len(paths)


@pytest.mark.parametrize("end", ["", "/"])
@pytest.mark.parametrize("is_place", [True, False])
def test_places_in_a_page_that_name_no_other_are_given_up(is_place: bool, end: str) -> None:
    """Each answer of a topic has some before and after it; chapters of one heading are read."""
    yields, asked = AddressYields(), 0
    for topic in range(60):
        said = [f"word{topic}x{nth}" for nth in range(1_500)]
        for number in range(31):
            first = 10 * max(number - 5, 0) if is_place else 40 * number
            path = f"/topic/{topic}/of-lamps" + (f"/{number}" if number else "") + end
            one = lease(100 * topic + number, path)
            if yields.due_s(one, NOW_S) > NOW_S:
                continue
            asked += number > 0
            text = " ".join(said[first : first + (200 if is_place else 40)])
            told = gist(f"Of lamps\n{text}", one.url, "Of lamps")
            yields.observe(replace(visited(one, text), gist=told))

    assert asked <= 40 if is_place else asked == 1_800


def test_a_site_behind_one_script_is_visited_whole() -> None:
    """Two thousand pages of a wiki that differ by a parameter only."""
    n = 2_000
    paths = [f"/doku.php?id=page{number}" for number in range(n)]

    seen = crawled(AddressYields(), paths, [f"text {number}" for number in range(n)])

    assert len(seen) == n


def test_a_script_that_is_told_a_page_without_a_name_for_it_is_visited_whole() -> None:
    """As old wikis have it: what stands alone in the query names the page."""
    paths = [f"/wiki.cgi?Page{number}" for number in range(500)]

    seen = crawled(AddressYields(), paths, [f"text {number}" for number in range(500)])

    assert len(seen) == 500


def test_pages_under_a_new_nonce_wherever_they_are_linked_are_left_after_a_few() -> None:
    """Whatever the value says nothing, on all paths; where values name pages, all are visited."""
    paths = [f"/item/{k % 60}?rnd={k * 7919:08x}&s={k * 104729:08x}" for k in range(6_000)]

    seen = crawled(AddressYields(), paths, [f"text {k % 60}" for k in range(6_000)])
    other = crawled(AddressYields(), paths[:600], [f"text {k}" for k in range(600)])

    assert {k % 60 for k in seen} == set(range(60))
    assert len(seen) <= 60 + 30
    assert len(other) == 600


def test_an_address_repeats_a_page_that_was_visited_under_another_value_of_what_means_nothing() -> (
    None
):
    """As the place in a list by which a page is linked; of a page that is not known it is news."""
    yields = AddressYields()
    for number in range(60):
        one = lease(number, f"/things/{number // 2}?place={number}")
        yields.observe(visited(one, f"text {number // 2}"))

    assert yields.classifier.repeats(f"{A}/things/7?place=3")
    assert not yields.classifier.repeats(f"{A}/things/31?place=3")
    assert not yields.classifier.repeats(f"{A}/things/7")


def test_what_seemed_to_mean_nothing_is_visited_once_it_means_something() -> None:
    """Of thirty pages no value matters; one of those put off, tried three hours later, says so."""
    yields = AddressYields()
    paths = [f"/item/{k // 4}?of={k}" for k in range(160)]
    crawled(yields, paths, [f"text {k // 4}" for k in range(160)])
    put_off = [k for k in range(160) if yields.due_s(lease(k, paths[k]), NOW_S) > NOW_S]

    later = next(
        k
        for k in put_off
        if yields.due_s(lease(k, paths[k]), NOW_S + 4 * HOUR_S) <= NOW_S + 4 * HOUR_S
    )
    told = {number for number, _ in yields.observe(visited(lease(later, paths[later]), "other"))}

    assert len(told) > 60


def test_a_frame_around_each_page_is_left_after_a_few() -> None:
    """An API's manual has the same frames for every page; a script puts the page into them."""
    paths = [f"/index.html?org/a/Class{number}.html" for number in range(300)]

    seen = crawled(AddressYields(), paths, ["frames"] * 300)

    assert 1 <= len(seen) <= 15


@pytest.mark.parametrize(("n_values", "is_left"), [(8, True), (9, False)])
def test_eight_values_of_a_parameter_are_told_apart_and_more_name_pages(
    n_values: int, is_left: bool
) -> None:
    """The last of them brings nothing: it is left, or is visited as all others are."""
    paths = [f"/x?kind=k{n % n_values}&id={n}" for n in range(60 * n_values)]
    texts = [None if (n + 1) % n_values == 0 else path for n, path in enumerate(paths)]

    seen = crawled(AddressYields(), paths, texts)

    assert len([n for n in seen if texts[n] is not None]) == 60 * (n_values - 1)
    assert (len([n for n in seen if texts[n] is None]) < 10) is is_left


@pytest.mark.parametrize("text", [None, "please log in"], ids=["nothing", "always the same"])
@pytest.mark.parametrize("pattern", ["/doku.php?do=edit&id=p{}", "/shop?colour=c{}&size=s{}"])
def test_a_shape_that_brings_nothing_is_tried_a_few_times(text: str | None, pattern: str) -> None:
    """Whether its words speak against it or not."""
    paths = [pattern.replace("{}", str(number)) for number in range(500)]

    seen = crawled(AddressYields(), paths, [text] * 500)

    assert 1 <= len(seen) <= 25


@pytest.mark.parametrize(
    ("pattern", "tries"),
    [
        ("/x?id={}", {0: 5, 12: 5, 7: 5, 5: 300}),  # the first five at most: 1 / (5 + 2) < 0.15
        ("/tag/a+b{}", {0: 5, 12: 5, 7: 5, 5: 300}),
        ("/p{}/x?show=all", {0: 3, 12: 3, 5: 3, 3: 300}),  # 0.7 / (3 + 2) < 0.15
        ("/x?a=a{}&b=b{}", {0: 3, 3: 3}),
        ("/x?do=edit&id={}", {0: 2, 12: 2, 3: 2}),  # what words speak against, at once
        ("/p{}/x?do=edit", {0: 2, 3: 2}),
        ("/dir/{}.zip", {0: 2, 3: 2}),  # two of what nobody knows are on their way
        ("/dir/{}", {0: 8, 12: 8, 7: 12, 5: 300}),  # 2 / (12 + 2) < 0.15
        ("/dir/{}.html", {0: 8, 12: 8, 7: 12, 5: 300}),
        ("/t/topic-{}/{}/2", {0: 8, 12: 8, 7: 12, 5: 300}),
    ],
)
def test_so_many_are_tried_until_the_next_is_unlikely_to_bring_anything(
    pattern: str, tries: dict[int, int]
) -> None:
    """By how many bring something: none, or each twelfth, seventh, fifth or third."""
    paths = [pattern.replace("{}", str(number)) for number in range(300)]

    tried = {
        each: len(crawled(AddressYields(), paths, [
            f"text {number}" if each and number % each == each - 1 else None
            for number in range(300)
        ]))
        for each in tries
    }  # fmt: skip

    assert tried == tries


@pytest.mark.parametrize("n_known", range(6))
def test_what_was_tried_before_a_start_counts(n_known: int) -> None:
    """Of one kind, and of all that words speak against: three, before a host has brought any."""
    known = AddressYields()
    known.recall((f"{A}/x?id=p{n}", PageState.EXCLUDED, None, 200) for n in range(n_known))
    acts = ["edit", "login", "history", "revert", "delete", "diff"]
    doubted = AddressYields()
    doubted.recall(
        (f"{A}/y{n}?do={acts[n]}", PageState.EXCLUDED, None, 200) for n in range(n_known)
    )

    tried = crawled(known, [f"/x?id=p{n}" for n in range(10, 99)], [None] * 89)
    more = crawled(doubted, [f"/z{n}?do={act}" for n, act in enumerate(acts)], [None] * 6)

    assert (len(tried), len(more)) == (5 - n_known, max(3 - n_known, 0))


@pytest.mark.parametrize(("n_brought", "tries"), [(0, 3), (19, 3), (20, 4), (79, 6)])
def test_of_what_words_speak_against_a_twentieth_of_what_a_host_has_brought_is_tried(
    n_brought: int, tries: int
) -> None:
    yields, texts = AddressYields(), list[str | None](f"text {n}" for n in range(n_brought))
    crawled(yields, [f"/page-{n}" for n in range(n_brought)], texts)
    acts = ["edit", "login", "history", "revert", "delete", "diff", "print", "move", "protect"]

    seen = crawled(yields, [f"/z{n}?do={act}" for n, act in enumerate(acts)], [None] * len(acts))

    assert len(seen) == tries


def test_names_that_were_never_combined_before_are_tried() -> None:
    """However little other combinations have brought."""
    yields = AddressYields()
    for a, b in ("ab", "ef", "gh"):
        crawled(yields, [f"/x?{a}=a{n}&{b}=b{n}" for n in range(30)], [None] * 30)

    assert yields.due_s(lease(91, "/x?c=1&d=1"), NOW_S) == NOW_S
    assert yields.due_s(lease(92, "/x?a=1&b=1"), NOW_S) > NOW_S


@pytest.mark.parametrize(("hours", "is_tried"), [(2.999, False), (3.0, True)])
def test_one_more_of_what_is_put_off_is_tried_three_hours_later(
    hours: float, *, is_tried: bool
) -> None:
    yields, at_s = AddressYields(), NOW_S + hours * HOUR_S
    crawled(yields, [f"/x?do=edit&id={n}" for n in range(9)], [None] * 9)

    assert (yields.due_s(lease(91, "/x?do=edit&id=91"), at_s) == at_s) == is_tried


def test_numbers_at_the_end_that_say_what_others_say_are_visited_where_they_are_pages() -> None:
    """Only those that are left out of the index speak against others, beside the branch."""
    paths = [f"/t/topic-{t}/{t}{answer}" for t in range(100) for answer in ("", "/2", "/3")]
    texts: list[str | None] = [path if path.count("/") == 3 else "alike" for path in paths]

    assert len(crawled(AddressYields(), paths, texts)) == len(paths)


def test_a_part_that_brings_nothing_is_left_however_much_another_part_brings() -> None:
    """One kind is what differs by a parameter that names pages, not by one that has few values."""
    n = 300
    paths = [f"/x?id=p{number}&part=body" for number in range(n)]
    paths += [f"/x?id=p{number}&part=foot" for number in range(n)]
    texts: list[str | None] = [f"text {number}" for number in range(n)]

    seen = crawled(AddressYields(), paths, texts + ["-"] * n)

    assert seen[:n] == list(range(n))
    assert len(seen) - n <= 20


@pytest.mark.parametrize(
    ("topic", "place", "begin"),
    [
        ("/topic?f=1&t={}", "&start={}", 0),
        ("/topic/{}", "?page={}", 1),
        ("/find?idx=su&q=word{}", "&offset={}&sort=date", 0),
    ],
)
def test_that_lists_begin_with_what_is_known_says_nothing_of_where_they_go_on(
    topic: str, place: str, begin: int
) -> None:
    """Topics of a forum, and results of a catalogue, link to their first page among the others."""
    n = 60
    topics = [topic.format(number) for number in range(n)]
    first = [f"{path}{place.format(begin)}" for path in topics]
    others = [f"{path}{place.format(begin + k)}" for path in topics for k in range(1, 15)]
    texts: list[str | None] = [f"text {number % n}" for number in range(2 * n)]
    texts += [f"more {number}" for number in range(len(others))]

    seen = crawled(AddressYields(), [*topics, *first, *others], texts)

    assert len([number for number in seen if n <= number < 2 * n]) <= 8
    assert set(range(2 * n, 16 * n)) <= set(seen)


def test_words_are_overridden_by_what_comes() -> None:
    """A site whose pages are all called edit is visited whole."""
    paths = [f"/wiki?action=edit&page={number}" for number in range(300)]

    seen = crawled(AddressYields(), paths, [f"text {number}" for number in range(300)])

    assert len(seen) == 300


def n_waiting(yields: AddressYields) -> int:
    return sum(len(kind.waiting) for kind in yields.classifier.kinds.values())


def test_what_speaks_against_itself_leaves_a_place_for_each_kind_of_it() -> None:
    """Of a version control tickets are named by hashes, as are artifacts in eight views."""
    shown = [f"/dump{way}/{number:064x}" for way in range(8) for number in range(100)]
    tickets = [f"/ticket/{number:09x}1" for number in range(0xA, 0x1E)]
    paths = [*shown, *tickets, *(f"/page-{number}" for number in range(200))]
    texts: list[str | None] = [*["bytes"] * 800, *paths[800:]]

    seen = [paths[n] for n in crawled(AddressYields(), paths, texts)]

    assert set(tickets) <= set(seen)
    assert len(set(shown) & set(seen)) <= 24


def test_what_one_more_page_would_prove_is_tried_before_what_was_never_tried() -> None:
    """Of what speaks against itself, when a host has brought enough for one more."""
    yields = AddressYields()
    paths = [f"/{way}/{number:09x}1" for way in ("info", "dump", "hex") for number in (10, 11)]
    tried = [lease(0, paths[0]), lease(1, paths[2]), lease(2, paths[3])]
    untried = [lease(3, paths[4]), lease(4, paths[1])]
    for one in tried:
        assert yields.due_s(one, NOW_S) == NOW_S
        yields.observe(visited(one, "a ticket" if one is tried[0] else None))
    assert all(yields.due_s(one, NOW_S) > NOW_S for one in untried)

    told: list[tuple[int, int]] = []
    for number in range(100, 120):
        page = lease(number, f"/page-{number}")
        assert yields.due_s(page, NOW_S) == NOW_S
        told += yields.observe(visited(page, f"page {number}"))

    assert told[:1] == [(4, 1)]


def test_few_of_a_kind_that_speaks_against_itself_are_on_their_way_at_once() -> None:
    """Though there is room for more: it is for other kinds, until what these bring is known."""
    yields = AddressYields()
    paths = [*(f"/page-{number}" for number in range(200)), "/info/a0000000f1"]
    crawled(yields, paths, [*paths])

    due = [yields.due_s(lease(1_000 + n, f"/info/b{n:08x}1"), NOW_S) for n in range(20)]

    assert sum(due_s <= NOW_S for due_s in due) == 2


def test_what_is_put_off_is_tried_now_and_then() -> None:
    """A site may change its mind; one more every three hours."""
    yields = AddressYields()
    for number in range(10):
        one = lease(number, f"/x?do=edit&id={number}")
        if yields.due_s(one, NOW_S) == NOW_S:
            yields.observe(visited(one, None))

    later, before = lease(99, "/x?do=edit&id=99"), n_waiting(yields)

    assert yields.due_s(later, NOW_S) > NOW_S + 2 * HOUR_S
    assert yields.due_s(later, NOW_S + 4 * HOUR_S) == NOW_S + 4 * HOUR_S
    assert n_waiting(yields) == before, "what is tried waits no more"
    assert yields.due_s(later, NOW_S + 4 * HOUR_S + 1.0) > NOW_S + 6 * HOUR_S


def test_a_branch_of_copies_or_of_what_may_not_be_indexed_is_left_after_a_few() -> None:
    """And a file's ending that cannot be read; the branch beside it is visited whole."""
    poor = [f"/wiki/Special:Log/{number}" for number in range(200)]
    files = [f"/pool/{number}.zip" for number in range(200)]
    good = [f"/wiki/Page_{number}" for number in range(200)]
    paths = [path for three in zip(poor, files, good, strict=True) for path in three]

    seen = crawled(
        AddressYields(),
        paths,
        [f"text {number}" if "Page" in path else None for number, path in enumerate(paths)],
    )

    visited_paths = [paths[number] for number in seen]
    assert set(good) <= set(visited_paths)
    assert len(set(poor) & set(visited_paths)) <= 15
    assert len(set(files) & set(visited_paths)) <= 3


@pytest.mark.parametrize("space", ["Special:Links/", "Spezial:Linkliste/", "Spezial%3ALinks/"])
def test_a_name_space_of_copies_is_left_after_a_few_where_queries_name_pages(space: str) -> None:
    """As in a wiki that has no addresses of its own for pages: ``?title=Special:Links/Fern``."""
    poor = [f"/index.php?title={space}Page_{number}" for number in range(200)]
    good = [f"/index.php?title=Page_{number}" for number in range(200)]
    paths = [path for two in zip(good, poor, strict=True) for path in two]

    seen = crawled(
        AddressYields(),
        paths,
        [f"text {number}" if path in good else None for number, path in enumerate(paths)],
    )

    visited_paths = [paths[number] for number in seen]
    assert set(good) <= set(visited_paths)
    assert len(set(poor) & set(visited_paths)) <= 15


def test_few_of_an_ending_that_nobody_knows_are_on_their_way_at_once() -> None:
    """Images of disks are left after a few, whatever is fetched at once; scripts are visited."""
    for texts, least, most in ([None] * 200, 5, 10), ([f"text {n}" for n in range(200)], 200, 200):
        yields = AddressYields()
        leases = [lease(number, f"/pool/{number}.odd") for number in range(200)]
        at_once = [one for one in leases if yields.due_s(one, NOW_S) <= NOW_S]
        assert len(at_once) == 2
        on_their_way, seen = at_once, 0
        while on_their_way:
            one = on_their_way.pop(0)
            seen += 1
            update = visited(one, texts[one.page_id])
            for page_id, _ in yields.observe(update):
                if yields.due_s(leases[page_id], NOW_S) <= NOW_S:
                    on_their_way.append(leases[page_id])

        assert least <= seen <= most


def test_a_page_that_was_lost_leaves_its_place_to_one_other() -> None:
    """Of a shape of which nothing is known two are on their way, whatever became of the others."""
    yields = AddressYields()
    first, *others = [lease(number, f"/x?id={number}") for number in range(20)]
    on_their_way = [one for one in (first, *others) if yields.due_s(one, NOW_S) <= NOW_S]
    waiting = [one for one in others if one not in on_their_way]

    yields.observe(visited(first, None, Outcome.LOST))

    assert sum(yields.due_s(one, NOW_S) <= NOW_S for one in waiting) == 1


@pytest.mark.parametrize("troubles", [0, 1])
@pytest.mark.parametrize(("n_in_vain", "is_left"), [(7, False), (8, True)])
def test_a_branch_is_left_once_eight_of_its_pages_have_brought_nothing(
    n_in_vain: int, is_left: bool, troubles: int
) -> None:
    """Until then all of it is visited, however little it seems to bring; pages in trouble aside."""
    yields, rest = AddressYields(), [lease(100 + n, f"/old/{100 + n}") for n in range(20)]
    for number in range(n_in_vain):
        for gone in [lease(200 + number, f"/old/{200 + number}")][:troubles]:
            assert yields.due_s(gone, NOW_S) == NOW_S
            yields.observe(visited(gone, None, Outcome.NOT_FOUND))
        one = lease(number, f"/old/{number}")
        assert yields.due_s(one, NOW_S) == NOW_S
        yields.observe(visited(one, None))

    assert [yields.due_s(one, NOW_S) > NOW_S for one in rest] == [is_left] * 20


@pytest.mark.parametrize("path", ["/p/{}", "/p/{}.zq", "/p/{}?lang=x"])
def test_trouble_of_pages_says_nothing_of_their_branch(path: str) -> None:
    """A sitemap that lists what is gone must not hide what is not, whatever it is called."""
    yields = AddressYields()

    for number in range(50):
        one = lease(number, path.format(number))
        assert yields.due_s(one, NOW_S) == NOW_S
        yields.observe(visited(one, None, Outcome.NOT_FOUND))


def test_trouble_of_pages_with_one_value_says_nothing_of_those_with_another() -> None:
    """Though they are of the same names."""
    yields = AddressYields()
    gone, others = (
        [lease(number, f"/x?type={of}&id={number}") for number in range(20)] for of in ("a", "b")
    )
    for one in gone:
        if yields.due_s(one, NOW_S) == NOW_S:
            yields.observe(visited(one, None, Outcome.NOT_FOUND))

    assert yields.due_s(gone[-1], NOW_S) > NOW_S
    assert sum(yields.due_s(one, NOW_S) == NOW_S for one in others) == 2


def test_what_asks_to_sign_in_of_each_thing_is_left_after_a_few() -> None:
    """Whatever it is called and however many things there are; what else is shown is visited."""
    yields = AddressYields()
    asked: list[str] = []
    for number in range(200):
        things = (f"/topic/{number}/about-{number}/", f"/topic/{number}/members/")
        for path, said in (*((one, one) for one in things), (f"/note/{number}/publish/", None)):
            one = lease(len(asked), path)
            if yields.due_s(one, NOW_S) > NOW_S:
                continue
            asked.append(path)
            outcome = Outcome.DENIED if said is None else Outcome.NEW
            update = visited(one, said, outcome)
            yields.observe(replace(update, visit=replace(update.visit, status=302)))

    assert len([path for path in asked if path.startswith("/topic/")]) == 400
    assert len(asked) <= 409


@pytest.mark.parametrize(
    ("status", "is_left"), [(302, True), (400, False), (401, False), (403, False)]
)
def test_pages_that_are_refused_say_nothing_of_the_branch_that_they_lie_in(
    status: int, is_left: bool
) -> None:
    """But those that lead to where one signs in do."""
    yields, asked = AddressYields(), 0
    for number in range(200):
        one = lease(number, f"/closed/page-{number}")
        if yields.due_s(one, NOW_S) > NOW_S:
            continue
        asked += 1
        update = visited(one, None, Outcome.DENIED)
        update = replace(update, state=PageState.MISSING)
        yields.observe(replace(update, visit=replace(update.visit, status=status)))

    assert (asked < 30) == is_left
    assert (asked == 200) != is_left


@pytest.mark.parametrize(("status", "is_left"), [(401, True), (403, True), (404, False)])
def test_what_is_refused_of_each_page_is_left_after_a_few(status: int, is_left: bool) -> None:
    """As a form to change it, which a query asks for; in a later run too, and the pages are not."""
    yields, again, asked = AddressYields(), AddressYields(), list[str]()
    for number in range(200):
        for path in (f"/notes/n{number}?open", f"/notes/n{number}?change"):
            one = lease(len(asked), path)
            if yields.due_s(one, NOW_S) > NOW_S:
                continue
            asked.append(path)
            said = f"text {number}" if path.endswith("open") else None
            update = visited(one, said, Outcome.DENIED if said is None else Outcome.NEW)
            visit = replace(update.visit, status=200 if said else status)
            state = update.state if said else PageState.MISSING
            yields.observe(replace(update, visit=visit, state=state))
            again.recall([(one.url, state, update.signature, visit.status)])
    refused = [path for path in asked if path.endswith("change")]

    assert len(asked) - len(refused) == 200
    assert (len(refused) <= 8) == is_left
    assert (again.due_s(lease(9_999, "/notes/other?change"), NOW_S) > NOW_S) == is_left


@pytest.mark.parametrize(
    ("shape", "status", "is_left"),
    [
        ("/thing/{n}/sizes", 403, True),
        ("/thing/{n}/sizes", 405, True),
        ("/thing/{n}/sizes", 404, False),
        ("/thing/topics/cite/{n}", 406, True),
        ("/thing/topics/cite/{n}", 302, True),
        ("/thing/topics/cite/{n}", 403, False),
        ("/quote/{n}", 405, True),
    ],
)
def test_what_a_path_shows_of_each_thing_and_is_refused_is_left_after_a_few(
    shape: str, status: int, is_left: bool
) -> None:
    """Of what is shown whoever may see it, else only for the way in which it is asked for.

    In a later run too.
    """
    yields, again, asked = AddressYields(), AddressYields(), list[str]()
    for number in range(200):
        for path in (f"/thing/{number}", shape.format(n=number)):
            one = lease(len(asked), path)
            if yields.due_s(one, NOW_S) > NOW_S:
                continue
            asked.append(path)
            if path == f"/thing/{number}":
                update = visited(one, f"text {number}")
                yields.observe(update)
                again.recall([(one.url, update.state, update.signature, 200)])
                continue
            update = replace(visited(one, None, Outcome.DENIED), state=PageState.MISSING)
            yields.observe(replace(update, visit=replace(update.visit, status=status)))
            again.recall([(one.url, update.state, None, status)])

    n_things = sum(path.count("/") == 2 and path.startswith("/thing") for path in asked)
    assert n_things == 200
    assert (len(asked) - n_things <= 20) == is_left
    assert (again.due_s(lease(9_999, shape.format(n=999)), NOW_S) > NOW_S) == is_left


@pytest.mark.parametrize(
    ("said", "is_same"), [("{0} {1}", True), ("{0} meeting of {2} and {2}s", False)]
)
def test_months_by_year_and_month_are_visited_as_long_as_they_say_something(
    said: str, is_same: bool
) -> None:
    """A plan of weeks is the same whatever the month; what happens in each is another."""
    yields, n_asked = AddressYields(), 0
    for number in range(240):
        year, month = 2010 + number // 12, number % 12 + 1
        one = lease(number, f"/plan?month={month}&year={year}")
        if yields.due_s(one, NOW_S) > NOW_S:
            continue
        n_asked += 1
        weeks = " ".join(str((4 * number + week) % 52 + 1) for week in range(26))
        name = "".join("klmnopqrst"[int(digit)] * 2 for digit in f"{number:03}")
        head = "plan of works with all of its parts and whoever does them"
        text = said.format(head, weeks, name)
        update = replace(visited(one, f"{number}"), gist=gist(text, one.url, "Plan"), title="Plan")
        yields.observe(replace(update, told_news=None))
    assert n_asked <= 20 if is_same else n_asked == 240


@pytest.mark.parametrize("shape", ["/record/{n}/{view}", "/{view}.pl?number={n}"])
@pytest.mark.parametrize(("more", "is_left"), [("", True), ("holds {}s and {}t", False)])
@pytest.mark.parametrize("further", [1, 0])
def test_what_says_part_of_what_its_thing_says_is_left_after_a_few(
    shape: str, further: int, more: str, is_left: bool
) -> None:
    """As a record for librarians, with labels that each has; not what says a word of its own.

    It may lie as near to a seed as its thing, which says more.
    """
    yields, asked = AddressYields(), Counter[str]()
    for place, view in enumerate(("detail", "marc")):
        for number in range(200):
            path = shape.format(n=number, view=view).removesuffix("/detail")
            one = replace(lease(2 * number + place, path), depth=1 + further * place)
            if yields.due_s(one, NOW_S) > NOW_S:
                continue
            asked[view] += 1
            name = "".join("klmnopqrst"[int(digit)] * 2 for digit in f"{number:03}")
            known = f"{name}\nby {name}a in {name}b of {name}c and {name}d"
            about = " ".join(f"{name}{sign * 3}" for sign in "efghijklmnopqr")
            labels = f"245 {name} 100 {name}a 260 {name}b 650 {name}c {more.format(name, name)}"
            text = f"{known} about {about}" if view == "detail" else f"{name}\n{labels}"
            said = gist(text, one.url, name)
            yields.observe(replace(visited(one, text), gist=said, title=name))

    assert asked["detail"] == 200
    assert asked["marc"] <= 20 if is_left else asked["marc"] == 200


@pytest.mark.parametrize(
    ("shown", "is_left"), [("rose thorn", True), ("{0}.5 {1}.5", False), ("{2} {2}s", False)]
)
def test_months_that_say_what_others_do_in_another_order_are_left_after_a_few(
    shown: str, is_left: bool
) -> None:
    """As a table of few words does, below what is drawn for each visit; not figures, nor words."""
    yields, n_asked = AddressYields(), 0
    for number in range(200):
        year, month = 2010 + number // 12, number % 12 + 1
        one = lease(number, f"/plan?month={month}&year={year}")
        if yields.due_s(one, NOW_S) > NOW_S:
            continue
        n_asked += 1
        drawn = ["lampnow", "ropenow", "bellnow"][:: 1 - 2 * (number % 2)]
        name = "".join("klmnopqrst"[int(digit)] * 2 for digit in f"{number:03}")
        told = shown.format(number, 3 * number, name)
        text = f"Plan\n{' '.join(drawn)} {told} {'low ' * (30 + number % 7)}"
        update = replace(visited(one, f"{number}"), gist=gist(text, one.url, "Plan"), title="Plan")
        yields.observe(update)
    assert n_asked <= 20 if is_left else n_asked == 200


def test_versions_of_pages_that_an_earlier_run_visited_bring_nothing() -> None:
    """Whatever they say."""
    pages = [f"/w/index.php?title=Name{number}" for number in range(200)]
    versions = [f"{page}&oldid=7" for page in pages]
    texts = [f"what {path} said once" for path in versions]
    after = AddressYields()
    after.recall((f"{A}{page}", PageState.INDEXED, page.encode(), 200) for page in pages)
    seen = crawled(after, versions, [*texts])

    assert after.due_s(lease(999, "/w/index.php?title=Other&oldid=7"), NOW_S) > NOW_S
    assert len(seen) < 30


@pytest.mark.parametrize("path", ["/{}", "/wiki/deep/down/{}", "/index.php?title=Name{}"])
def test_a_page_without_an_answer_or_a_copy_says_nothing_against_its_kind(path: str) -> None:
    """An index that was lost is filled again, and whatever was never visited is visited."""
    yields = AddressYields()
    yields.recall((f"{A}{path.format(n)}", PageState.DISCOVERED, b"said", 200) for n in range(50))

    assert yields.due_s(lease(1, path.format(99)), NOW_S) == NOW_S


def test_links_that_are_broken_say_as_little_of_their_branch_after_a_start() -> None:
    """As while the crawl goes on: the trouble of a page is its own."""
    broken = [f"/old/{n}" for n in range(60)]
    going_on, begun = AddressYields(), AddressYields()
    for number, path in enumerate(broken):
        going_on.due_s(lease(number, path), NOW_S)
        going_on.observe(visited(lease(number, path), None, outcome=Outcome.NOT_FOUND))
    begun.recall((f"{A}{path}", PageState.MISSING, None, 404) for path in broken)

    assert going_on.due_s(lease(99, "/old/new"), NOW_S) == NOW_S
    assert begun.due_s(lease(99, "/old/new"), NOW_S) == NOW_S


@pytest.mark.parametrize(
    ("shown", "path"),
    [
        ("/shop/#/reviews/add", "/shop/red-lamp_12/reviews/add/"),
        ("/#/#/parts", "/7/9/parts"),
        ("/cases/#/#/pdf", "/cases/2026/170/pdf"),
        ("/list/#/t", "/list/2026.a+b=7@mail.example.org/t/"),
        ("/list/#/flat", "/list/x7%40mail.example.org/flat"),
        (None, "/list/bugs@example.org/t/"),
        (None, "/shop/12/"),
        (None, "/shop/12/of-red-lamps"),  # a title
        (None, "/2026/11/news/"),
        (None, "/best-of-2026/news/"),
        (None, "/shop/12/parts/?page=2"),
        (None, "/shop/parts"),
    ],
)
def test_what_is_shown_of_things_whatever_their_numbers(shown: str | None, path: str) -> None:
    """By a few words behind a number, as letters have one; behind a month there are titles."""
    face = face_of(f"{A}{path}")

    assert (None if face is None else face[0]) == shown


@pytest.mark.parametrize("is_part", [True, False])
def test_parts_of_things_that_say_what_their_things_say_are_left_after_a_few(is_part: bool) -> None:
    """Each review of a lamp by itself; where they say more than is shown with it, all are read."""
    yields, asked = AddressYields(), 0
    for number in range(120):
        thing = f"/shop/of-lamp-{number}_{number}/"
        reviews = [
            " ".join(f"word{number}x{nth}x{k}" for k in range(12)) for nth in range(3 * number % 4)
        ]
        shown = " ".join(f"of{number}x{k}" for k in range(40))
        pages = [(thing, f"{shown} {' '.join(reviews)}" if is_part else shown)]
        pages += [
            (f"{thing}reviews/{10 * number + nth}/", f"{text} permalink no votes")
            for nth, text in enumerate(reviews)
        ]
        for nth, (path, text) in enumerate(pages):
            one = lease(10 * number + nth, path)
            if yields.due_s(one, NOW_S) > NOW_S:
                assert nth
                continue
            asked += nth > 0
            told = gist(f"{path}\n{text}", one.url, f"Lamp {path}")
            yields.observe(replace(visited(one, text), gist=told))

    assert asked <= 10 if is_part else asked == 180


def test_what_leads_to_a_page_of_a_list_brings_nothing_though_it_was_visited_first() -> None:
    """The last answer of each topic; the page that it is on counts, and all of them are read."""
    yields, asked, read = AddressYields(), 0, set()
    for topic in range(150):
        base = f"/forum/topic/of-lamps-{topic}/"
        said = [" ".join(f"w{topic}x{page}x{k}" for k in range(60)) for page in range(3)]
        ways = [(f"{base}?post={9 * topic + 7}", 2), (base, 0), (f"{base}?page=2", 1)]
        for nth, (path, page) in enumerate([*ways, (f"{base}?page=3", 2)]):
            one = lease(10 * topic + nth, path)
            if yields.due_s(one, NOW_S) > NOW_S:
                continue
            asked += "post" in path
            read.add((topic, page))
            told = gist(f"Of lamps\n{said[page]}", one.url, "Of lamps")
            yields.observe(replace(visited(one, said[page]), gist=told))

    assert len(read) == 450
    assert asked <= 15


def test_numbers_that_may_be_years_are_those_of_things_where_others_are() -> None:
    """Of 2,000 things two hundred have such numbers; elsewhere they stay years."""
    yields, asked = AddressYields(), []
    for number in range(1_000, 3_000):
        for of in ("thing", "reports"):
            path = f"/{of}/{number}/order"
            one = lease(number, path)
            if (of == "thing" or 1899 < number < 2100) and yields.due_s(one, NOW_S) == NOW_S:
                asked.append(of)
                yields.observe(visited(one, "Order it here."))

    assert asked.count("thing") <= 20
    assert asked.count("reports") == 200


def test_names_behind_numbers_are_no_kinds() -> None:
    """Of a million players, each called otherwise, nothing is kept but a number."""
    yields = AddressYields()
    names = [f"/player/{n}/{chr(97 + n // 26)}{chr(97 + n % 26)}-doe/" for n in range(100)]

    for number, name in enumerate(names):
        yields.due_s(lease(number, name), NOW_S)

    assert len([kind for kind in yields.classifier.kinds if kind[0] == "face"]) == 0


def test_a_form_beside_what_its_thing_says_is_left_after_a_few() -> None:
    """Of each thing of a shop, by whatever word; what says something of its own is visited."""
    yields = AddressYields()
    asked: list[str] = []
    for number in range(100):
        base = f"/shop/thing-{number}"
        said = " ".join(f"word{word * (number + 7) % 900}" for word in range(60))
        faces = {"/": said, "/ask-us/": f"{said} and ask", "/parts/": f"{said[::-1]} parts"}
        for face, text in faces.items():
            one = lease(len(asked), f"{base}{face}")
            if yields.due_s(one, NOW_S) <= NOW_S:
                asked.append(face)
                yields.observe(replace(visited(one, text), gist=gist(text, one.url)))

    assert [asked.count("/"), asked.count("/parts/")] == [100, 100]
    assert asked.count("/ask-us/") <= 9


def test_what_says_the_title_of_its_thing_and_a_form_is_left_after_a_few() -> None:
    """Though dates differ, and titles have words of the form; not below titles of its own."""
    yields, asked = AddressYields(), {"": 0, "/files": 0, "/poster": 0}
    form = "Material of this event, as one file: choose which form of it is packed for you."
    for number in range(100):
        word = "".join("klmnopqrst"[int(digit)] * 2 for digit in f"{number:03}")
        name = f"{word} {'lamp' if number % 3 else 'form'}"
        pages = {
            "": (name, " ".join(f"{word}{nth}" for nth in range(60))),
            "/files": (name, form),
            "/poster": (f"{word[::-1]} alone", form),
        }
        for shown, (heading, text) in pages.items():
            one = lease(3 * number + len(shown), f"/event/{number}{shown}")
            if yields.due_s(one, NOW_S) == NOW_S:
                asked[shown] += 1
                title = f"{heading} ({number % 28 + 1} June): {shown}"
                said = gist(f"{title}\n{heading} {text}", one.url, heading)
                yields.observe(replace(visited(one, f"{title} {text}"), gist=said))

    assert [asked[""], asked["/poster"]] == [100, 100]
    assert asked["/files"] <= 12


def test_few_of_what_is_shown_of_things_are_on_their_way_before_any_has_brought_something() -> None:
    """All things of a list are known before the first of their views is visited."""
    yields = AddressYields()
    for number in range(100):
        one = lease(number, f"/photo/{number}")
        assert yields.due_s(one, NOW_S) == NOW_S
        yields.observe(visited(one, f"photo {number}"))
    views = [lease(100 + number, f"/photo/{number}/sizes") for number in range(100)]
    asked = [one for one in views if yields.due_s(one, NOW_S) == NOW_S]

    assert len(asked) <= 5
    for one in views:  # each that brings something makes way for more
        if one in asked:
            welcome = yields.observe(visited(one, f"view {one.page_id}"))
            asked += [views[page_id - 100] for page_id, _ in welcome]
            assert all(yields.due_s(views[page_id - 100], NOW_S) == NOW_S for page_id, _ in welcome)
    assert len(asked) == 100


def test_few_words_beside_a_thing_that_others_have_too_are_left_after_a_few() -> None:
    """As where nobody has said anything of it yet; few words of its own are visited."""
    yields, asked = AddressYields(), {"opinions": 0, "colour": 0}
    for number in range(100):
        name = "".join("klmnopqrst"[int(digit)] * 2 for digit in f"{number:03}")
        for shown, text in (("opinions", "None yet."), ("colour", f"Of the {name[::-1]} kind.")):
            one = lease(number, f"/things/{name}-{1000 + number}/{shown}")
            if yields.due_s(one, NOW_S) == NOW_S:
                asked[shown] += 1
                said = gist(f"{name}\n{name}\n{text}", one.url)
                yields.observe(replace(visited(one, f"{name} {text}"), gist=said))

    assert asked["opinions"] <= 9
    assert asked["colour"] == 100


DAYS = [
    f"{year}-{month:02}-{day:02}"
    for year in (2025, 2026)
    for month in (1, 2)
    for day in range(1, 29)
]
EMPTY = "there are no events on this day, as the calendar of our club will be told in spring"


@pytest.mark.parametrize("text", [None, EMPTY, "No event."], ids=["missing", "empty", "short"])
@pytest.mark.parametrize("path", ["/club/{}", "/{}/", "/wiki/Diary/{}.html"])
def test_days_of_a_calendar_that_have_no_page_are_tried_a_few_times(
    text: str | None, path: str
) -> None:
    """Beside pages of the same branch, which are visited."""
    yields, asked = AddressYields(), 0
    for number, day in enumerate(DAYS):
        page = lease(1_000 + number, path.format(f"page{number}"))
        assert yields.due_s(page, NOW_S) == NOW_S
        yields.observe(visited(page, f"text {number}"))
        one = lease(number, path.format(day.replace("-", "/") if number % 2 else day))
        if yields.due_s(one, NOW_S) > NOW_S:
            continue
        asked += 1
        if text is None:
            yields.observe(visited(one, None, Outcome.NOT_FOUND))
        else:
            said = gist(f"{day} {text}", one.url)
            yields.observe(replace(visited(one, f"{day} {text}"), gist=said, title=f"Day {day}"))

    assert 1 <= asked <= 15


@pytest.mark.parametrize("is_list", [False, True], ids=["content", "filters"])
def test_lists_that_lead_to_what_one_parameter_more_tells_are_worth_what_that_brings(
    is_list: bool,
) -> None:
    """As books to their chapters; not where that is a list again, as a filter leads to others."""
    yields, asked = AddressYields(), set[str]()
    waiting = {number: f"/read?book=b{number}" for number in range(60)}
    following = list(waiting)
    while following:
        number = following.pop(0)
        one = lease(number, waiting[number])
        if waiting[number] in asked or yields.due_s(one, NOW_S) > NOW_S:
            continue
        asked.add(waiting[number])
        is_book, text = "&" not in waiting[number], f"text {number}"
        told_news = False if is_book else True if is_list else None
        if is_book:
            following.extend(chapters := range(1_000 + 10 * number, 1_010 + 10 * number))
            waiting |= {nth: f"{waiting[number]}&chapter={nth % 10}" for nth in chapters}
        welcome = yields.observe(replace(visited(one, text), told_news=told_news))
        following = [page_id for page_id, _ in welcome] + following

    assert len([path for path in asked if "&" not in path]) == (60 if not is_list else 5)


def test_few_words_of_a_day_are_a_page_where_they_are_of_its_own() -> None:
    """What the day is called is not, however it is written."""
    one, other = f"{A}/club/2026/02/05/", f"{A}/club/2026/02/06"
    noughts = f"{A}/00/2026/02/05"

    assert gist("5.2.2026: no event", one).nameless == gist("6.2.2026: no event", other).nameless
    assert gist("no event on 5 May", one).nameless == gist("no event on 6 May", other).nameless
    assert gist("no ... event", noughts).nameless != gist("no event", noughts).nameless
    assert gist("5.2.2026: concert", one).nameless != gist("6.2.2026: theatre", other).nameless
    assert (
        gist("page 5: no event", f"{A}/5").nameless != gist("page 6: no event", f"{A}/6").nameless
    )


def test_a_calendar_without_an_end_is_left_after_a_few_months_whatever_it_held_before() -> None:
    """Years of months with something do not make up for years without."""
    yields = AddressYields()
    asked: list[int] = []
    for number in range(12 * 70):
        one = lease(number, f"/blog/{1990 + number // 12}/{1 + number % 12}/")
        if yields.due_s(one, NOW_S) > NOW_S:
            continue
        asked.append(number)
        posts = f"post {number} of many" if number < 120 else "no posts in this month"
        text = f"{1990 + number // 12}/{1 + number % 12} {posts}"
        yields.observe(replace(visited(one, text), gist=gist(text, one.url), title="Blog"))

    assert set(range(120)) <= set(asked)
    assert len(asked) <= 165


@pytest.mark.parametrize("gap", [0, 7])
def test_calendars_of_one_kind_are_left_sooner_than_one_by_itself(gap: int) -> None:
    """Of ten projects' each is left after eight months, or twice as many as were empty before."""
    yields, seen = AddressYields(), [0] * 10
    events = {*range(10), *((10 + gap,) if gap else ())}
    for month in range(60):
        for project in range(10):
            number = 100 * project + month
            year = f"month={month % 12 + 1}&year={2020 + month // 12}"
            one = lease(number, f"/projects/p{project}/calendar?{year}")
            if yields.due_s(one, NOW_S) == NOW_S:
                seen[project] += 1
                name = "".join("klmnopqrst"[int(digit)] * 2 for digit in f"{number:04}")
                event = f"meeting of {name} and {name}s" if month in events else "nothing"
                text = f"calendar of the club with all that takes place: {event}"
                update = replace(visited(one, f"{number}"), gist=gist(text, one.url, "Club"))
                yields.observe(replace(update, title="Club", told_news=None))

    assert max(seen[1:]) <= max(events) + 1 + max(8, 2 * gap) + 1
    assert min(seen[1:]) > max(events)


def test_months_that_say_nothing_are_visited_where_their_days_say_something() -> None:
    """As in an archive of rates or weather by day; where days say nothing both are left."""
    months = [f"/rates/{2000 + month // 12}/{1 + month % 12:02}/" for month in range(60)]
    paths = [*months, *(f"{month}{day:02}/" for month in months for day in range(1, 29))]
    seen: dict[bool, set[int]] = {}
    for is_told in (True, False):
        yields, seen[is_told] = AddressYields(), set()
        waiting = list(range(len(paths)))
        while waiting:
            number = waiting.pop(0)
            one = lease(number, paths[number])
            if number in seen[is_told] or yields.due_s(one, NOW_S) > NOW_S:
                continue
            seen[is_told].add(number)
            is_month = number < len(months)
            rates = " ".join(f"{number * place}.{place}" for place in range(7, 27))
            said = rates if is_told and not is_month else "as the bank tells them to all"
            text = f"rates of {paths[number]}: dollar, euro, pound, yen, franc, {said}"
            update = replace(visited(one, text), gist=gist(text, one.url), title="Rates")
            waiting = [page_id for page_id, _ in yields.observe(update)] + waiting

    assert len(seen[True]) == len(paths)
    assert len(seen[False]) <= 24


@pytest.mark.parametrize(
    "path", ["/day.php?date={day}", "/calendar/view.php?view=day&time={seconds}", "/e?when={day}"]
)
def test_days_that_a_query_tells_are_a_calendar_too(path: str) -> None:
    """What each day and month is called is nothing new; what takes place then is."""
    yields, asked = AddressYields(), []
    for number in range(1_500):
        day = datetime(2025, 1, 1, tzinfo=UTC) + timedelta(days=number)
        address = path.format(day=f"{day:%Y-%m-%d}", seconds=int(day.timestamp()))
        one = lease(number, address)
        if yields.due_s(one, NOW_S) > NOW_S:
            continue
        asked.append(number)
        event = f"concert of quartet{number}" if number < 60 else "no events"
        text = f"calendar of the club, {day:%A, %B} {day.day}, {day.year}: {event}, today, upcoming"
        yields.observe(replace(visited(one, text), gist=gist(text, one.url), title="Club"))

    assert set(range(60)) <= set(asked)
    assert len(asked) <= 110


def test_tags_that_are_joined_in_a_path_are_left_after_a_few() -> None:
    """Where they lead to what is known; pages of such a name, and each tag, are visited."""
    yields = AddressYields()
    asked: list[str] = []
    for number in range(300):
        for path in (f"/tags/t{number}", f"/tags/t{number}+t{number // 2}", f"/wiki/A,_b{number}"):
            one = lease(len(asked) + 1_000 * number, path)
            if yields.due_s(one, NOW_S) > NOW_S:
                continue
            asked.append(path)
            told = visited(one, f"text of {path}")
            yields.observe(replace(told, told_news=False) if "+" in path else told)

    assert sum("+" in path for path in asked) <= 12
    assert sum("+" not in path for path in asked) == 600


def test_a_page_that_is_tried_waits_for_no_kind_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its kind may be another one by then; what it waited for would tell of it while it is read."""
    yields = AddressYields()
    for number in range(20):
        one = lease(number, f"/x?do=edit&id={number}")
        if yields.due_s(one, NOW_S) == NOW_S:
            yields.observe(visited(one, None))
    page_id = 19
    assert any(page_id in kind.waiting for kind in yields.classifier.kinds.values())

    monkeypatch.setattr(
        yields.classifier, "kinds_of", lambda url, of=Kind.PAGE: [AddressKind("another")]
    )
    assert yields.due_s(lease(page_id, f"/x?do=edit&id={page_id}"), NOW_S) == NOW_S

    assert all(page_id not in kind.waiting for kind in yields.classifier.kinds.values())


@pytest.mark.parametrize("path", ["/page/{}", "/news/page-{}.html", "/?page={}"])
@pytest.mark.parametrize("goes_on", [True, False])
def test_a_list_that_goes_on_with_nothing_is_left(path: str, *, goes_on: bool) -> None:
    """Behind three hundred lists, each of which has things of its own; those beside it are read.

    Pages that lead to others, too, are no such list, though they say the same but for numbers.
    """
    yields, asked = AddressYields(), 0
    for number in range(1, 2_000):
        one = lease(number, path.format(number))
        if yields.due_s(one, NOW_S) > NOW_S:
            break
        asked += 1
        things = words(number, 20) if number <= 300 else "there is nothing here to be shown to you"
        update, told = visited(one, f"{number}"), gist(f"News, page {number}. {things}", one.url)
        is_chosen = "?" in path
        yields.observe(
            replace(update, gist=told, goes_on=goes_on, told_news=True if is_chosen else None)
        )

    assert 301 <= asked <= 345 if goes_on else asked > 400
    for number in range(20):
        one = lease(5_000 + number, f"{path.partition('?')[0].rpartition('/')[0]}/about-{number}x")
        assert yields.due_s(one, NOW_S) == NOW_S
        yields.observe(visited(one, f"all of {number}"))


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("/page/17/", ("/page/#/", 17)),
        ("/a1/b-2.html", ("/a1/b-#.html", 2)),
        ("/?q=lamp&page=3", ("/?page", 3)),
        ("/?page=about", None),
        ("/7?q=lamp", None),
        ("/about", None),
        (f"/{'1' * 4_000}", ("/#", 111_111_111)),
        (f"/{'1a' * 4_000}", (f"/{'1a' * 3_999}#a", 1)),
    ],
    ids=lambda value: str(value)[:20],
)
def test_the_place_in_a_list_is_told_by_a_number(url: str, place: tuple[str, int] | None) -> None:
    """The last one of a path, or that of a parameter that tells places."""
    assert place_in_list(A + url) == (place and (A + place[0], place[1]))


def test_chapters_that_lead_on_are_read_to_the_end() -> None:
    """Each says something of its own."""
    yields = AddressYields()
    for number in range(1, 200):
        one = lease(number, f"/book/chapter-{number}")
        assert yields.due_s(one, NOW_S) == NOW_S
        told = gist(f"Chapter {number}. {words(number, 20)}", one.url)
        yields.observe(replace(visited(one, f"{number}"), gist=told, goes_on=True))


def test_days_of_a_diary_are_visited_whole() -> None:
    """As of a blog that has a page for each."""
    seen = crawled(AddressYields(), [f"/diary/{day}" for day in DAYS], [*DAYS])

    assert len(seen) == len(DAYS)


def test_listings_sorted_otherwise_are_one_listing() -> None:
    """In every directory, with what a directory is called by its path."""
    yields, asked = AddressYields(), 0
    number = 0
    for place in range(50):
        for query in ("", *(f"?C={by};O={order}" for by in "NMSD" for order in "AD")):
            number += 1
            one = lease(number, f"/d{place}/{query}")
            if yields.due_s(one, NOW_S) > NOW_S:
                continue
            asked += bool(query)
            names = [f"file{place}-{n}" for n in range(20)]
            names = names[::-1] if "O=D" in query else names
            yields.observe(replace(visited(one, f"{query}"), gist=gist(" ".join(names), one.url)))

    assert asked <= 10


def test_versions_of_pages_that_are_known_bring_nothing_whatever_they_say() -> None:
    """As repositories and wikis have them, a hundred for each page."""
    pages = [f"/tree/file{number}" for number in range(40)]
    digests = [f"{number:040x}" for number in range(40)]
    old = [f"{page}?id={digest}" for page in pages for digest in digests]
    paths = [*pages, *old, *(f"/commit/?id={digest}" for digest in digests)]

    seen = crawled(AddressYields(), paths, [f"text {number}" for number in range(len(paths))])

    assert set(range(40)) <= set(seen)
    assert len(seen) < 50


def test_changes_of_a_store_are_visited_and_not_what_each_did_to_a_folder() -> None:
    """Its name stands behind the hash, with a slash behind it or without one."""
    paths, texts = [f"/tree/file{number}" for number in range(40)], [f"t{n}" for n in range(40)]
    for number in range(60):
        change = f"/changeset/{number:010x}{30 * 'e'}/work"
        paths += [change, f"{change}/", f"{change}/src", f"{change}/docs"]
        texts += [f"change {number}", f"change {number}", f"src {number}", f"docs {number}"]

    seen = {paths[number] for number in crawled(AddressYields(), paths, list(texts))}

    assert sum(path.endswith("/work") for path in seen) == 60
    assert sum(path.startswith("/changeset/") for path in seen) <= 70


def test_hashes_that_are_pages_of_their_own_are_visited() -> None:
    """Nothing is known that they could be versions of."""
    paths = [f"/paste?id={number:010x}{30 * 'e'}" for number in range(300)]

    seen = crawled(AddressYields(), paths, [f"text {number}" for number in range(300)])

    assert len(seen) == 300


@pytest.mark.parametrize(
    ("url", "named"),
    [
        ("/info/5041ed5c9509a7c1", "5041ed5c95"),
        ("/vinfo/5041ed5c95?w", "5041ed5c95"),
        ("/tree?ci=5041ed5c9509", "5041ed5c95"),
        (f"/raw/5041ed5c95{'A' * 30}", "5041ed5c95"),
        ("/file?name=f&ci=5041ed5c9509a7c1", None),
        ("/info/5041ed5c9509a7c1?view=raw", None),
        ("/info/5041ed5c9509a7c1?view=raw&of=tree", None),
        ("/info/5041ed5c9509a7c1?to=99be0c61ed8db5d3", "99be0c61ed"),
        ("/doc/5041ed5c9509a7c1/f", None),
        ("/changeset/5041ed5c9509a7c1/work", "5041ed5c95"),
        ("/changeset/5041ed5c9509a7c1/work/src", None),
        ("/p/1234567890", None),
        ("/p/5041ed5c9509a", None),
        ("/p?id=5", None),
    ],
)
def test_what_a_hash_names(url: str, named: str | None) -> None:
    """In full and as version control abbreviates it, at the end of a path or in a query."""
    assert hash_of(f"{A}{url}") == named


def test_what_pages_are_as_files_brings_nothing_where_the_pages_are_known() -> None:
    """Other files by a query are what a site has to say."""
    pages = [f"/books?author={n}" for n in range(40)]
    files = [f"/books.csv?author={n}&size=max" for n in range(40)]
    others = [f"/tides.csv?year={n}" for n in range(40)]
    paths = [*pages, *files, *others]

    seen = crawled(AddressYields(), paths, [f"words of {path}" for path in paths])

    assert len([n for n in seen if n < 40]) == 40
    assert len([n for n in seen if 40 <= n < 80]) < 8
    assert len([n for n in seen if n >= 80]) == 40


def test_files_by_a_query_that_bring_nothing_are_left_whatever_is_asked_of_them() -> None:
    """Each way of asking would be tried twice."""
    pages = [f"/books?author={n}" for n in range(4)]
    files = [f"/books.json?author={n % 4}&way{n}=on" for n in range(80)]
    paths = [*pages, *files]

    seen = crawled(AddressYields(), paths, [f"words of {path}" for path in paths])

    assert len([n for n in seen if n >= 4]) < 8


def test_few_views_are_on_their_way_before_any_has_brought_something() -> None:
    """However many folders have some; what they bring says nothing of files of their ending."""
    yields = AddressYields()
    folders, views = [f"v{n}" for n in range(8)], ["diff", "annotate", "comparison", "raw-file"]
    files = [f"/file/{folder}/src/{n}.txt" for folder in folders for n in range(20)]
    other = [f"/{view}{path[5:]}" for view in views for path in files]
    for number, path in enumerate(files):
        assert yields.due_s(lease(number, path), NOW_S) == NOW_S
        yields.observe(visited(lease(number, path), f"text of {path}"))

    leases = [lease(1_000 + number, path) for number, path in enumerate(other)]
    asked = [of for of in leases if yields.due_s(of, NOW_S) == NOW_S]
    for of in asked:
        yields.observe(visited(of, f"who wrote {of.url}"))

    assert len(asked) <= 2 * len(views)
    late = lease(9_999, "/file/late/src/1.txt")
    assert yields.due_s(late, NOW_S) == NOW_S


def test_views_of_versions_bring_nothing_whatever_they_say() -> None:
    """Not what a hash alone names."""
    names = [f"a{number:02}00000000b" for number in range(60)]
    paths = [f"/rev/{name}" for name in names] + [f"/diff/{name}/src/a.txt" for name in names]

    seen = crawled(AddressYields(), paths, [f"{number} said" for number in range(120)])

    assert len([n for n in seen if n < 60]) == 60
    assert len([n for n in seen if n >= 60]) < 8


def test_comparisons_of_versions_bring_nothing() -> None:
    """There are as many as pairs of versions, and each differs from all others."""
    names = [f"a{number:03}4c9509a7c1b0"[:16] for number in range(300)]
    paths = [f"/fdiff?v1={one}&v2={two}" for one, two in pairwise(names)]

    assert len(crawled(AddressYields(), paths, [words(n, 60) for n, _ in enumerate(paths)])) < 60


def test_two_versions_are_compared() -> None:
    """One version is looked at."""
    assert compares(f"{A}/fdiff?v1=5041ed5c9509a7c1&v2=99be0c61ed8db5d3&patch")
    assert not compares(f"{A}/file?name=f&ci=5041ed5c9509a7c1")


def test_what_a_hash_names_is_visited_by_one_of_its_addresses() -> None:
    """Every version has a page, and seven views that say other things of it."""
    views = ["ci", "tags", "tree", "patches", "age", "zip", "graph"]
    hashes = [f"{number * 0x9E3779B97F:013x}aa1"[-16:] for number in range(200)]
    pages = [f"/info/{name}" for name in hashes]
    others = [f"/{view}/{name}" for name in hashes for view in views]
    others += [f"/fdiff?v1={one}&v2={two}" for one, two in pairwise(hashes)]
    paths = [*pages, *others]

    seen = crawled(AddressYields(), paths, [f"text {number}" for number in range(len(paths))])

    assert set(range(len(pages))) <= set(seen)
    assert len(seen) < len(pages) + 30


def test_a_list_at_every_instant_is_left_after_a_few() -> None:
    """Each of them says nearly what the one before it says, under the same title."""

    def asked(path: str, n: int, title: str) -> int:
        """Return how many are visited of windows of fifty entries."""
        yields, n_asked = AddressYields(), 0
        for number in (37 * place % n for place in range(n)):
            one = lease(number, path.format(number))
            if yields.due_s(one, NOW_S) > NOW_S:
                continue
            n_asked += 1
            text = " ".join(f"entry{50 * (number // 40) + place}" for place in range(50))
            text += f" seen{7 * number}"
            told = replace(visited(one, text), title=title.format(number))
            yields.observe(replace(told, gist=gist(text, one.url)))
        return n_asked

    assert asked("/timeline?c=2024-03-{}", 200, "Timeline") <= 50
    assert asked("/entry?id=a{}", 200, "Entry {}") == 200
    assert asked("/entries/a{}", 200, "Entry") == 200


def test_a_start_learns_what_was_known() -> None:
    """From the pages that the state has."""
    yields = AddressYields()
    yields.recall(
        (f"{A}/x?do=edit&id={number}", PageState.EXCLUDED, None, 200) for number in range(20)
    )

    assert yields.due_s(lease(1, "/x?do=edit&id=new"), NOW_S) > NOW_S


@pytest.mark.parametrize(
    ("doubted", "query"),
    [
        (True, "do=edit&id=start"),
        (True, "title=X&action=history"),
        (True, "C=N;O=D"),
        (True, "oldid=17"),
        (True, "p=repo.git;a=commitdiff;h=12ab"),
        (True, "replytocom=5"),
        (True, "title=Special:Log&page=X"),
        (False, "id=start"),
        (False, "title=Specials"),
        (False, "title=Main_Page"),
        (False, "p=12"),
        (False, "action=view&id=3"),
        (False, "q=edit"),
        (True, "q="),
        (True, "page=2&q="),
        (False, "wiki"),
        (True, "name=Start&p"),
        (True, "f=5041ed5c9509a7c1"),
        (False, "f=1234567890123456"),
        (False, "f=507f1f77bcf86cd799439011"),
        (True, "sql=select+id,+name+from+books+where+(id+%3E+7)"),
    ],
)
def test_words_that_speak_against_a_page(doubted: bool, query: str) -> None:
    """Of parameters, not of names."""
    assert is_doubted(f"{A}/x?{query}") is doubted


@pytest.mark.parametrize(
    ("url", "page"),
    [
        ("/w/index.php?title=X&oldid=7", "/w/index.php?title=X"),
        (f"/tree/f?id={'ab' * 20}", "/tree/f"),
        ("/file?name=f&ci=5041ed5c9509a7c1", "/file?name=f"),
        ("/timeline?f=5041ed5c95&unhide", "/timeline"),
        ("/f?id=abc", None),
        ("/?rev=1", None),
        ("/f", None),
    ],
)
def test_pages_that_versions_are_of(url: str, page: str | None) -> None:
    """By the names of parameters, and by hashes."""
    assert page_of_version(f"{A}{url}") == (None if page is None else f"{A}{page}")


def test_the_order_of_words_counts_only_where_few_differ() -> None:
    """A listing is the same however sorted; a table of digits is not."""
    assert gist("one two three four", f"{A}/").same == gist("four three two ONE", f"{A}/").same
    for n_words, is_same in ((3, True), (5, False)):  # three times each, or five times
        words = [f"word{n}" for n in range(8)] * n_words
        there, back = " ".join(words), " ".join(reversed(words))
        assert (gist(there, f"{A}/").same == gist(back, f"{A}/").same) == is_same
        assert (content_hash("", there) == content_hash("", back)) == is_same


def test_a_page_that_says_but_its_own_name_is_a_copy() -> None:
    """Pages that are not there yet, in a wiki that says so with status 200."""
    yields = AddressYields()
    text = "This topic {} does not exist yet; if you may, create it by a click on the button above."

    asked = 0
    for number in range(100):
        one = lease(number, f"/wiki/none{number}")
        if yields.due_s(one, NOW_S) == NOW_S:
            asked += 1
            said = gist(text.format(f"none{number}"), one.url)
            yields.observe(replace(visited(one, f"{number}"), gist=said))

    assert asked <= 15


def test_pages_that_alone_are_called_what_their_address_says_are_pages() -> None:
    """As in a shop that says of its things nothing but a price; not what else has their names."""
    yields, asked = AddressYields(), {"things": 0, "opinions": 0, "dinge": 0}
    said = "{}\n{} EUR with taxes, sent within three days of the order, added to the basket here"
    for number in range(300):
        name = f"chair of {'abcdefghijklmnopqrst'[number % 20] * 3} {'xyzvw'[number // 60] * 4}"
        for folder, price in (("things", number % 7), ("opinions", 0), ("dinge", 9)):
            one = lease(number, f"/{folder}/{name.replace(' ', '-')}{number}.html")
            if yields.due_s(one, NOW_S) > NOW_S:
                continue
            asked[folder] += 1
            text = said.format(f"Chair of {name[9:]}{number}", price)
            told = replace(visited(one, f"{folder} {number}"), gist=gist(text, one.url))
            yields.observe(replace(told, language="de" if folder == "dinge" else "en"))

    assert asked["things"] == asked["dinge"] == 300
    assert asked["opinions"] <= 15


def test_records_that_differ_in_words_are_pages() -> None:
    """As those of a register, whose forms say far more than what is filled in."""

    def asked(path: str, text: str) -> int:
        """Return how many are visited of 300 of one title and heading."""
        yields, n_asked = AddressYields(), 0
        form = " ".join(f"{sign * 3} {sign * 4}" for sign in "abcdefghijklmnopqrstuvwxyz")
        for number in range(300):
            one = lease(number, path.format(number))
            if yields.due_s(one, NOW_S) > NOW_S:
                continue
            n_asked += 1
            name = "".join("klmnopqrst"[int(digit)] * 2 for digit in f"{number:03}")
            said = gist(f"Register\nRecord\n{form} {text.format(number, name)}", one.url, "Record")
            yields.observe(replace(visited(one, f"{number}"), gist=said, title="Register"))
        return n_asked

    assert asked("/record?id={}", "number {0} is of {1}") == 300
    assert asked("/record?id=a{}", "seen {0} times") <= 25
    assert asked("/record?at=2024-03-{}", "number {0} is of {1}") <= 25


@pytest.mark.parametrize("path", ["/jobs/{}-{}.php", "/apply/{}-{}.html", "/jobs/{}-apply-{}.php"])
def test_pages_of_one_name_are_pages_where_they_lie_beside_each_other(path: str) -> None:
    """As jobs in several places; what else has their names lies elsewhere, or says so."""
    yields, asked, paths = AddressYields(), {"jobs": 0, "other": 0}, ("/jobs/{}-{}.html", path)
    said = "\n{}\n{} is the place where we look for people like you who have learned the trade well"
    for number in range(300):
        name = f"work with {'abcdefghijklmnopqrst'[number % 20] * 3}"
        for which, address in zip(asked, paths, strict=True):
            one = lease(number, address.format(name.replace(" ", "-"), number))
            if yields.due_s(one, NOW_S) > NOW_S:
                continue
            asked[which] += 1
            place = f"place{number // 20}" if which == "jobs" else "this"
            told = gist(f"Jobs{said.format(name, place)}", one.url)
            yields.observe(replace(visited(one, f"{which} {number}"), gist=told))

    assert asked["jobs"] == 300
    assert asked["other"] <= 15


@pytest.mark.parametrize(
    ("heading", "most"),
    [("chair of {name}", 300), ("all chairs", 15), ("commit 5f0c{n:03x} of 300", 25)],
)
def test_pages_of_one_title_are_told_apart_by_their_headings(heading: str, most: int) -> None:
    """As in a shop with a script, whose things have hardly another word of their own."""
    yields, asked = AddressYields(), 0
    words = " ".join(f"word{number}" for number in range(40))
    for number in range(300):
        one = lease(number, f"/shop.php?thing={number}")
        if yields.due_s(one, NOW_S) == NOW_S:
            asked += 1
            name = "abcdefghijklmnopqrst"[number % 20] * 3 + "vwxyz"[number // 60] * 4
            above = heading.format(name=name, n=number)
            said = gist(f"Shop\n{above}\n{words} {number}", one.url, above)
            yields.observe(replace(visited(one, f"{number}"), gist=said, title="Shop"))

    assert 1 <= asked <= most
    assert asked == 300 or most < 300


@pytest.mark.parametrize(
    ("is_called", "title", "path"),
    [
        (True, "Blue Chair", "/things/blue-chair"),
        (True, "Blue Ch\u00e2ir | Shop", "/things/12/Blue_Chair.html"),
        (True, "Buy a blue chair here\nBlue chair", "/things/blue-chair/"),
        (True, "The Chair of Aarhus", "/chair-aarhus-the"),
        (True, "Blue Chair", "/things/blue-chair/1234/index.html"),
        (False, "Chair", "/things/blue-chair-of-aarhus"),
        (False, "Edit Blue Chair", "/edit/blue-chair"),
        (False, "Blue Chair", "/blue-chair/history"),
        (True, "Blue Chair", "/things?name=blue-chair&page=1"),
        (False, "Blue Chair", "/things?name=blue-chair-of-wood-from-aarhus&do=show"),
        (False, "5 May 2026", "/diary/2026-05-05"),
        (False, "May", "/diary/may/2026/5"),
        (False, "300", "/things/300"),
        (False, "", "/"),
    ],
)
def test_what_a_page_is_called_in_the_words_of_its_address(
    *, is_called: bool, title: str, path: str
) -> None:
    text = f"{title}\nsays in so many words what any page says that has so many words"

    assert bool(gist(text, f"{A}{path}").called) == is_called


@pytest.mark.parametrize(("folder", "most"), [("opinions", 150), ("de/things", 300)])
def test_what_pages_of_an_earlier_run_are_called_is_no_name_of_others(
    folder: str, most: int
) -> None:
    """But in another language; what they were called is known by their addresses alone."""
    names = [
        f"chair-{'abcdefghijklmnopqrst'[n % 20] * 3}-{'xyzvw'[n // 60] * 4}" for n in range(300)
    ]
    names = [f"{name}-{'ghijklmnopqrstu'[n % 60 // 20] * 3}" for n, name in enumerate(names)]
    yields, asked = AddressYields(), 0
    known = (f"{A}/en/things/{name}" if "de" in folder else f"{A}/things/{name}" for name in names)
    yields.recall((url, PageState.INDEXED, url.encode(), 200) for url in known)
    for number, name in enumerate(names):
        one = lease(number, f"/{folder}/{name}.html")
        if yields.due_s(one, NOW_S) == NOW_S:
            asked += 1
            said = "nobody has said anything about this so far, be the first of all"
            told = gist(f"{name.replace('-', ' ')}\n{said}", one.url)
            yields.observe(replace(visited(one, f"{number}"), gist=told))

    assert asked <= most
    assert asked == 300 or most < 300


def test_what_speaks_against_a_page_is_not_outweighed_by_its_name() -> None:
    """As where one may sign in to do something with each thing, under the name of that thing."""
    yields, asked = AddressYields(), 0
    for number in range(300):
        name = f"chair{'abcdefghijklmnopqrst'[number % 20] * 3}{'xyzvw'[number // 60] * 4}"
        one = lease(number, f"/login/{name}")
        if yields.due_s(one, NOW_S) == NOW_S:
            asked += 1
            said = gist(f"{name}\nsay your name and the word that nobody else knows here", one.url)
            yields.observe(replace(visited(one, f"{number}"), gist=said))

    assert asked <= 15


def test_days_are_told_apart_by_what_they_say_and_not_by_their_headings() -> None:
    text, heading = "Tuesday in May\nthere is nothing on this day of all the days", "Tuesday in May"

    assert gist(text, f"{A}/days?date=2026-05-05", heading).heading == 0
    assert gist(text, f"{A}/days?number=5", heading).heading != 0


def test_what_is_nearly_alike_does_not_depend_on_the_process() -> None:
    """Else what is visited would be another from start to start, and tests would fail by luck."""
    told = gist("Twelve words that a page says are enough to tell it from others", "http://a.test/")

    assert told.near == 0x1214026B2347C59B


def test_a_variant_that_says_nearly_the_same_brings_nothing() -> None:
    """Print views, branches, sessions; what says something else is a page."""
    words = [f"word{number}" for number in range(300)]
    page = gist(" ".join(words), "http://a.test/p")
    printed = gist(" ".join([*words, "printed", "today"]), "http://a.test/p?print=1")
    other = gist(" ".join(f"else{number}" for number in range(300)), "http://a.test/p?b=1")

    assert is_near(page.near, printed.near)
    assert not is_near(page.near, other.near)

    yields, asked = AddressYields(), 0
    for number in range(100):
        for query in ("", "?view=v1"):
            one = lease(2 * number + bool(query), f"/p{number}{query}")
            if yields.due_s(one, NOW_S) > NOW_S:
                continue
            asked += bool(query)
            text = " ".join([f"{word}-{number}" for word in words] + ["more"] * bool(query))
            yields.observe(replace(visited(one, f"{one.page_id}"), gist=gist(text, one.url)))

    assert asked == 2


def test_a_parameter_that_leaves_its_page_as_it_is_is_given_up_after_two() -> None:
    """Ways to sort a list: that the page is known weighs more than that nothing came of it."""
    text = " ".join(f"word{number}" for number in range(300))
    yields, asked = AddressYields(), []
    for number, query in enumerate(["", *(f"?s={name}" for name in "abcdefgh")]):
        one = lease(number, f"/list{query}")
        if yields.due_s(one, NOW_S) <= NOW_S:
            asked.append(query)
            said = gist(f"{text} {query}", one.url)
            yields.observe(replace(visited(one, f"list {number}"), gist=said))

    assert asked == ["", "?s=a", "?s=b"]


@pytest.mark.parametrize(
    ("doubted", "path"),
    [
        (True, "/wiki/Special:Log"),
        (True, "/wp-login.php"),
        (True, "/account/sign-in"),
        (True, "/pool/a.tar.gz"),
        (True, "/trac/prefs/advanced"),
        (True, "/wiki/Start?version=7"),
        (False, "/docs/install?version=7.2"),
        (False, "/docs/prefsets"),
        (True, f"/commit/{'0a' * 20}"),
        (False, "/wiki/Specialities"),
        (False, "/docs/login-and-logout"),
        (True, "/wiki/Page/edit"),
        (True, "/things/lamp/amp"),
        (False, "/amp/lamp"),
        (True, "/wiki/Page/_edit/"),
        (True, "/wiki/Page/_create"),
        (True, "/wiki/Page/_plugin/attachments/"),
        (True, "/+history/Page"),
        (True, "/+show/+230f1f65/Page"),
        (True, "/ns/+modify/Page"),
        (False, "/ubuntu/+source/bash"),
        (False, "/+showroom/Page"),
        (True, "/wishlist/9/add"),
        (True, "/item/3/review/new"),
        (True, "/shop/cart/add/3/"),
        (True, "/shop/red-lamp_3/reviews/add/"),
        (True, "/t/red-lamp-3/reply"),
        (True, "/vote/up/3"),
        (True, "/shop/lamp/?add-to-cart=12"),
        (False, "/docs/items/add"),
        (True, "/delete/20261"),
        (True, "/post/report/3"),
        (True, "/lamp_3/watch"),
        (False, "/report/3"),
        (False, "/watch/20261"),
        (False, "/news/2026/report"),
        (False, "/2026/05/like-new/"),
        (False, "/report/2026/"),
        (False, "/best-of-2026/new/"),
        (False, "/docs/users/create"),
        (False, "/_create/"),
        (False, "/en/latest/_modules/os.html"),
        (False, "/wiki/Page/_edited/"),
        (False, "/a.html"),
        (False, "/wiki/Booking.com"),
        (False, "/v1.2/x"),
        (False, "/paper.pdf"),
    ],
)
def test_paths_that_speak_against_a_page(doubted: bool, path: str) -> None:
    """Places, files and hashes; not words that pages are about."""
    assert is_doubted(f"{A}{path}") is doubted


def test_room_is_made_by_forgetting_what_is_good(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a crawl of many hosts; what brings nothing is not tried again and again."""
    monkeypatch.setattr("recrawl.crawler.control.addresses.classifier._MOST_KINDS", 200)
    yields = AddressYields()
    poor = [lease(number, f"/x?do=edit&id={number}") for number in range(10)]
    for one in poor:
        if yields.due_s(one, NOW_S) == NOW_S:
            yields.observe(visited(one, None))

    for number in range(1_000):
        one = lease(100 + number, f"/branch{number}/page/x")
        assert yields.due_s(one, NOW_S) == NOW_S
        yields.observe(visited(one, f"text {number}"))

    assert yields.due_s(lease(9_999, "/x?do=edit&id=new"), NOW_S) > NOW_S


def test_values_of_parameters_are_forgotten_where_there_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A host may make up as many names as it likes."""
    monkeypatch.setattr("recrawl.crawler.control.addresses.classifier._MOST_KINDS", 20)
    yields = AddressYields()

    for number in range(200):
        yields.due_s(lease(number, f"/x?made{number}=1&up{number}=2"), NOW_S)

    assert len(yields.classifier.values) <= 22


def test_what_waits_for_a_value_is_told_of_when_values_turn_out_to_name_pages() -> None:
    """Second pages of topics wait for the first of them; meanwhile lists have further ones."""
    yields = AddressYields()
    topics = [lease(number, f"/topic-{number}/?page=2") for number in range(300)]
    on_their_way = [one for one in topics if yields.due_s(one, NOW_S) == NOW_S]
    for number in range(20):
        yields.due_s(lease(1_000 + number, f"/list-{number % 4}/?page={number}"), NOW_S)

    told: list[tuple[int, int]] = []
    for one in on_their_way:
        told += yields.observe(visited(one, one.url))
    told += yields.observe(visited(replace(on_their_way[0], last_visit_s=NOW_S), "the same"))

    waiting = {one.page_id for one in topics} - {one.page_id for one in on_their_way}
    assert len(on_their_way) == 2
    assert {page_id for page_id, _ in told if page_id < 1_000} == waiting
    assert len(told) == len(set(told))


def test_a_page_that_is_put_off_again_waits_once() -> None:
    """Or more would seem to wait than there are."""
    yields = AddressYields()
    pages = [lease(number, f"/x?do=edit&id={number}") for number in range(20)]
    for one in pages:
        if yields.due_s(one, NOW_S) == NOW_S:
            yields.observe(visited(one, None))
    put_off = n_waiting(yields)

    assert put_off > 10
    assert all(yields.due_s(one, NOW_S) > NOW_S for one in pages[-5:])
    assert n_waiting(yields) == put_off


def repository(n: int, order: list[str]) -> list[str]:
    """Addresses of n files, each in several views, and what each folder looked like at a tag."""
    files = [f"part{number % 7}/file{number}.txt" for number in range(n)]
    return [f"/work/{view}/{file}" for file in files for view in order]


def test_other_views_of_what_is_known_bring_nothing_whatever_they_say() -> None:
    """History, differences and source of each file are left to a small share of the requests."""
    paths = repository(100, ["tree", "log", "plain", "diff"])

    seen = crawled(AddressYields(), paths, [f"text {number}" for number in range(len(paths))])

    visited_paths = [paths[number] for number in seen]
    assert sum("/tree/" in path for path in visited_paths) == 100
    assert len(visited_paths) <= 115


def test_views_of_what_is_not_held_are_visited() -> None:
    """Where files themselves may not be indexed, their history is what there is of them."""
    yields = AddressYields()
    files, views = repository(30, ["tree"]), repository(30, ["log"])
    for number, path in enumerate(files):
        yields.observe(visited(lease(number, path), None))

    seen = crawled(yields, views, [f"text {number}" for number in range(30)])

    assert len(seen) == 30


def test_views_in_a_first_folder_bring_nothing_beside_what_they_are_of() -> None:
    """Trac's logs of files; archives of months are alike in address only."""
    paths = [f"/{part}/a/dir{number}/b.py" for number in range(100) for part in ("browser", "log")]
    paths += [
        f"/{part}/{year}/{month}"
        for part in ("news", "log")
        for year in range(2010, 2020)
        for month in range(1, 10)
    ]

    seen = crawled(AddressYields(), paths, [f"text {number}" for number in range(len(paths))])

    visited_paths = [paths[number] for number in seen]
    assert sum("/browser/" in path for path in visited_paths) == 100
    assert sum("/log/a/" in path for path in visited_paths) <= 15
    assert sum("/20" in path for path in visited_paths) == 180


def test_views_with_the_query_of_their_thing_are_left_after_a_few() -> None:
    """A shop's items, printed as well; numbers of authors and places in lists are other things."""
    yields = AddressYields()
    seen: list[str] = []
    for number in range(300):
        words = [f"w{number}x{word}" for word in range(40)]
        pages = [
            (1, f"/item?id={number}", " ".join(words)),
            (2, f"/author?id={number}", " ".join(f"a{word}" for word in words)),
            (2, f"/print?id={number}", f"for your printer {' '.join(words)}"),
            (1, f"/all?page={number}", " ".join(f"l{word}" for word in words)),
            (2, f"/old?page={number}", f"once {' '.join(f'l{word}' for word in words)}"),
        ]
        for depth, path, text in pages:
            one = replace(lease(len(seen), path), depth=depth)
            if yields.due_s(one, NOW_S) <= NOW_S:
                seen.append(path)
                yields.observe(replace(visited(one, text), gist=gist(text, one.url)))

    for path in ("/item", "/author", "/all", "/old"):
        assert sum(one.startswith(f"{path}?") for one in seen) == 300
    assert sum(one.startswith("/print?") for one in seen) <= 5


@pytest.mark.parametrize(("says_more", "most"), [(False, 4), (True, 60)])
def test_what_speaks_against_itself_below_each_thing_is_of_one_kind(
    says_more: bool, most: int
) -> None:
    """Forms below the numbers of things say nothing; histories say much, and are few all the same.

    A form is tried for the first thing, and then for two.
    """
    paths = [f"/item/{n}{view}" for n in range(1_000) for view in ("", "/edit")]
    texts = [path if says_more or path[-1].isdecimal() else None for path in paths]

    seen = [paths[number] for number in crawled(AddressYields(), paths, [*texts])]

    assert sum(path[-1].isdecimal() for path in seen) == 1_000
    assert sum(path.endswith("/edit") for path in seen) <= most


def test_what_waits_in_doubt_below_each_thing_is_told_of_when_it_may_be_tried() -> None:
    """Not whenever another says much, to be put off again."""
    paths = [f"/item/{n}/history" for n in range(300)]
    yields, leases = AddressYields(), [lease(number, path) for number, path in enumerate(paths)]

    coming = [number for number, one in enumerate(leases) if yields.due_s(one, NOW_S) <= NOW_S]
    n_told = n_seen = 0
    while coming:
        number, n_seen = coming.pop(), n_seen + 1
        told = yields.observe(visited(leases[number], paths[number]))
        coming += [page for page, _ in told if yields.due_s(leases[page], NOW_S) <= NOW_S]
        n_told += len(told)

    assert n_seen < 20
    assert n_told < 20


@pytest.mark.parametrize("n_items", [12, 20, 100])
def test_a_few_of_numbers_that_views_of_others_have_are_read(n_items: int) -> None:
    """Forms ask for what items have, by numbers that authors have as well."""
    paths = []
    for n in range(n_items):
        paths += [f"/item?id={n}", *(f"/{view}?id={n}" for view in ("change", "tell", "rate"))]
        paths += [f"/author?id={n // 4}"] if n % 4 == 0 else []
    texts = [path if path.startswith(("/item", "/author")) else "form" for path in paths]
    yields, leases = AddressYields(), [lease(number, path) for number, path in enumerate(paths)]

    coming = [number for number, one in enumerate(leases) if yields.due_s(one, NOW_S) <= NOW_S]
    seen = set(coming)
    while coming:
        number = coming.pop(0)
        told = yields.observe(visited(leases[number], texts[number]))
        free = [page for page, _ in told if yields.due_s(leases[page], NOW_S) <= NOW_S]
        coming += free
        seen.update(free)

    read = {texts[number] for number in seen}
    assert {path for path in paths if path.startswith("/item")} <= read
    assert {path for path in paths if path.startswith("/author")} <= read


@pytest.mark.parametrize("changed", [0, 3])
def test_files_by_the_number_of_a_version_are_left_after_a_few(changed: int) -> None:
    """Of 60 versions of 30 files; each adds a few words to some."""
    paths = [f"/view/{n}/src/f{file}.c" for n in range(60, 0, -1) for file in range(30)]
    paths += [f"/book/{n}/part/{chapter}.html" for n in range(60) for chapter in range(10)]

    def said(path: str) -> str:
        _, part, number, _, name = path.split("/")
        if part == "book":
            return " ".join(f"{name}{number}x{word}" for word in range(30))
        added = sum((n + int(name[1:-2])) % 10 < changed for n in range(int(number)))
        lines = [f"{name}{word}" for word in range(100 + added)]
        return f"{name} at version {number}: {' '.join(lines)}"

    yields, leases = AddressYields(), [lease(number, path) for number, path in enumerate(paths)]
    seen = []
    for one in leases:
        if yields.due_s(one, NOW_S) <= NOW_S:
            seen.append(one.url)
            text = said(one.url.removeprefix(A))
            yields.observe(replace(visited(one, text), gist=gist(text, one.url)))

    assert {url for url in seen if "/60/" in url} >= {f"{A}/view/60/src/f{n}.c" for n in range(30)}
    assert sum("/view/" in url for url in seen) <= 60
    assert sum("/book/" in url for url in seen) == 600


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/view/72/src/a.c", ("/view/#/src/*", "/view/#/src/a.c", "72", True)),
        ("/view/72/a.c", ("/view/#/*", "/view/#/a.c", "72", True)),
        ("/p/2/blob/7/src/b/a.c", ("/p/2/blob/#/src/*", "/p/2/blob/#/src/b/a.c", "7", True)),
        ("/docs/3/part/a.html", ("/docs/#/part/*", "/docs/#/part/a.html", "3", False)),
        ("/view/72/", None),
        ("/view/head:/src/a.c", None),
        ("/view/72/src/a.c?plain=1", None),
        ("/log/2024/post.html", None),
        ("/log/2024/11/post.html", None),
    ],
)
def test_what_lies_below_a_number(path: str, told: tuple[str, str, str, bool] | None) -> None:
    found = numbered_file(f"{A}{path}")

    assert (found and (*found, found.is_version)) == told


def test_a_part_of_a_site_that_is_called_like_a_view_is_visited_whole() -> None:
    """Nothing that they could be views of is known; at the root the name is that of a part."""
    paths = [f"/log/2024/post{number}" for number in range(100)]
    paths += [f"/blog/history/post{number}" for number in range(100)]

    seen = crawled(AddressYields(), paths, [f"text {number}" for number in range(200)])

    assert len(seen) == 200


def test_the_same_asked_for_of_many_paths_is_left_after_a_few() -> None:
    """A tag of a repository or a way to show it; a page's number brings what is new."""
    paths = [f"/tree/d{number}{query}" for query in ("", "?h=v1") for number in range(60)]
    paths += [f"/tag/t{number}?page={page}" for number in range(30) for page in (2, 3)]
    words = [f"{name}{number}" for number in range(60) for name in ("a", "b", "c", "d", "e", "f")]

    yields, asked = AddressYields(), []
    for number, path in enumerate(paths):
        one = lease(number, path)
        if yields.due_s(one, NOW_S) > NOW_S:
            continue
        asked.append(path)
        place = int(path.split("?")[0].rsplit("d" if "tree" in path else "t")[-1])
        text = " ".join(words[6 * place : 6 * place + 6] * 3)
        text = f"{text} {path}" if "page=" in path else text
        yields.observe(replace(visited(one, text), gist=gist(text, one.url)))

    assert sum("h=v1" in path for path in asked) <= 4
    assert sum("page=" in path for path in asked) == 60


def test_a_number_that_leaves_its_page_as_it_is_is_given_up_whatever_the_page() -> None:
    """A reply that a topic is shown from: each has two, and there are many topics."""
    yields, asked = AddressYields(), []
    paths = [f"/topics/{number}{query}" for number in range(100) for query in ("", "?r=", "?r=0")]
    for number, path in enumerate(paths):
        one = lease(number, f"{path}{number}" if "?" in path else path)
        if yields.due_s(one, NOW_S) <= NOW_S:
            asked.append(one.url)
            text = " ".join(f"word{number // 3}-{place}" for place in range(50))
            yields.observe(replace(visited(one, text), gist=gist(text, one.url)))

    assert sum("?" not in url for url in asked) == 100
    assert sum("?" in url for url in asked) <= 12


def test_lists_of_a_kind_that_told_nothing_wait_but_scripts_that_may_lead_on_do_not() -> None:
    """Of a start page without a link: the menu may be the last of its scripts."""
    seen = []
    for ending in ("xml", "js?v=1"):
        yields, asked = AddressYields(), []
        for number in range(40):
            one = replace(lease(number, f"/lists/{number}.tar.{ending}"), kind=Kind.FEED)
            if yields.due_s(one, NOW_S) <= NOW_S:
                asked.append(number)
                nothing = replace(visited(one, "list", Outcome.LISTING), told_news=False)
                yields.observe(nothing)
        seen.append(len(asked))

    assert seen[0] < 20
    assert seen[1] == 40


def test_feeds_of_one_name_that_told_nothing_wait() -> None:
    """Each page has one, of what is said about it; that of the site is read first."""
    yields, asked = AddressYields(), []
    pages = [f"/2026/{number}/{name}/" for name in ("a", "b", "c") for number in range(30)]
    for number, path in enumerate(["/", *pages]):
        one = replace(lease(number, f"{path}feed/"), kind=Kind.FEED)
        if yields.due_s(one, NOW_S) <= NOW_S:
            asked.append(number)
            told = replace(visited(one, "list", Outcome.LISTING), told_news=number == 0)
            yields.observe(told)

    assert asked[0] == 0
    assert len(asked) < 20
    assert yields.due_s(lease(1_000, "/2026/31/a/feed/"), NOW_S) == NOW_S


def test_files_that_are_asked_for_of_many_pages_are_left_after_a_few() -> None:
    """Each thread of an archive has one to be taken away, by a path and a value of its own."""
    names = [f"{number * 7_919:08x}zq" for number in range(100)]
    threads = [f"/thread/{name}/" for name in names]
    exports = [f"/export/{name}.mbox.gz?thread={name}" for name in names]
    texts = [f"text {number}" for number in range(100)]

    seen = crawled(AddressYields(), threads + exports, [*texts, *[None] * 100])

    assert seen[:100] == list(range(100))
    assert len(seen) <= 110


@pytest.mark.parametrize(
    ("page", "source"),
    [
        ("/howto/plan/", "/_sources/howto/plan.md.txt"),
        ("/howto/plan.html", "/_sources/howto/plan.rst.txt"),
        ("/howto/plan", "/howto/plan.md"),
        ("/howto/", "/howto/index.md"),
        ("/howto/index.html", "/howto/README.md"),
        ("/", "/_sources/index.rst.txt"),
    ],
)
def test_the_source_of_a_page_is_known_by_its_address(page: str, source: str) -> None:
    """Beside it, or in a branch beside; what lies elsewhere is another page's."""
    assert stem_of_page(f"{A}{page}") in stems_of_source(f"{A}{source}")
    assert stems_of_source(f"{A}{page}") == stems_of_source(f"{A}{source}?old") == []
    assert stem_of_page(f"{A}/else{page}") not in stems_of_source(f"{A}{source}")
    assert stem_of_page(f"{A}{page}?v=2") is None


@pytest.mark.parametrize("file", ["{n}/data.xml", "{n}.xml", "{n}.md"])
def test_few_of_what_pages_are_made_of_are_on_their_way_at_once(file: str) -> None:
    """All pages are known before the first file; where one says something else all are visited."""
    for least, most, words in ((2, 9, ["word"]), (100, 100, ["else", "more"])):
        yields = AddressYields()
        for number in range(100):
            text = " ".join(f"word{number * place % 997}" for place in range(120))
            one = lease(number, f"/case/{number}")
            assert yields.due_s(one, NOW_S) == NOW_S
            yields.observe(replace(visited(one, text), gist=gist(text, one.url)))
        files = [lease(100 + n, f"/case/{file.format(n=n)}") for n in range(100)]
        asked = [one for one in files if yields.due_s(one, NOW_S) == NOW_S]
        assert len(asked) == 2
        for one in asked:
            number = one.page_id - 100
            numbers = [number * place % 997 for place in range(120)]
            said = " ".join(f"{word}{place}" for place in numbers for word in words)
            update = replace(visited(one, said), gist=gist(said, one.url))
            told = [files[page_id - 100] for page_id, _ in yields.observe(update)]
            asked += [other for other in told if yields.due_s(other, NOW_S) == NOW_S]
        assert least <= len(asked) <= most


@pytest.mark.parametrize(("most", "marks"), [(15, True), (100, False)], ids=["source", "other"])
def test_what_pages_are_made_of_is_left_after_a_few(most: int, marks: bool) -> None:
    """A manual gives the text of each page with its marks; notes of the same name are pages."""
    yields, asked = AddressYields(), []
    for number in range(100):
        words = [f"word{number * place % 997}" for place in range(120)]
        for path in (f"/howto/p{number}/", f"/_sources/howto/p{number}.md.txt"):
            one = lease(2 * number + ("." in path), path)
            if yields.due_s(one, NOW_S) > NOW_S:
                continue
            asked.append(path)
            said = words
            if "." in path:  # every tenth word is in bold
                said = [
                    f"**{word}**" if place % 10 == 0 else word for place, word in enumerate(words)
                ]
                said = said if marks else [f"note{number}-{place}" for place in range(120)]
            text = " ".join(said)
            yields.observe(replace(visited(one, text), gist=gist(text, one.url)))

    assert sum("." not in path for path in asked) == 100
    assert sum("." in path for path in asked) <= most
    assert marks or sum("." in path for path in asked) == 100


def test_a_variant_that_was_visited_first_is_still_the_variant() -> None:
    """What came with a parameter and says the same brings nothing, in whatever order."""
    yields, n_asked = AddressYields(), 0
    for number in range(100):
        for query in ("?layout=wide", ""):
            one = lease(2 * number + (not query), f"/p/{number}{query}")
            if yields.due_s(one, NOW_S) > NOW_S:
                assert query
                continue
            n_asked += bool(query)
            text = " ".join(f"word{number}-{place}" for place in range(20))
            yields.observe(replace(visited(one, text), gist=gist(text, one.url)))

    assert n_asked <= 8


def test_lists_in_facets_that_lead_to_what_is_known_are_left_after_a_few() -> None:
    """All combinations of four choices; the things that they list are visited."""
    choices = {name: range(5) for name in ("state", "label", "assignee", "milestone")}
    chosen: list[dict[str, int]] = [{}]
    for name, values in choices.items():
        chosen += [{**one, name: value} for one in chosen for value in values]
    lists = ["/things?" + "&".join(f"{k}={v}" for k, v in one.items()) for one in chosen[1:]]
    paths = [f"/things/{number}" for number in range(100)] + lists
    yields, asked = AddressYields(), []

    for number, path in enumerate(paths):
        one = lease(number, path)
        if yields.due_s(one, NOW_S) > NOW_S:
            continue
        asked.append(path)
        is_list = path in lists
        text = " ".join(f"thing{(number * place) % 97}" for place in range(1, 12))
        told = replace(visited(one, path), gist=gist(text if is_list else path, one.url))
        yields.observe(replace(told, told_news=False if is_list else None))

    assert len(lists) > 1_000
    assert len(set(asked) & set(lists)) <= 50
    assert len(set(asked) - set(lists)) == 100


@pytest.mark.parametrize("values", ["1", "123456789"])
def test_a_filter_that_is_added_once_more_by_each_list_is_left_after_a_few(values: str) -> None:
    """As shops have it: each list of a filter links to itself, filtered so again or otherwise."""
    shelves = [f"/shelf-{number}/" for number in range(12)]
    things = [f"/thing-{number}" for number in range(400)]
    paths, texts = [*shelves, *things], [f"what stands at {path}" for path in (*shelves, *things)]
    for n in range(1, 41):
        for shelf in shelves:
            chosen = "&".join(f"f={(values * 40)[place]}" for place in range(n))
            paths.append(f"{shelf}?{chosen}")
            texts.append(f"of {shelf} what is {values[:n]}")

    seen = crawled(AddressYields(), paths, list(texts))

    assert len([n for n in seen if "?" not in paths[n]]) == 412
    assert len([n for n in seen if paths[n].count("f=") > len(values)]) <= 30


def test_pages_of_several_parameters_are_visited_whole_beside_those_that_bring_nothing() -> None:
    """One script for all, as portals have it; ways to log in and to send were tried before."""
    poor = [f"/index.php?option=user&view=window&from=p{number}" for number in range(100)]
    good = [f"/index.php?option=content&view=article&id={number}" for number in range(100)]
    paths = poor + good

    seen = crawled(AddressYields(), paths, [None] * 100 + [f"text {n}" for n in range(100)])

    assert set(range(100, 200)) <= set(seen)
    assert len(seen) <= 120


@pytest.mark.parametrize(
    ("text", "anchors", "listed"),
    [
        ("Thing 1 Thing 2 Thing 3", ["Thing 1", "Thing 2", "Thing 3"], True),
        ("the text of a page with one link", ["one link", "home"], False),
        ("", [], True),
    ],
)
def test_a_list_says_what_its_links_say(text: str, anchors: list[str], listed: bool) -> None:
    """Most of its words are theirs."""
    assert is_list(text, anchors) is listed


@pytest.mark.parametrize(
    ("is_sorted", "anchors", "listed"),
    [
        (True, ["red lamp", "blue lamp"], True),
        (False, ["red lamp", "blue lamp"], False),
        (True, ["red"], False),
    ],
)
def test_of_a_list_in_another_order_half_of_its_different_words_are_in_links(
    is_sorted: bool, anchors: list[str], listed: bool
) -> None:
    """A table tells of each thing what it tells of many others."""
    text = "red lamp small new blue lamp small new green lamp small new"

    assert is_list(text, anchors, is_sorted=is_sorted) is listed


@pytest.mark.parametrize(
    ("url", "plain"),
    [
        ("/things?page=3&sort=size%2Cid", "/things?page=3"),
        ("/things?sort=3&dir=asc", "/things"),
        ("/things?_sort_desc=size&state=open", "/things?state=open"),
        ("/things?ordering=-size", "/things"),
        ("/things?desc=1", "/things"),
        ("/things?order_by=size", "/things"),
        ("/things?order=17", None),
        ("/things?order_id=a", None),
        ("/things?sortie=paris", None),
        ("/things?dir=/lamps", None),
        ("/things", None),
    ],
)
def test_a_list_in_an_order_of_its_own(url: str, plain: str | None) -> None:
    """The number of an order is none, nor is a folder."""
    assert unsorted(A + url) == (None if plain is None else A + plain)


@pytest.mark.parametrize(
    ("query", "other", "on"),
    [
        ("page=9", "page=10", True),
        ("page=2&state=open", "state=open&page=3", True),
        ("page=2", "page=1", False),
        ("page=2&state=open", "page=3&state=closed", False),
        ("state=open", "state=closed", False),
        ("page=2", "page=3&state=open", False),
    ],
)
def test_a_list_goes_on_where_one_number_of_its_query_is_larger(
    query: str, other: str, on: bool
) -> None:
    """Then it has led to something, though all that it lists is known."""
    assert continues(f"{A}/things?{query}", f"{A}/things?{other}") is on


@pytest.mark.parametrize(
    ("path", "other", "on"),
    [
        ("/blog/page/9/", "/blog/page/10/", True),
        ("/blog/page/9/", "/blog/page/8/", False),
        ("/blog/page/2/", "/news/page/3/", False),
        ("/2024/01", "/2024/02", True),
        ("/blog/page/2", "/blog/page/3?view=short", False),
        ("/blog/page/2", "/blog/page/2", False),
        ("/blog/a", "/blog/b", False),
    ],
)
def test_a_list_goes_on_where_one_number_of_its_path_is_larger(
    path: str, other: str, on: bool
) -> None:
    """As lists without a query have it."""
    assert continues(A + path, A + other) is on


@pytest.mark.parametrize(
    ("url", "other", "on"),
    [
        ("/things?page=9", "/things?page=10", True),
        ("/things?page=9", "/things?page=8", False),
        ("/things", "/things?after=k3J9", False),
        ("/things", "/things?page=2", True),
        ("/things?state=open", "/things?state=open&start=25", True),
        ("/things?state=open", "/things?page=2", False),
        ("/things", "/things?page=last", False),
        ("/things?page=2", "/things", False),
        ("/things/", "/things/page/2/", True),
        ("/things?state=open", "/things/page/2", False),
        ("/things", "/things/part/2", False),
        ("/things?after=k3J9", "/things?after=Xa81", True),
        ("/things?after=k3J9&state=open", "/things?state=open&after=Xa81", True),
        ("/things?before=1700007919", "/things?before=1700000000", True),
        ("/things?until=2026-05-01", "/things?until=2026-04-01", False),
        ("/things?after=k3J9", "/things?after=Xa81&state=open", False),
        ("/things?like=k3J9", "/things?like=Xa81", False),
        ("/page-9.html", "/page-10.html", True),
        ("/page-9.html", "/page-8.html", False),
        ("/page-9.html", "/page-10.htm", False),
        ("/page-9", "/side-10", False),
        ("/a/page-9", "/b/page-10", False),
        ("/page-9?a=1", "/page-10?a=2", False),
        ("/list;page=9", "/list;page=10", True),
        ("/days/2026-05", "/days/2026-06", False),
    ],
)
def test_a_list_is_no_further_off_where_it_goes_on(url: str, other: str, on: bool) -> None:
    """Else all behind so many pages as there may be links from a seed would be beyond bounds."""
    assert goes_on(A + url, A + other) is on


@pytest.mark.parametrize(
    ("listing", "url", "known", "more"),
    [
        ("/things?page=2", "/things/7", [], True),
        ("/things?page=2", "/things?page=3", [], True),
        ("/things?page=2", "/things?page=2&state=open", [], False),
        ("/things?page=2&state=open", "/things?page=3&state=open", ["/things?state=open"], True),
        ("/things?page=2&state=open", "/things?page=3&state=open", ["/things?page=2"], False),
        ("/things?state=open&page=2", "/things?state=open&page=3", ["/things?page=2"], False),
        ("/tags/fern+moss", "/tags/fern+moss+tree", [], False),
        ("/tags/fern,moss/", "/tags/fern,moss,tree/", [], False),
        ("/tags/fern+moss", "/tags/fern+mossy+tree", [], True),
        ("/tags/fern+moss", "/posts/7", [], True),
        ("/things?a=1&a=2&page=2", "/things?a=1&a=1&a=2&page=3", ["/things?page=2"], True),
        ("/index.php?board=1.0", "/index.php?topic=7.0", [], True),
        ("/?m=2026-11", "/?event=fair", [], True),
        ("/?page=list&cat=3", "/?page=item&id=7", [], True),
        ("/?of=list&id=3", "/?of=item&id=7", [], True),
        ("/things?state=open", "/things?state=closed", [], False),
        ("/things?state=open&page=2", "/things?size=2&state=open", [], False),
        ("/?year=2026&month=12", "/?year=2027&month=1", [], False),
        ("/index.php?board=1.0", "/index.php?topic=7.0&action=edit", [], False),
        ("/things?page=2&sort=size", "/things.csv?sort=size&labels=on", [], False),
        ("/things?state=open", "/things.csv?state=closed", [], True),
        ("/things?state=open", "/things.php?id=7", [], True),
        ("/things?page=2", "/things.php?id=7", [], True),
        ("/things?state=open", "/things.old/7?state=open", [], True),
        ("/things?desc=1", "/things/7?desc=1", ["/things"], True),
        ("/things?desc=1", "/things/7?desc=1", ["/things/7"], False),
        ("/things?desc=1&by=size", "/things/7?desc=1", ["/things/7"], True),
        ("/things?desc=1", "/things/7?a=1&desc=1", ["/things/7"], True),
        ("/things?desc=1", "/things/7?a=1&desc=1", ["/things/7?a=1"], False),
    ],
)
def test_a_narrowed_list_leads_on_where_no_wider_one_does(
    listing: str, url: str, known: list[str], more: bool
) -> None:
    """Its later pages list what the wider one's do; one script may also show what it lists."""
    assert leads_on(A + listing, A + url, {A + one for one in known}.__contains__) is more


@pytest.mark.parametrize(
    ("url", "elsewhere"),
    [
        ("/posts/7", True),
        ("/page/2/more", True),
        ("/page/3", False),
        ("/page/3?by=name", False),
        ("/", True),
    ],
)
def test_what_a_page_leads_to_beside_its_likes(url: str, elsewhere: bool) -> None:
    """Another first folder, or another depth."""
    assert leads_elsewhere(f"{A}/page/2", A + url) is elsewhere
    assert leads_elsewhere(f"{A}/page/2/", f"{A}{url}") is elsewhere


def test_a_calendar_leads_nowhere_else() -> None:
    """It goes on for ever, and each of its months has days."""
    assert not leads_elsewhere(f"{A}/events/2026/05", f"{A}/events/2026/05/12")


@pytest.mark.parametrize("path", ["/?page={}", "/page/{}", "/list?by=name&page={}"])
def test_lists_that_are_left_out_of_the_index_are_read_while_they_lead_on(path: str) -> None:
    """And a few where they lead to what is known."""
    yields = AddressYields()
    seen = 0
    for number in range(400):
        of = lease(number, path.format(number + 2))
        if yields.due_s(of, NOW_S) == NOW_S:
            seen += 1
            yields.observe(replace(visited(of, None), told_news=number < 20))
    assert 20 < seen < 160


def sent_on(of: Lease, to: str, *, may_be_visited: bool = True) -> PageUpdate:
    """A first visit that redirects."""
    visit = Visit(NOW_S, Outcome.MOVED)
    return PageUpdate(
        of, visit, PageState.MOVED, NOW_S, redirect_url=A + to, told_news=may_be_visited
    )


def redirected(
    path: str, to: str, texts: list[str | None], *, may_be_visited: bool = True
) -> tuple[int, int]:
    """Visit pages that redirect, and at once where they lead; return how many of either."""
    yields, seen, there = AddressYields(), 0, set()
    for number, text in enumerate(texts):
        of = lease(number, path.format(number))
        if yields.due_s(of, NOW_S) > NOW_S:
            continue
        seen += 1
        target = to.format(number)
        yields.observe(sent_on(of, target, may_be_visited=may_be_visited))
        at = lease(1_000 + number, target)
        if may_be_visited and target not in there and yields.due_s(at, NOW_S) == NOW_S:
            there.add(target)
            yields.observe(visited(at, text))
    return seen, len(there)


@pytest.mark.parametrize(
    ("path", "to"),
    [
        ("/posts/{}", "/posts/{}/"),
        ("/{}", "/{}/"),
        ("/?p={}", "/names/{}"),
        ("/go?id={}&from=start", "/names/{}"),
        ("/Posts/{}", "/posts/{}"),
    ],
)
def test_what_redirects_is_worth_what_it_leads_to(path: str, to: str) -> None:
    """Where the worth shows later, as the page that it leads to is visited."""
    texts = [f"text {number}" for number in range(200)]
    assert redirected(path, to, [*texts]) == (200, 200)
    seen, there = redirected(path, to, ["the same"] * 200)
    assert there <= seen < 40


@pytest.mark.parametrize("says_more", [True, False])
def test_a_page_of_the_kind_of_what_redirects_to_it_waits_for_no_other(says_more: bool) -> None:
    """As where a month leads to its first day: several are asked for before any day is."""
    yields, days, seen = AddressYields(), [f"200{n // 9}-0{n % 9 + 1}" for n in range(90)], 0
    months = [lease(number, f"/?date={month}") for number, month in enumerate(days)]
    firsts = [lease(100 + number, f"/?date={month}-03") for number, month in enumerate(days)]
    waiting = set(range(90))
    for _ in range(90):
        asked = [n for n in sorted(waiting) if yields.due_s(months[n], NOW_S) == NOW_S]
        waiting.difference_update(asked)
        for n in asked:
            yields.observe(sent_on(months[n], f"/?date={days[n]}-03"))
        for n in asked:
            if yields.due_s(firsts[n], NOW_S) == NOW_S:
                yields.observe(visited(firsts[n], f"text {n}" if says_more else "nothing"))
                seen += 1

    assert seen == 90 if says_more else 1 < seen < 20


def test_what_redirects_to_what_is_known_or_of_no_crawl_is_left_after_a_few() -> None:
    """As where buttons of all pages lead back to a list, or away."""
    seen, there = redirected("/add?id={}", "/basket", ["a basket"] * 200)
    assert (seen, there) == (seen, 1)
    assert seen < 40
    for to in ("/elsewhere", "/elsewhere/{}"):
        assert redirected("/out?id={}", to, [None] * 200, may_be_visited=False)[0] < 40


def test_what_leads_to_a_page_that_is_on_its_way_has_not_brought_it() -> None:
    """A page is read before what it says is known, and of what it links to some that lead back."""
    yields, seen = AddressYields(), 0
    for number in range(200):
        page, back = lease(number, f"/names/{number}"), lease(1_000 + number, f"/go?id={number}")
        assert yields.due_s(page, NOW_S) == NOW_S
        if yields.due_s(back, NOW_S) == NOW_S:
            yields.observe(sent_on(back, f"/names/{number}"))
            seen += 1
        yields.observe(visited(page, f"text {number}"))
    assert seen < 20


@pytest.mark.parametrize("end", ["", "/"])
@pytest.mark.parametrize("place", ["last", "post/{0}", "{0}"])
def test_what_leads_back_to_a_thing_with_a_title_is_left_after_a_few(place: str, end: str) -> None:
    """Whatever title the folder before its number tells, or category of which there are few."""
    for n_titles in (5, 200):
        yields, seen = AddressYields(), 0
        for number in range(200):
            title = "".join(chr(ord("a") + int(digit)) for digit in str(number % n_titles))
            thing = f"/t/of-{title}/{number}{end}"
            assert yields.due_s(lease(number, thing), NOW_S) == NOW_S
            yields.observe(visited(lease(number, thing), f"text {number}"))
            back = lease(1_000 + number, f"/t/of-{title}/{number}/{place.format(number)}{end}")
            if yields.due_s(back, NOW_S) == NOW_S:
                yields.observe(sent_on(back, thing))
                seen += 1
        assert seen < 40


def test_what_waits_for_others_of_its_category_is_told_of_when_there_are_many_categories() -> None:
    """Few of what may be anything are on their way at once; then categories count as titles."""
    yields, names = AddressYields(), "abcdefghijklmnopqrst"
    pages = [lease(n, f"/shop/{names[n // 10]}/{n}/parts") for n in range(200)]
    waiting, seen = {page.page_id: page for page in pages}, set[int]()
    following = list(waiting)
    while following:
        asked = [n for n in following if yields.due_s(waiting[n], NOW_S) == NOW_S]
        seen.update(asked)
        told = [yields.observe(visited(waiting[n], f"text {n}")) for n in asked]
        following = [page_id for welcome in told for page_id, _ in welcome]
    assert len(seen) == 200


@pytest.mark.parametrize("n_titles", [5, 200])
def test_what_is_shown_of_things_with_titles_is_read_where_it_says_something(n_titles: int) -> None:
    """None waits for what others of its title, or before there were many titles, have brought."""
    titles = ["".join(chr(ord("a") + int(digit)) for digit in str(n)) for n in range(n_titles)]
    paths = [f"/shop/of-{titles[n % n_titles]}/{n}/parts" for n in range(200)]
    assert len(crawled(AddressYields(), paths, [f"text {n}" for n in range(200)])) == 200


def test_a_page_that_is_led_to_by_way_of_another_counts_for_both() -> None:
    """A redirect to a redirect."""
    yields = AddressYields()
    for number in range(100):
        for path, to in (("/?p={}", "/go?id={}"), ("/go?id={}", "/names/{}")):
            of = lease(number, path.format(number))
            assert yields.due_s(of, NOW_S) == NOW_S
            yields.observe(sent_on(of, to.format(number)))
        yields.observe(visited(lease(number, f"/names/{number}"), f"text {number}"))


def test_what_leads_to_where_robots_may_not_go_is_left_after_a_few() -> None:
    """It was visited for nothing."""
    yields, seen = AddressYields(), 0
    for number in range(200):
        of = lease(number, f"/go?id={number}")
        if yields.due_s(of, NOW_S) > NOW_S:
            continue
        seen += 1
        yields.observe(sent_on(of, f"/private/{number}"))
        at = lease(1_000 + number, f"/private/{number}")
        yields.observe(visited(at, None, Outcome.DISALLOWED))
    assert seen < 40


def test_what_cannot_exist_is_asked_for_whatever_its_likes_have_brought() -> None:
    """It is no page that it would bring, and tells of them what they are."""
    yields = AddressYields()
    paths = [f"/old/{number}" for number in range(60)]
    assert len(crawled(yields, paths, ["the same"] * 60)) < 40
    assert yields.due_s(lease(98, "/old/98"), NOW_S) > NOW_S
    assert yields.due_s(lease(99, "/old/zq0123456789abcdef"), NOW_S) == NOW_S


def test_texts_at_hand_are_compared_word_by_word() -> None:
    """But for what stands in the address, and for how long ago something was."""
    words, name = [f"word{number}" for number in range(12)], "0a1b2c3d" * 5
    text = " ".join(words)
    url = f"{A}/commit/?id={name}"
    assert nearly_same(text, f"{name} tree={name} {text}", url)
    assert nearly_same(f"{text} 5 minutes ago", f"an hour ago {text.upper()} more", url)
    assert not nearly_same(text, f"{text} with some more words", url)
    assert not nearly_same("too short", "too short", url)


def test_a_part_of_a_site_that_only_its_folder_speaks_against_proves_itself_as_a_whole() -> None:
    """As where a catalogue lies in ``/admin/``: each table in a folder, things by a query."""
    tables = [f"/admin/{name}/" for name in ("book", "author", "place", "theme", "year")]
    things = [f"{table}details/?id={n}&url=/admin/" for table in tables for n in range(40)]
    paths = ["/admin/", *tables, *things]

    seen = crawled(AddressYields(), paths, [f"of {path}" for path in paths])

    assert sorted(seen) == list(range(len(paths)))


def test_what_brings_nothing_in_a_folder_that_speaks_against_it_is_left_wherever_it_lies() -> None:
    """A basket is empty whatever is put in it."""
    pages = [f"/lamps/{name}" for name in "abcdefghij" * 20]
    baskets = [f"/cart/{name}/{number}/" for name in "abcdefghij" for number in range(10)]
    said: list[str | None] = [f"lamp {n}" for n in range(len(pages))]
    said += ["It is empty."] * len(baskets)

    seen = crawled(AddressYields(), pages + baskets, said)

    assert sum(number >= len(pages) for number in seen) < 10


def test_what_is_chosen_of_all_that_is_doubted_keeps_its_place_until_it_comes() -> None:
    """Others that come before it take none of what may be tried, however much is seen meanwhile."""
    yields = AddressYields()
    doubted = [lease(number, f"/{number}?diff={'abcdefgh'[number % 8]}") for number in range(40)]
    now = [one for one in doubted if yields.due_s(one, NOW_S) == NOW_S]
    chosen: list[int] = []
    for number in range(100, 180):
        page = lease(number, f"/lamps/{number}x")
        assert yields.due_s(page, NOW_S) == NOW_S
        chosen += [page_id for page_id, _ in yields.observe(visited(page, f"lamp {number}"))]

    assert len(now) + len(chosen) == 3 + 80 * 5 // 100
    others = [one for one in doubted if one not in now and one.page_id not in chosen]
    assert all(yields.due_s(one, NOW_S) > NOW_S for one in others)
    assert all(yields.due_s(doubted[page_id], NOW_S) == NOW_S for page_id in chosen)


def test_what_was_chosen_in_doubt_gives_its_place_back_once_its_kind_is_proven() -> None:
    """Else nothing that is in doubt would be tried any more after so many of them."""
    yields = AddressYields()
    first = [lease(300 + n, f"/{n}?diff={n}") for n in range(3)]
    assert all(yields.due_s(one, NOW_S) == NOW_S for one in first)
    proven = [lease(n, f"/info/a{n:09d}") for n in range(20)]
    assert all(yields.due_s(one, NOW_S) > NOW_S for one in proven)
    chosen: list[int] = []
    for number in range(100, 300):
        page = lease(number, f"/lamps/{number}x")
        yields.due_s(page, NOW_S)
        chosen += [page_id for page_id, _ in yields.observe(visited(page, f"lamp {number}"))]
    for number in chosen[:2]:
        yields.due_s(proven[number], NOW_S)
        yields.observe(visited(proven[number], proven[number].url))

    assert len(chosen) == 200 * 5 // 100
    assert all(yields.due_s(proven[number], NOW_S) == NOW_S for number in chosen[2:])
    others = [lease(400 + n, f"/of{n}/b{n:09d}") for n in range(8)]
    assert all(yields.due_s(one, NOW_S) == NOW_S for one in others)


def test_what_may_be_in_doubt_no_more_by_its_next_try_is_tried_before_all_else() -> None:
    """The first change of a store says what the store does; all others are changes."""
    changes = [f"/info/a{n:09d}" for n in range(60)]
    lamps = [f"/lamps/{n}x" for n in range(200)]
    paths = [*lamps[:100], *changes[:2]]
    paths += [f"/of{n}/b{n:09d}" for n in range(60)]
    paths += [*changes[2:], *lamps[100:]]
    texts: list[str | None] = [None if path.startswith("/of") else path for path in paths]
    texts[paths.index(changes[0])] = texts[0]

    seen = {paths[number] for number in crawled(AddressYields(), paths, texts)}

    assert set(changes) <= seen
    assert len(seen) < 200 + 60 + 20


def test_views_that_are_named_before_the_page_that_they_show_are_left_after_a_few() -> None:
    """As the history of each page of a wiki, which says what the page does not: ``/+history/A``."""
    names = [f"{'abcdefgh'[n % 8]}{'klmnopqrst'[n // 8]}" for n in range(80)]
    pages = [f"/{name}" for name in names]
    views = [f"/+history/{name}" for name in names]
    said: list[str | None] = [f"of {path}" for path in pages + views]

    seen = crawled(AddressYields(), pages + views, said)

    assert sum(number >= len(pages) for number in seen) < 10


def test_what_is_left_out_of_the_index_makes_nothing_else_known() -> None:
    """A forum asks that the topic after another be left out there: it is found where it lies."""
    yields, asked = AddressYields(), 0
    for number in range(60):
        text = words(number, 80)
        for state, path in (
            (PageState.EXCLUDED, f"/index.php?topic={number - 1}.0;prev_next=next"),
            (PageState.INDEXED, f"/index.php?topic={number}.0"),
        ):
            one = lease(2 * number + (state is PageState.INDEXED), path)
            if yields.due_s(one, NOW_S) > NOW_S:
                continue
            asked += state is PageState.INDEXED
            update = replace(visited(one, text), state=state, gist=gist(text, one.url))
            yields.observe(update)

    assert asked == 60


@pytest.mark.parametrize("is_titled", [False, True])
@pytest.mark.parametrize("is_only", [False, True])
def test_parts_of_a_thing_by_more_parameters_are_left_after_a_few(
    is_titled: bool, is_only: bool
) -> None:
    """One post of a topic, below its title; what has a title of its own, or says more, is read."""
    yields, asked = AddressYields(), 0
    for topic in range(60):
        posts = [words(100 * topic + nth, 30) for nth in range(4)]
        pages = [(f"/t.php?id={topic}", "\n".join(posts), f"Of {words(topic, 1)}")]
        for nth, post in enumerate(posts):
            title = f"Of {words(nth, 2)}" if is_titled else pages[0][2]
            more = "" if is_only else words(10_000 * topic + nth, 3)
            said = f"{post}\nIn this topic: {(topic + nth) % 28 + 1}-12-2026, 10:{nth}1 {more}"
            pages.append((f"/t.php?id={topic}&part={topic}{nth}&shown=one", said, title))
        for number, (path, text, title) in enumerate(pages):
            one = lease(10 * topic + number, path)
            if yields.due_s(one, NOW_S) > NOW_S:
                continue
            asked += number > 0
            told = gist(f"{title}\n{text}", one.url, "")
            yields.observe(replace(visited(one, text), gist=told, title=title))

    assert asked <= 40 if is_only and not is_titled else asked == 240


def test_later_pages_of_a_thing_are_none_of_the_lists_that_are_chosen_from() -> None:
    """Of a topic by its number alone: whatever other parameters bring there."""
    yields = AddressYields()
    places = ["", "&page=2", *(f"&{by}={nth}7" for by in ("post", "reply", "by") for nth in "12")]
    for number, place in enumerate(places):
        one = lease(number, f"/t.php?id=1{place}")
        text = words(number == 1, 60)
        if yields.due_s(one, NOW_S) == NOW_S:
            yields.observe(replace(visited(one, text), gist=gist(text, one.url)))

    later = [lease(100 + topic, f"/t.php?id={topic}&page=2") for topic in (2, 3)]

    assert [yields.due_s(one, NOW_S) for one in later] == [NOW_S, NOW_S]
