"""What a host repeats on its pages."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.crawler.fetch.reading.signature import signature
from recrawl.crawler.index.repeats.boilerplate import Boilerplate
from recrawl.crawler.index.repeats.host_lines import HostLines
from recrawl.crawler.index.repeats.left_out import divided, lines_of, placed, without_lines, woven
from recrawl.crawler.index.repeats.note_file import FileShelf, NoteFile
from recrawl.crawler.index.repeats.own_text import OwnText
from recrawl.crawler.index.tantivy import TantivyIndex
from recrawl.terms import Document

HOST = "http://a.test"
FOOT = ["Prev", "Up", "Home", "We use cookies, as everybody does.", "© 2026"]


def url(number: int) -> str:
    return f"{HOST}/{number}"


def lines(number: int, foot: list[str] = FOOT) -> list[str]:
    head = ["Next", "Up", f"Chapter {number}", "Home"]
    body = [f"Story {number}", f"What happened on day {number}.", "Notes", f"No {number} is told."]
    return [*head, *body, *foot]


def document(number: int, text: list[str] | None = None, mark: bytes = b"s") -> Document:
    told = "\n".join(lines(number) if text is None else text)
    return Document(url(number), f"Story {number}", told, 5.0, mark)


def in_parts(learned: Boilerplate, url: str, text: str, title: str = "") -> tuple[str, str]:
    told = text.split("\n")
    return divided(told, learned.left_out(url, told, title))


def on_file(directory: Path) -> FileShelf[HostLines]:
    return NoteFile(directory).shelf("repeated", HostLines)


@pytest.fixture
def index(tmp_path: Path) -> TantivyIndex:
    made = TantivyIndex(tmp_path)
    for number in range(40):
        made.replace(document(number))
        made.commit()
    return made


@pytest.mark.parametrize(
    ("now", "is_same"),
    [
        ([*lines(3)[:8], *FOOT[:3], "We bake no cookies.", "© 2027"], True),
        (
            [*lines(3)[:8], "Told again.", *FOOT[:3], "© 2027"],
            False,
        ),  # the notice went, far from it
        ([*lines(3)[:4], "Told again.", *lines(3)[4:8], *FOOT[:3], "© 2026"], False),
        ([*lines(3)[:8], "Up", "Home", "Told again.", "© 2026"], True),  # where the notice was
    ],
)
def test_what_is_new_beside_the_text_of_a_page_is_no_footer_that_went_elsewhere(
    index: TantivyIndex, now: list[str], is_same: bool
) -> None:
    """As an edit of a page that shows another thing by chance at each visit."""
    assert index.same(document(3, now)) == is_same


def test_a_page_indexed_again_from_its_copy_has_its_lines_in_order(index: TantivyIndex) -> None:
    """As one is whose host was learned meanwhile, or that others call by another name."""
    copies = [index.whole(url(number)) for number in range(40)]

    assert [copy and copy.text.split("\n") for copy in copies] == [lines(n) for n in range(40)]
    assert (held := index.copy(url(30))) is not None
    assert held.text.split("\n") == lines(30)[4:8]


def test_what_recurs_together_or_at_an_end_is_left_out_and_headings_stay(tmp_path: Path) -> None:
    """With what stands between: the links to a chapter are no text of the page."""
    learned = Boilerplate(on_file(tmp_path))
    for number in range(8):
        learned.learn(url(number), lines(number))

    kept, left_out = in_parts(learned, url(3), "\n".join(lines(3)))

    assert kept.split("\n") == lines(3)[4:8]
    assert left_out.split("\n") == [*lines(3)[:4], *FOOT]


@given(st.lists(st.sampled_from(["", "a", "b", "c"]), min_size=1), st.data())
def test_what_was_left_out_is_put_back_where_it_stood(told: list[str], draw: st.DataObject) -> None:
    out = draw.draw(st.sets(st.integers(0, len(told) - 1)))
    text, left_out = divided(told, out)
    kept = placed(told, out)

    assert lines_of(kept) == left_out
    if text or len(out) < len(told):
        assert woven(text, kept) == "\n".join(told)


def test_what_an_older_version_left_out_is_put_at_the_end() -> None:
    assert woven("a\nb", "Home\nUp") == "a\nb\nHome\nUp"
    assert woven("a\nb", "") == "a\nb"


@pytest.mark.parametrize(
    ("said", "is_text"),
    [
        ("A fern stands in the shade.", True),
        ("Is it a fern of the woods?", True),
        ("这是一种喜阴的植物。", True),
        ("Last changed on May 3, 2026.", False),
        ("By Ada.", False),
        ("From: Ada of the woods", False),
    ],
)
def test_a_sentence_between_what_recurs_is_text(said: str, is_text: bool) -> None:
    """All that a short entry says may stand between its facts and a footer."""
    learned = Boilerplate()
    head, facts = [*FOOT[:3], "Tracker"], ["Status", "New", "Assignee", "-", "Description"]
    for number in range(20):
        learned.learn(url(number), [*head, f"Entry {number}", *facts, *FOOT], f"Entry {number}")
    page = [*head, "Entry 30", *facts, said, *FOOT]

    kept, _ = in_parts(learned, url(30), "\n".join(page), "Entry 30")

    assert kept.split("\n") == (["Entry 30", said] if is_text else ["Entry 30"])


def test_another_host_and_few_pages_teach_nothing(tmp_path: Path) -> None:
    """What recurs is learned from pages of the host."""
    learned = Boilerplate(on_file(tmp_path))
    for number in range(7):
        learned.learn(url(number), lines(number))
        learned.learn(url(1), lines(1))
    text = "\n".join(lines(3))

    assert in_parts(learned, url(3), text) == (text, "")
    assert in_parts(learned, "http://b.test/", text) == (text, "")


def test_long_pages_are_learned_from_as_well(tmp_path: Path) -> None:
    """More lines than are counted of a host: those that are seen once are forgotten, no more."""
    learned = Boilerplate(on_file(tmp_path))

    def page(number: int) -> list[str]:
        return [*FOOT[:3], *(f"line {row} of {number}" for row in range(1_800)), *FOOT]

    for number in range(20):
        learned.learn(url(number), page(number))

    assert in_parts(learned, url(99), "\n".join(page(99)))[1].split("\n") == [*FOOT[:3], *FOOT]


def test_a_page_that_says_nothing_of_its_own_keeps_its_text(tmp_path: Path) -> None:
    """Pages that are all alike are found nevertheless."""
    learned = Boilerplate(on_file(tmp_path))
    for number in range(20):
        learned.learn(url(number), ["a quiet story", "of lanterns"])

    assert (
        in_parts(learned, url(3), "a quiet story\nof lanterns")[0] == "a quiet story\nof lanterns"
    )


def test_what_was_learned_is_kept_and_damage_is_no_hindrance(tmp_path: Path) -> None:
    """In a file beside the index."""
    learned = Boilerplate(on_file(tmp_path))
    for number in range(8):
        learned.learn(url(number), lines(number))
    learned.notes.save(now=True)
    text = "\n".join(lines(3))

    assert in_parts(Boilerplate(on_file(tmp_path)), url(3), text) == in_parts(learned, url(3), text)
    (tmp_path / "notes.sqlite3").write_bytes(b"{" * 999)
    assert in_parts(Boilerplate(on_file(tmp_path)), url(3), text) == (text, "")


@given(st.lists(st.lists(st.sampled_from("abcdef"), max_size=8), max_size=30))
def test_nothing_is_lost_or_doubled(pages: list[list[str]]) -> None:
    """What is left out and what stays make up the page, in whatever pages there were."""
    learned = Boilerplate()
    for number, page in enumerate(pages):
        learned.learn(url(number), page)
    for page in pages:
        kept, left_out = in_parts(learned, url(1), "\n".join(page))
        assert sorted(f"{kept}\n{left_out}".split()) == sorted(page)


def test_boilerplate_is_found_by_no_search_also_on_the_first_pages(index: TantivyIndex) -> None:
    """Pages that were indexed before it was known are gone over once."""
    assert index.search("next")[0] == 0
    assert index.search("cookies")[0] == 0
    assert index.search("happened")[0] == 40
    assert index.signature(url(0)) == b"s"


def test_what_only_one_page_says_is_found_also_where_it_is_left_out(tmp_path: Path) -> None:
    """The sender of a letter in an archive, between links to other letters; it is shown nowhere."""
    index = TantivyIndex(tmp_path)
    for number in range(40):
        head = ["Date Prev", "Thread Index", f"From: sender{number}x", "Date Next", "Up"]
        index.replace(document(number, [*head, *lines(number)[4:]]))
    index.commit()
    body = lines(7)[4:]

    total, (hit,) = index.search("sender7x")

    assert (total, hit.url) == (1, url(7))
    assert index.search("thread")[0] == 0
    copy = index.copy(url(7))
    assert copy is not None
    assert copy.text == "\n".join(body[:4])
    assert index.same(document(7, ["Date Prev", "Thread Index", "From: x", "Up", *body], b"t"))


def test_what_is_left_out_of_the_text_is_left_out_of_markdown() -> None:
    """Blocks that say nothing else; a block that says more stays as it is."""
    markdown = (
        '| [Prev](http://a.test/p "P") | Up | [Next](/n) |\n| --- | --- | --- |\n\n# Words\n\n'
        "Up and down.\n\n- [Prev](/p)\n- Next\n\n```\nPrev Up\n```\n"
    )
    kept = without_lines(markdown, "Prev\nUp\nNext")
    assert kept == "# Words\n\nUp and down.\n\n```\nPrev Up\n```\n"
    assert without_lines(markdown, "nothing of it") == markdown


def test_headings_of_a_table_of_contents_stay_where_they_head_a_text() -> None:
    """It is left out where a host repeats it; so is a heading over what is left out."""
    contents = "- [Story](#s)\n- [Usage](#u)\n  - [Notes](#n)\n- [Own](#o)"
    markdown = (
        f"# Site\n\n# Story\n\n{contents}\n\n## Usage\n\n### Notes\n\nRun it.\n\n## More\n\n- Up\n"
    )

    kept = without_lines(markdown, "Site\nUsage\nNotes\nMore\nUp", "Story\nOwn\nStory\nRun it.")

    assert kept == "# Story\n\n- [Story](#s)\n- [Own](#o)\n\n## Usage\n\n### Notes\n\nRun it.\n"


def test_of_a_list_the_items_go_that_a_host_repeats() -> None:
    """Not what the text says as well, nor what has items of its own below it."""
    markdown = "- [Home](/)\n- [Up](/u)\n  - Own\n- ![](/p.png)\n- Next\n- Index\n"

    kept = without_lines(markdown, "Home\nUp\n»\nNext\nIndex", "Own\nIndex")

    assert kept == "- [Up](/u)\n  - Own\n- ![](/p.png)\n- Index\n"


def test_lines_between_parts_go_with_them() -> None:
    """Those before the first and behind the last words of a page, and the second of two."""
    markdown = "---\n\nUp\n\n---\n\nOwn\n\n---\n\nUp\n\n---\n\nIts end\n\n---\n\nNext\n\n---\n"

    assert without_lines(markdown, "Up\nNext") == "Own\n\n---\n\nIts end\n"


def test_the_line_that_the_title_begins_with_stays_among_what_recurs(tmp_path: Path) -> None:
    """Between a menu and who wrote it, or news that all pages link to; not the name of the site."""
    learned = Boilerplate(on_file(tmp_path))
    menu, foot = ["Site", "Menu", "Up"], ["by Ada", "Share", "Story 3"]
    pages = [[*menu, f"Story {n}", *foot, f"Day {n}.", f"And night {n}."] for n in range(9)]
    for number, page in enumerate(pages):
        learned.learn(url(number), page, f"Story {number} | Site")
        learned.learn(f"http://b.test/{number}", page, f"Site: Story {number}")
    texts = {number: "\n".join(pages[number]) for number in (3, 4)}

    own = [in_parts(learned, url(n), text, f"Story {n} | Site")[0] for n, text in texts.items()]
    of_site = in_parts(learned, "http://b.test/3", texts[3], "Site: Story 3")[0]

    assert own == [f"Story {n}\nDay {n}.\nAnd night {n}." for n in (3, 4)]
    assert of_site == "Day 3.\nAnd night 3."


def test_a_heading_stays_in_markdown_where_the_text_has_it() -> None:
    """The newest story, which a list on each page names as well."""
    markdown = "# Site\n\n# Story 3\n\n- Up\n\nDay 3.\n\n## News\n\n- Story 3\n- Up\n"

    kept = without_lines(markdown, "Site\nUp\nNews\nStory 3\nUp", "Story 3\nDay 3.")
    first = without_lines("# Site\n\n## Story 3\n\nDay 3.\n", "Site\nStory 3", "Day 3.")

    assert kept == "# Story 3\n\nDay 3.\n"
    assert first == "## Story 3\n\nDay 3.\n"


def test_a_change_of_boilerplate_only_is_no_change(index: TantivyIndex) -> None:
    """Not of one page and not of all, also where its text was not known before."""
    foot = [*FOOT[:-1], "© 2027"]

    assert all(index.same(document(number, lines(number, foot), b"t")) for number in range(40))


def test_a_line_that_is_left_out_of_one_of_two_texts_alone_has_neither_come_nor_gone() -> None:
    """A host was known less when the copy was made, or is known less now: to another process."""
    knows, knows_nothing = OwnText(), OwnText()
    for number in range(8):
        knows.learn(document(number))
    now = document(3, [*lines(3)[:5], "It rained on day 3.", *lines(3)[6:]])
    told = knows.parted(document(3))

    for edit in (
        knows.edit(now, document(3).text, ""),
        knows_nothing.edit(now, told.text, told.kept),
    ):
        changed = [line for line in edit.split("\n")[1:] if line[0] in "+-"]
        assert changed == ["-What happened on day 3.", "+It rained on day 3."]
    assert knows.difference(now, now.title, document(3).text, "").split("\n") == [
        "-What happened on day 3.", "+It rained on day 3.",
    ]  # fmt: skip


def test_what_changes_by_itself_beside_boilerplate_is_no_change() -> None:
    """Ages of comments; what else is said there is."""
    learned = Boilerplate(mark=signature)

    def commented(number: int, age: str, said: str = "was there", year: int = 2026) -> str:
        comment = [f"Ann {number}, {age} ago", f"On day {number} she {said}."]
        return "\n".join([*lines(number, []), *comment, *FOOT[:-1], f"© {year}"])

    for number in range(40):
        learned.learn(url(number), commented(number, "1 minute").split("\n"))
    held = in_parts(learned, url(3), commented(3, "1 minute"))

    assert learned.same(url(3), held, commented(3, "3 minutes", year=2027))
    assert not learned.same(url(3), held, commented(3, "3 minutes", "was not", 2028))


@pytest.mark.parametrize("row", [4, 5, 7])
def test_a_change_of_the_text_is_one(index: TantivyIndex, row: int) -> None:
    """A line that is another now, one that is gone, one that came."""
    other, shorter, longer = lines(3), lines(3), lines(3)
    other[row] = "What is told now"
    del shorter[row]
    longer.insert(row, "What is told as well")

    assert not any(index.same(document(3, text, b"t")) for text in (other, shorter, longer))


def fact_sheet(number: int) -> list[str]:
    """A page with facts that other pages state as well, between two paragraphs of its own."""
    first, second = (
        f"{part} of {number}: " + "what no other page says of it, " * 4 for part in "AB"
    )
    facts = ["Size", f"{number} cm", "Status", "In stock", "Care", "Little", "Order"]
    return ["Home", "Shop", f"Fern {number}", first, *facts, second, *FOOT]


@pytest.mark.parametrize(("fact", "now"), [("In stock", "Sold out"), ("3 cm", "333 cm")])
def test_a_fact_that_is_another_now_within_a_text_is_a_change(fact: str, now: str) -> None:
    """Whatever it stands between, and however many pages state the old one."""
    learned = Boilerplate()
    for number in range(40):
        learned.learn(url(number), fact_sheet(number))
    page = fact_sheet(3)
    held = in_parts(learned, url(3), "\n".join(page))
    assert {"In stock", "3 cm"} <= set(held[1].split("\n"))

    other = [now if line == fact else line for line in page]

    assert not learned.same(url(3), held, "\n".join(other))


@pytest.mark.parametrize("now", ["99887", "Office hours"])
def test_a_fact_of_a_sheet_without_a_text_is_a_change_where_it_is_another_now(now: str) -> None:
    """Also where it is what many pages say; what all pages have in common may change."""
    learned = Boilerplate()

    def sheet(number: int, phone: str, foot: str = "Print") -> list[str]:
        facts = ["Room", f"R{number}", "Phone", phone, "Office hours", f"{number}-18"]
        return ["Home", "People", f"Ada {number}", *facts, "vCard", foot]

    for number in range(40):
        learned.learn(url(number), sheet(number, f"50{number}"), f"Ada {number}")
    held = in_parts(learned, url(3), "\n".join(sheet(3, "503")), "Ada 3")
    assert held[0] == "Ada 3"

    assert not learned.same(url(3), held, "\n".join(sheet(3, now)))
    assert learned.same(url(3), held, "\n".join(sheet(3, "503", "Print it")))


def test_a_host_whose_pages_all_have_another_part_is_soon_known() -> None:
    """Within a text, too: it is told of a quarter of them, and of none where it ends the page."""
    learned = Boilerplate()
    pages = ["\n".join(fact_sheet(number)) for number in range(40)]
    for number, page in enumerate(pages):
        learned.learn(url(number), page.split("\n"))
    held = [in_parts(learned, url(number), page) for number, page in enumerate(pages)]

    def n_changed(old: str, new: str) -> int:
        texts = [page.replace(old, new) for page in pages]
        return sum(not learned.same(url(n), held[n], text) for n, text in enumerate(texts))

    assert n_changed("\nOrder\n", "\nBuy now\n") == 10
    assert n_changed("© 2026", "© 2027") == 0


def test_copies_of_a_page_are_one_result_the_shortest_address_first(tmp_path: Path) -> None:
    """Wherever pages of results begin and end; what is short is alike by chance."""
    index = TantivyIndex(tmp_path)
    text = "a story about a lantern in a quiet harbour " * 8
    for name in ("story", "print/story", "story?print=1"):
        index.replace(Document(f"{HOST}/{name}", "Story", text, 5.0, b"s"))
    for name in ("a", "b"):
        index.replace(Document(f"{HOST}/{name}", "Short", "a story about a harbour", 5.0, b"s"))
    index.commit()

    total, hits = index.search("story harbour")
    pages = [index.search("story harbour", limit=1, offset=row)[1] for row in range(4)]

    assert total == 3
    assert {hit.url: hit.copies for hit in hits} == {
        f"{HOST}/story": (f"{HOST}/print/story", f"{HOST}/story?print=1"),
        f"{HOST}/a": (),
        f"{HOST}/b": (),
    }
    assert [hit.url for page in pages for hit in page] == [hit.url for hit in hits]


def test_one_line_that_comes_is_a_change_of_a_page_without_boilerplate(tmp_path: Path) -> None:
    """Also where nothing was left out of it: an empty text is no line that went for it."""
    made = TantivyIndex(tmp_path)
    made.replace(Document(url(1), "Story", "A story.\nIts end.", 5.0, b"s"))
    made.commit()

    longer = Document(url(1), "Story", "News.\nA story.\nIts end.", 6.0, b"t")

    assert not made.same(longer)
    assert made.same(Document(url(1), "Story", "A story.\nIts end.\n", 6.0, b"t"))


def sheet_of(number: int, *foot: str, said: str = "is told") -> str:
    return "\n".join([*lines(number, [])[:-1], f"No {number} {said}.", *FOOT, *foot])


def changed(learned: Boilerplate, held: dict[int, str], now: dict[int, str]) -> int:
    """Visit pages, and hold those that have changed; return how many these were."""
    n = 0
    for number, text in now.items():
        if not learned.same(url(number), in_parts(learned, url(number), held[number]), text):
            learned.learn(url(number), text.split("\n"))
            held[number] = text
            n += 1
    return n


def test_a_page_that_changes_again_and_again_is_one_page() -> None:
    """What it says is its own, and what all pages say stays known."""
    learned, held = Boilerplate(), {number: sheet_of(number) for number in range(40)}
    for number, text in held.items():
        learned.learn(url(number), text.split("\n"))

    told = [changed(learned, held, {3: sheet_of(3, said=f"is {n % 2}")}) for n in range(300)]

    assert told == [1] * 300
    assert in_parts(learned, url(9), sheet_of(9)) == in_parts(learned, url(9), held[9])
    assert in_parts(learned, url(9), held[9])[1].split("\n") == [*lines(9)[:4], *FOOT]


def test_a_state_of_some_pages_at_a_time_is_none_of_all() -> None:
    """One in eight is sold out, others each week, until all have been."""
    learned, held = Boilerplate(), {number: sheet_of(number) for number in range(96)}
    for number, text in held.items():
        learned.learn(url(number), text.split("\n"))
    told, expected = [], []
    for week in range(40):
        now = {n: sheet_of(n) for n in held}
        for n in range(week % 8, 96, 8):
            now[n] = now[n].replace("Notes", "Sold out now\nNotes")
        expected.append(sum(now[n] != held[n] for n in held))
        told.append(changed(learned, held, now))

    assert told == expected
    assert expected[1:] == [24] * 39


def linked(number: int, foot: list[str], links: dict[str, str]) -> Document:
    told = "\n".join(lines(number, foot))
    named = tuple((target, text) for text, target in links.items())
    return Document(url(number), f"Story {number}", told, 6.0, b"t", links=named)


def test_a_link_that_comes_to_the_menu_is_told_of_three_pages(index: TantivyIndex) -> None:
    """Wherever it stands there; a word that is no link, or one to another place, is told of all."""
    new = [*FOOT[:2], "Our shop", *FOOT[2:]]

    def told(number: int, foot: list[str], links: dict[str, str]) -> bool:
        document = linked(number, foot, links)
        is_same = index.same(document)
        if not is_same:
            index.replace(document)
        index.commit()
        return not is_same

    assert [told(n, new, {"Our shop": f"{HOST}/shop"}) for n in range(8)] == [True] * 3 + [
        False
    ] * 5
    held = index.copy(url(5))
    assert held is not None
    assert "Our shop" not in held.text
    first = ["Blog", *new]
    assert [told(n, first, {"Blog": f"{HOST}/b"}) for n in range(5)] == [True] * 3 + [False] * 2
    assert all(told(n, ["Sold out", *new], {}) for n in range(10, 20))
    assert all(told(n, ["Ask us", *new], {"Ask us": f"{HOST}/ask/{n}"}) for n in range(20, 30))


def test_a_link_within_what_a_page_says_is_no_entry(index: TantivyIndex) -> None:
    """However many pages get it."""
    told = []
    for number in range(12):
        text = [*lines(number)[:5], "A hint", *lines(number)[5:]]
        document = replace(linked(number, FOOT, {"A hint": f"{HOST}/h"}), text="\n".join(text))
        told.append(not index.same(document))

    assert all(told)


def test_an_index_that_is_closed_has_kept_what_it_learned(tmp_path: Path) -> None:
    """However little that is: a crawl may be of ten pages."""
    index = TantivyIndex(tmp_path)
    for number in range(9):
        index.replace(document(number))
    index.commit()
    index.close()
    again = TantivyIndex(tmp_path)
    again.replace(document(9))
    again.commit()
    held = again.copy(url(9))

    assert held is not None
    assert FOOT[0] not in held.text
    again.close()


def test_a_line_that_says_the_address_of_its_page_recurs_on_others() -> None:
    """Escaped or not; where a note takes its place on all pages, none of them has changed."""
    learned = Boilerplate()
    pages = [f"{HOST}/fern%20{number}" for number in range(9)]
    said = [[*lines(n)[4:6], f"To be cited as http://a.test/fern {n}, please."] for n in range(9)]
    for page, told in zip(pages, said, strict=True):
        learned.learn(page, told)

    parted = in_parts(learned, pages[3], "\n".join(said[3]))

    assert parted == ("\n".join(said[3][:2]), said[3][2])
    assert learned.same(pages[3], parted, "\n".join([*said[3][:2], "Copy what you like."]))
    assert not learned.same(pages[3], parted, "\n".join([said[3][0], "It was two.", said[3][2]]))


@pytest.mark.parametrize(
    ("folder", "is_known"), [("{}/", True), ("docs/{}-XX/", True), ("{}.", False)]
)
def test_what_pages_of_one_language_have_is_repeated_though_other_languages_have_more_pages(
    folder: str, is_known: bool
) -> None:
    """Of six languages, each with its menu in its own words; its end is another now."""
    languages = ("de", "fr", "ja", "ko", "ru", "zh")
    learned = Boilerplate()
    texts = {
        f"{HOST}/{folder.format(one)}{n}": lines(n, [f"{one} up", f"{one} home", f"{one} ©"])
        for n in range(20)
        for one in languages
    }
    for address, text in texts.items():
        learned.learn(address, text)
    address = f"{HOST}/{folder.format('ko')}3"
    kept, left_out = in_parts(learned, address, "\n".join(texts[address]))
    now = [line.replace("ko home", "ko start") for line in texts[address]]

    assert ("ko up" in left_out) == is_known
    assert ("ko up" in kept) != is_known
    assert learned.same(address, (kept, left_out), "\n".join(now)) == is_known
