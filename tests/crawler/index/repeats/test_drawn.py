"""What hosts draw by chance, learned from two looks at once."""

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.crawler.fetch.reading.signature import signature
from recrawl.crawler.index.repeats.drawn import Drawn, Parts
from recrawl.crawler.index.repeats.note_file import FileShelf, NoteFile
from recrawl.crawler.index.tantivy import TantivyIndex
from recrawl.terms import Document

DAY_S = 86_400.0
SAYINGS = [
    f"Saying {word}, as everybody says" for word in ("of one", "of two", "of three", "of four")
]
THINGS = [f"Another thing, called {name}" for name in "abcdefghijklmnop"]


def text_of(number: int, draw: random.Random, told: str = "") -> str:
    """A page with a saying, a list and a count in its middle, and words of its own around."""
    lines = [
        f"Story {number}",
        f"What happened to {number}.",
        told or f"How it went on for {number}.",
    ]
    lines += ["A saying", draw.choice(SAYINGS), "", "You may also like", *draw.sample(THINGS, 4)]
    lines += [
        "Where it was told",
        f"In place {number}.",
        f"{draw.randrange(10**9)} people are reading",
    ]
    return "\n".join([*lines, f"The end of {number}."])


def document(number: int, text: str, at_s: float = 0.0) -> Document:
    return Document(f"http://a.test/{number}", "A story", text, at_s, b"s")


def on_file(directory: Path) -> FileShelf[Parts]:
    return NoteFile(directory).shelf("drawn", Parts)


def taught(drawn: Drawn, pages: int = 8, at_s: float = 0.0) -> random.Random:
    """Look at pages twice."""
    draw = random.Random(0)
    for number in range(pages):
        text = text_of(number, draw)
        drawn.learn(document(number, text, at_s), text_of(number, draw))
    return draw


def test_what_two_looks_agree_on_is_no_change_of_any_page_of_the_host() -> None:
    """Nor of pages that were never looked at twice."""
    drawn = Drawn()
    draw = taught(drawn)

    pairs = [(text_of(n, draw), text_of(n, draw)) for n in range(100, 160)]

    assert all(drawn.same(document(100 + n, now), then) for n, (then, now) in enumerate(pairs))


def test_what_is_changed_beside_it_is_a_change() -> None:
    """A line that is another, one that came, one that is gone: whatever was drawn."""
    drawn = Drawn()
    draw = taught(drawn)
    for n in range(100, 130):
        then, now = text_of(n, draw), text_of(n, draw)
        other = text_of(n, draw, "It ended otherwise.")
        came = now.replace("Where it was told", "Where it was told\nAnd by whom")
        gone = now.replace(f"In place {n}.\n", "")

        assert not drawn.same(document(n, other), then)
        assert not drawn.same(document(n, came), then)
        assert not drawn.same(document(n, gone), then)


def test_one_pair_of_looks_teaches_nothing() -> None:
    """Two may differ as somebody has changed the page just then."""
    once = Drawn()
    draw = taught(once, pages=1)

    assert not once.same(document(9, text_of(9, draw)), text_of(9, draw))


def test_another_host_draws_otherwise() -> None:
    drawn = Drawn()
    draw = taught(drawn)
    there = Document("http://b.test/9", "A story", text_of(9, draw), 0.0, b"s")

    assert not drawn.same(there, text_of(9, draw))


def test_a_page_of_which_most_is_drawn_is_another_page_each_time() -> None:
    """Such as one that is chosen at random."""
    drawn = Drawn()
    for n in range(0, 8, 2):
        drawn.learn(document(0, "\n".join(THINGS[n : n + 4])), "\n".join(THINGS[8:12]))

    assert not drawn.same(document(0, "\n".join(THINGS[:4])), "\n".join(THINGS[4:8]))


def test_numbers_alone_are_told_by_what_is_around_them() -> None:
    """A count of readers, wherever it stands; a number that stands alone says nothing of others."""
    drawn = Drawn()
    for n in range(4):
        lines = [f"Part {n}", "a", "{}", "b", "c", "d", "{} people are reading", f"End of {n}"]
        then, now = ("\n".join(lines).format(n + k, n + k) for k in (10, 20))
        drawn.learn(document(n, now), then)

    assert drawn.same(document(9, "x\n1,204 people are reading\ny"), "x\n977 people are reading\ny")
    assert not drawn.same(document(9, "x\n1,204\ny"), "x\n977\ny")


def learned(*pairs: tuple[str, str]) -> Drawn:
    """Learn from texts with a word for each line."""
    drawn = Drawn()
    for then, now in pairs:
        drawn.learn(document(0, now.replace(" ", "\n")), then.replace(" ", "\n"))
    return drawn


def same(drawn: Drawn, then: str, now: str, passing: frozenset[str] = frozenset()) -> bool:
    return drawn.same(document(0, now.replace(" ", "\n")), then.replace(" ", "\n"), passing)


@pytest.mark.parametrize(
    ("then", "now", "is_same"),
    [
        ("a b X c d", "a b Y c d", True),  # the middle one of two looks
        ("X b c d e", "Y b c d e", True),  # before the first line that stays
        ("a b c d X", "a b c d Y", True),
        ("a b X Y c", "a b U V c", True),  # at most twice as long as it was seen
        ("a b X Y Z c", "a b U V W c", False),
        ("a k X b c d", "a k Y b c d", False),  # between other lines
        ("a b X c Y", "a b U c V", True),
        ("a b X c Y Q R", "a b U c V Q R", False),
        ("a b X c d", "a b Y d", False),  # a line that stays is gone
        ("a b X c d", "a b c d", True),  # nothing is drawn this time
        ("a b c d", "a b X c d", True),
    ],
)
def test_a_part_is_known_by_the_lines_around_it(then: str, now: str, *, is_same: bool) -> None:
    """One in the middle, one at the beginning, one at the end of pages."""
    middle = ("a b 1 c d", "a b 2 c d"), ("f b 3 c g", "f b 4 c g")
    first = ("1 b c d e", "2 b c d e"), ("3 b f g h", "4 b f g h")
    last = ("a b c d 1", "a b c d 2"), ("f g c d 3", "f g c d 4")
    end = ("f g h c 1", "f g h c 2"), ("i j k c 3", "i j k c 4")
    drawn = learned(*middle, *first, *last, *end)

    assert same(drawn, then, now) == is_same
    assert not same(learned(middle[0], first[0], last[0], end[0]), then, now)


@pytest.mark.parametrize(("n", "is_same"), [(30, True), (60, True), (61, False)])
def test_parts_of_more_than_sixty_lines_are_none(n: int, *, is_same: bool) -> None:
    rest = " ".join(f"r{k}" for k in range(80))

    def text(word: str) -> str:
        return f"a {' '.join(f'{word}{k}' for k in range(n))} {rest}"

    drawn = learned((text("x"), text("y")), (text("u"), text("v")))

    assert same(drawn, text("p"), text("q")) == is_same


def test_half_of_a_page_may_be_drawn_and_no_more() -> None:
    half = learned(("a b X Y", "a b U V"), ("a b X Y", "a b W Z"))
    more = learned(("a X Y b Z", "a U V b W"), ("a X Y b Z", "a Q R b S"))

    assert same(half, "a b X Y", "a b P Q")
    assert not same(more, "a X Y b Z", "a L M b N")


def test_what_may_come_and_go_counts_neither_way() -> None:
    """Beside what is drawn, and in it: as much may go as came there."""
    drawn = learned(("a b X Y c d", "a b U V c d"), ("f b X Y c d", "f b W Z c d"))
    passing = frozenset({"P", "Q"})

    assert same(drawn, "a b X Y c d", "a b U Q c d P", passing)
    assert same(drawn, "a b P Y c d P", "a b U Q c d", passing)
    assert not same(drawn, "a b P Y c d e", "a b U Q c d", frozenset())
    assert not same(drawn, "a b X Y c d", "a N b U P c d", passing)


def test_a_line_is_known_by_six_letters_around_its_numbers() -> None:
    """Fewer are no words."""
    known = [("p\nabcdef 1\nq\nr\ns\nt", "p\nabcdef 2\nq\nr\ns\nt")] * 2
    short = [("p\nabcde 1\nq\nr\ns\nt", "p\nabcde 2\nq\nr\ns\nt")] * 2
    for pairs, word in ((known, "abcdef"), (short, "abcde")):
        drawn = Drawn()
        for then, now in pairs:
            drawn.learn(document(0, now), then)
        assert drawn.same(document(0, f"k\n{word} 8\nl"), f"k\n{word} 9\nl") == (len(word) == 6)


def test_of_hosts_and_parts_those_learned_last_stay() -> None:
    """Three hundred hosts, and four hundred parts of each: those that are sure, then the latest."""
    drawn = Drawn()
    for host in range(301):
        for words in ("a b X c d e", "f b X c g h"):
            page = Document(f"http://{host}.test/", "", words.replace(" ", "\n"), 0.0, b"")
            drawn.learn(page, page.text.replace("X", "Y"))
    pages = [Document(f"http://{n}.test/", "", "k\nb\nX\nc", 0.0, b"") for n in (0, 1, 300)]

    assert [drawn.same(page, "k\nb\nZ\nc") for page in pages] == [False, True, True]

    drawn = Drawn()
    for n in (0, *range(402)):
        drawn.learn(document(0, f"a\nb{n}\nX\nc{n}\nd\ne", float(n)), f"a\nb{n}\nY\nc{n}\nd\ne")
    kept = [n for n in range(402) if drawn.same(document(0, f"b{n}\nX\nc{n}"), f"b{n}\nY\nc{n}")]
    assert kept == [0, *range(6, 402)], "and the sides of 0, and that there is something"


def product(number: int, draw: random.Random, price: str = "") -> str:
    """A page of a shop: with a price, and others that are suggested, each with a price."""
    lines = [f"Thing {number}", f"What {number} is.", price or f"Price: {number}.00 EUR"]
    lines.append("Bought by others, too")
    for other in draw.sample(range(100, 200), 4):
        lines += [f"Thing {other}", f"Price: {other}.00 EUR", "Add to cart"]
    return "\n".join([*lines, "About us"])


def test_a_price_is_not_known_by_the_words_of_prices_that_are_drawn() -> None:
    """Which are drawn where they stand, whatever is around their numbers."""
    drawn, draw = Drawn(), random.Random(0)
    for n in range(8):
        drawn.learn(document(n, product(n, draw)), product(n, draw))

    assert drawn.same(document(9, product(9, draw)), product(9, draw))
    assert not drawn.same(document(9, product(9, draw, "Price: 7.50 EUR")), product(9, draw))


def test_lines_that_a_page_has_several_times_tell_no_place() -> None:
    """Between them stand others that people put there: here a list of all things."""
    drawn, draw = Drawn(), random.Random(0)
    for n in range(8):
        drawn.learn(document(n, product(n, draw)), product(n, draw))
    things = [f"Thing {n}\nPrice: 9.00 EUR\nAdd to cart" for n in range(20)]
    then, now = ("\n".join(["All", *things[n : n + 9], "About us"]) for n in (0, 1))

    assert not drawn.same(document(9, now), then)


def test_one_pair_of_looks_is_enough_where_others_have_shown_it_at_a_line() -> None:
    """As what is above it is each page's own; a page that was not looked at may not have it."""

    def text(number: int, draw: random.Random, told: str = "") -> str:
        lines = [*(f"Part {k} of {number}" for k in range(4)), told or draw.choice(SAYINGS)]
        return "\n".join([*lines, "Comments", f"Nobody has said anything of {number}."])

    drawn, draw = Drawn(), random.Random(2)
    for n in range(20):
        drawn.learn(document(n, text(n, draw)), text(n, draw))
    same = [drawn.same(document(n, text(n, draw)), text(n, draw)) for n in range(20)]

    assert sum(same) > 16
    assert not drawn.same(document(99, text(99, draw, "New.")), text(99, draw, "Old."))
    assert not drawn.same(document(1, f"{text(1, draw)} Now somebody has."), text(1, draw))


@pytest.mark.parametrize("n_pages", [7, 8])
def test_one_pair_of_looks_is_enough_where_a_host_has_shown_much(n_pages: int) -> None:
    """On eight pages; of others that have the lines around it, too, that says nothing."""

    def text(number: int, told: str, end: str = "the end") -> str:
        around = number % 99
        lines = [*(f"Part {k} of {around}" for k in range(4)), told, f"Of {around}, {end}"]
        return "\n".join([*lines, f"Once more {number}"])

    drawn = Drawn()
    for n in range(n_pages):
        drawn.learn(document(n, text(n, SAYINGS[0])), text(n, SAYINGS[1]))
    pairs = [(document(n, text(n, SAYINGS[2])), text(n, SAYINGS[3])) for n in (0, 99)]

    assert [drawn.same(now, then) for now, then in pairs] == [n_pages == 8, False]
    assert not drawn.same(document(0, text(0, SAYINGS[2], "not yet")), text(0, SAYINGS[3]))
    old = document(0, text(0, SAYINGS[2]), 61 * DAY_S)
    assert not drawn.same(old, text(0, SAYINGS[3]))


def test_what_follows_a_list_is_not_drawn_where_other_pages_end_with_it() -> None:
    """A list of four, below the same heading in the middle of one page, at the end of others."""

    def text(number: int, draw: random.Random, told: str = "It is open.") -> str:
        things = ["You may also like", *draw.sample(THINGS, 4)]
        end = ["Of the house", told, f"Come to {number}"] if number == 99 else []
        return "\n".join([*(f"Part {k} of {number}" for k in range(6)), *things, *end])

    drawn, draw = Drawn(), random.Random(0)
    for n in (1, 2, 3, 4, 99, 99):
        drawn.learn(document(n, text(n, draw)), text(n, draw))

    assert drawn.same(document(99, text(99, draw)), text(99, draw))
    assert not drawn.same(document(99, text(99, draw, "It is closed.")), text(99, draw))


def test_what_stands_between_two_parts_is_not_drawn() -> None:
    """It keeps its distance from them, as what is drawn twice in a row hardly does."""

    def text(number: int, draw: random.Random, between: str = "") -> str:
        lines = [*(f"Part {k} of {number}" for k in range(4)), "A saying", draw.choice(SAYINGS)]
        lines += [between or f"Open on day {number}.", "You may also like", *draw.sample(THINGS, 2)]
        return "\n".join([*lines, "About us"])

    drawn, draw = Drawn(), random.Random(0)
    for n in (99, 1, 99, 2, 99, 3):
        drawn.learn(document(n, text(n, draw)), text(n, draw))

    assert drawn.same(document(99, text(99, draw)), text(99, draw))
    assert not drawn.same(document(99, text(99, draw, "Closed.")), text(99, draw))


def test_what_changes_by_itself_is_the_same_to_a_mark() -> None:
    drawn = Drawn(mark=signature)
    draw = taught(drawn)
    then, now = (f"Told {ago} minutes ago\n{text_of(9, draw)}" for ago in (5, 7))

    assert drawn.same(document(9, now), then)
    assert not Drawn().same(document(9, now), then)


def test_it_is_kept_and_forgotten_when_pages_are_made_anew(tmp_path: Path) -> None:
    """After two months in which no pair of looks has shown it; what is damaged is learned anew."""
    drawn = Drawn(on_file(tmp_path))
    draw = taught(drawn)
    drawn.notes.save(now=True)
    again = Drawn(on_file(tmp_path))

    assert again.same(document(9, text_of(9, draw)), text_of(9, draw))
    assert not again.same(document(9, text_of(9, draw), 61 * DAY_S), text_of(9, draw))
    (tmp_path / "notes.sqlite3").write_bytes(b"{" * 999)
    assert not Drawn(on_file(tmp_path)).same(document(9, text_of(9, draw)), text_of(9, draw))


def test_it_is_bounded(tmp_path: Path) -> None:
    """However many hosts there are, and however many parts pages have; what is sure stays."""
    drawn = Drawn(on_file(tmp_path))
    draw = taught(drawn)
    for n in range(40):
        lines = [f"{word} of {n}, {part}" for part in range(40) for word in ("Head", "One", "Foot")]
        now = [line.replace("One", "Two") for line in lines]
        drawn.learn(document(n, "\n".join(now), 1.0), "\n".join(lines))
    drawn.notes.save(now=True)

    assert drawn.same(document(9, text_of(9, draw)), text_of(9, draw))
    ((_, kept),) = on_file(tmp_path).every()
    assert 300 < sum(map(len, kept.values())) <= 401  # with the count of pairs
    for n in range(600):
        page = Document(f"http://{n}.test/", "", "a\nb\nc\nd\ne", 0.0, b"")
        drawn.learn(page, "a\nx\nc\nd\ne")
    assert len(drawn.notes.at_hand()) == 300


def test_it_is_written_now_and_then(tmp_path: Path) -> None:
    """Every four pairs of looks at a host, and at the end."""
    drawn, shelf = Drawn(on_file(tmp_path)), on_file(tmp_path)
    taught(drawn, pages=3)
    drawn.notes.save()
    assert list(shelf.every()) == []
    taught(drawn, pages=1)
    drawn.notes.save()
    written = list(shelf.every())
    taught(drawn, pages=1)
    drawn.notes.save()
    assert list(shelf.every()) == written != []
    drawn.notes.save(now=True)
    assert list(shelf.every()) != written


def test_pages_that_are_vast_are_changed_pages() -> None:
    """Nobody waits for what hostile ones would have compared."""
    drawn = Drawn()
    draw = taught(drawn)
    then, now = text_of(9, draw), text_of(9, draw)
    more = "".join(f"\nand {n}" for n in range(5_000))
    drawn.learn(document(9, now + more), then + more)

    assert drawn.same(document(9, now), then)
    assert not drawn.same(document(9, now + more), then + more)
    vast = now.replace("A saying", "A saying\n" + "\n".join(f"word {n}" for n in range(300)))
    assert not drawn.same(document(9, vast), then)
    assert not drawn.same(document(9, then), vast)


@given(
    st.lists(st.tuples(st.text("ab\n1 ", max_size=30), st.text("ab\n1 ", max_size=30)), max_size=6)
)
def test_no_texts_break_it(pairs: list[tuple[str, str]]) -> None:
    drawn = Drawn()
    for then, now in pairs:
        drawn.learn(document(0, now), then)

    assert all(isinstance(drawn.same(document(0, now), then), bool) for then, now in pairs)


@pytest.mark.parametrize("looks", [0, 8])
def test_an_index_learns_it_beside_what_its_host_repeats(tmp_path: Path, looks: int) -> None:
    """And knows it when it is opened again."""
    draw, index = random.Random(1), TantivyIndex(tmp_path, mark=signature)
    for number in range(40):
        index.replace(document(number, text_of(number, draw)))
        index.commit()
    for number in range(looks):
        index.learn_drawn(document(number, text_of(number, draw)), text_of(number, draw))
    index.commit()
    index.close()
    index = TantivyIndex(tmp_path, mark=signature)

    same = [index.same(document(n, text_of(n, draw))) for n in range(20, 40)]
    other = [
        index.same(document(n, text_of(n, draw, "It ended otherwise."))) for n in range(20, 40)
    ]
    index.close()

    assert (all(same), any(other)) == (looks > 0, False)


def voices(number: int, draw: random.Random, *, is_turned: bool = False) -> str:
    """A page with steps, and with what people say of it, in an order that is drawn."""
    said = draw.sample([f"{name} likes {number}" for name in ("Ann", "Bob", "Cleo")], 3)
    steps = [f"First open {number}.", f"Then light {number}."]
    lines = [f"Part {number}", *(reversed(steps) if is_turned else steps)]
    lines += [f"Ready is {number}.", "Voices", *said, "About us"]
    return "\n".join([*lines, f"The end of {number}."])


@pytest.mark.parametrize("looks", [0, 8])
def test_another_order_is_a_change_but_where_it_is_drawn(tmp_path: Path, looks: int) -> None:
    """Steps that are told the other way round are another text, whatever hosts repeat."""
    draw, index = random.Random(1), TantivyIndex(tmp_path, mark=signature)
    for number in range(looks):
        index.learn_drawn(document(number, voices(number, draw)), voices(number, draw))
    for number in range(20, 30):
        index.replace(document(number, voices(number, random.Random(2))))
    index.commit()

    drawn = [index.same(document(n, voices(n, random.Random(5)))) for n in range(20, 30)]
    turned = [voices(n, random.Random(2), is_turned=True) for n in range(20, 30)]
    told = [index.same(document(20 + n, text)) for n, text in enumerate(turned)]
    index.close()

    assert voices(0, random.Random(5)) != voices(0, random.Random(2))
    assert (all(drawn), any(told)) == (looks > 0, False)
