"""What finds which page."""

import contextlib
from collections.abc import Callable, Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.databases import databases

from recrawl.crawler.database.membership import Membership
from recrawl.crawler.index.postgres import PostgresIndex
from recrawl.crawler.index.tantivy import TantivyIndex
from recrawl.crawler.index.words import as_name, names, sections
from recrawl.crawler.ports import PageIndex
from recrawl.terms import Document

__all__ = ["databases"]

HOST = "http://localhost:8082"


def page(name: str, title: str, text: str, *headings: str) -> Document:
    return Document(f"{HOST}/{name}.html", title, text, 5.0, name.encode(), headings)


PAGES = [
    page("git-rebase", "git-rebase(1)", "git rebase [--onto <newbase>] Reapply commits", "--onto"),
    page("git-merge", "git-merge(1)", "git merge joins histories. Use --no-ff to keep a merge."),
    page("git-stash", "git-stash(1)", "git stash puts changes away, onto a stack of them"),
    page("connections", "20.3. Connections", "max_connections (integer) is 100", "max_connections"),
    page("notes", "Release notes", "max_connections, rebase, vacuum, ignore: all mended"),
    page("routine", "25.1. Routine Vacuuming", "the vacuum command; autovacuum does VACUUM FULL"),
    page("sql-vacuum", "VACUUM", "VACUUM FULL rewrites a table. autovacuum never does. vacuum"),
    page("gitignore", "gitignore(5)", "a file named .gitignore names what git ignores"),
    page("cpp", "Writing in C++", "an extension may be written in C++ as well as in C"),
    page("printf", "Formatting", "%s stands for a string, and s for seconds"),
    page("csv", "CSV files", "the csv module reads a CSV file row by row"),
    page("shapes", "Shapes", "a shape is moved. " * 300, *(f"Shape::do{n}()" for n in range(200)),
         "void Shape::shiftBy(int x)", "SHAPE_ORIGIN"),
    page("tour", "A tour", "begin at SHAPE_ORIGIN, go on with shiftBy"),
    *(page(f"more-{n}", f"Story {n}", f"how can a story {n} be told? I ask") for n in range(9)),
]  # fmt: skip


@pytest.fixture(scope="module", params=["tantivy", "postgres"])
def make(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[], PageIndex]]:
    """Give new indexes, each kind by the same rules."""
    with contextlib.ExitStack() as stack:

        def made() -> PageIndex:
            if request.param == "tantivy":
                index: PageIndex = TantivyIndex(tmp_path_factory.mktemp("index"))
            else:
                database = request.getfixturevalue("databases").made(2)
                membership = Membership(database, shards=2)
                stack.callback(membership.close)
                membership.join(f"{HOST}/")
                membership.take(2)
                index = PostgresIndex(database, membership)
            stack.callback(index.close)
            return index

        yield made


@pytest.fixture(scope="module")
def index(make: Callable[[], PageIndex]) -> PageIndex:
    made = make()
    for document in PAGES:
        made.replace(document)
    made.commit()
    return made


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("git rebase --onto", "git-rebase"),
        ("--onto", "git-rebase"),
        ("git-rebase", "git-rebase"),
        ("git merge --no-ff", "git-merge"),
        ("max_connections", "connections"),
        ("max connections", "connections"),
        (".gitignore", "gitignore"),
        ("C++", "cpp"),
        ("%s", "printf"),
        ("VACUUM", "sql-vacuum"),
        ("routine vacuuming", "routine"),
        ("autovacu full table", "sql-vacuum"),
        ("max_conn", "connections"),
        ("vaccum", "sql-vacuum"),
        ("vaccum full", "sql-vacuum"),
        ("rebsae", "git-rebase"),
        ("how can I read a csv file", "csv"),
        ("what does max_connections do", "connections"),
        ("shiftBy", "shapes"),
        ("Shape::shiftBy()", "shapes"),
        ("SHAPE_ORIGIN", "shapes"),
        ("host:localhost:8082 csv", "csv"),
        ("host:http://localhost:8082/ csv", "csv"),
    ],
)
def test_what_people_type_finds_the_page_that_is_meant(
    index: PageIndex, query: str, name: str
) -> None:
    """As code or in words, in full or in part, rightly or not, as a question or by its title."""
    assert index.search(query)[1][0].url == f"{HOST}/{name}.html"


@pytest.mark.parametrize("query", ["全文検索", "検索", "索引は"])
def test_chinese_and_japanese_need_no_spaces(make: Callable[[], PageIndex], query: str) -> None:
    """Words of two signs or more are found within their sentences, and shown."""
    index = make()
    index.replace(page("ja", "手引き", "この索引は全文検索のためのものです。" + "他のこと。" * 100))
    index.replace(page("other", "手引き", "静かな港の物語です。"))
    index.commit()

    total, hits = index.search(query)

    assert (total, hits[0].url) == (1, f"{HOST}/ja.html")
    start, end = hits[0].highlights[0]
    assert hits[0].snippet[start:end] == query


@pytest.mark.parametrize(
    ("query", "text", "other"),
    [
        ("ตะเกียง", "ผู้ดูแลจุดตะเกียงในยามพลบค่ำ", "เรือเข้าท่าพร้อมกับน้ำขึ้นและออกก่อนรุ่งสาง"),
        ("ໂຄມໄຟ", "ຜູ້ເຝົ້າຈູດໂຄມໄຟຕອນຄ່ຳ", "ເຮືອເຂົ້າທ່າພ້ອມກັບນ້ຳຂຶ້ນ"),
        ("ចង្កៀង", "អ្នកយាម\u200bបំភ្លឺ\u200bចង្កៀងនៅពេលព្រលប់", "ទូកចូលកំពង់ផែជាមួយនឹងជំនោរ"),
        ("ဆည်းဆာ", "မီးအိမ်များကိုဆည်းဆာချိန်တွင်ထွန်းညှိသည်", "လှေများသည်ဒီရေနှင့်အတူဝင်သည်"),
    ],
)
def test_a_word_is_found_where_nothing_tells_where_it_begins(
    make: Callable[[], PageIndex], query: str, text: str, other: str
) -> None:
    """In the middle of a sentence of Thai, Lao, Khmer and Burmese; the passage has it."""
    index = make()
    index.replace(page("other", "", f"{other} " * 30))
    index.replace(page("one", "", f"{other} " * 30 + text))
    index.commit()
    n, (hit,) = index.search(query)

    assert (n, hit.title, query in hit.snippet) == (1, "", True)
    assert hit.url.endswith("/one.html")


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("lanternd", "lanternd"),
        ("lantern-ctl", "lantern"),
        ("lanternd来操作", "lanternd来操作"),
        ("패키지", "패키지"),
        ("패키지 설치", "패키지"),
        ("패키지는", "패키지"),
        ("설치하기", "설치"),
        ("책", "책"),
        ("Harbour", "Harbour"),
    ],
)
def test_a_word_is_found_beside_signs_and_before_particles(
    make: Callable[[], PageIndex], query: str, shown: str
) -> None:
    """Words in Latin letters in Chinese and Korean, and those of Korean without what follows."""
    index = make()
    index.replace(page("other", "다른 안내", "조용한 항구의 이야기다. 静かな港の物語です。 " * 30))
    text = (
        "您可以通过lanternd来操作软件包。lantern-ctlを使う。먼저 패키지를 설치합니다. 책을 읽는다."
    )
    index.replace(page("one", "Harbour入門", f"Harbour案内。{text}{'其他。' * 100}"))
    index.commit()
    n, (hit,) = index.search(query)

    assert (n, hit.url.endswith("/one.html")) == (1, True)
    assert any(shown in hit.snippet[start:end] for start, end in hit.highlights)
    assert index.misread(query) == []


SIGNS = st.text("ab\u00e9_-.:+/\\'\"()*~!?#$%&019 \u0301\u00df\u200d@=<>[]{}|;,", max_size=12)


@given(query=SIGNS)
@example(query="_=a")
@example(query="~<+!1*_")
def test_any_signs_can_be_looked_for(index: PageIndex, query: str) -> None:
    """Also where of several parts as typed only one is left that is a word."""
    total, hits = index.search(query)

    assert total >= len(hits) >= 0


def test_what_was_read_otherwise_than_typed_is_said(index: PageIndex) -> None:
    """A word that no page has, with the one that was looked for."""
    assert index.misread("vaccum") == ["no page has 'vaccum'; 'vacuum' was looked for"]
    assert index.misread("vacuum full") == []


def test_a_host_without_its_port_or_of_another_name_finds_nothing(index: PageIndex) -> None:
    """A host is meant as addresses name it."""
    assert index.search("host:localhost csv")[0] == 0


def test_what_a_part_of_a_page_is_called_is_not_read_as_misspelt(
    make: Callable[[], PageIndex],
) -> None:
    """Though hardly a page has it, and many have a word like it."""
    index = make()
    for n in range(60):
        index.replace(page(f"lines-{n}", f"Lines {n}", "draw lines"))
    others = [f"FUNCTION{n}" for n in range(100)]
    index.replace(
        page("fits", "Fits", "LINEST fits a curve. " + "a curve. " * 300, *others, "LINEST")
    )
    index.commit()

    assert index.search("linest")[1][0].url == f"{HOST}/fits.html"


@pytest.mark.parametrize(
    ("title", "heading", "url", "expected"),
    [
        ("25.1. Routine Vacuuming", "", "http://a.test/", {"routine vacuuming"}),
        ("git-rebase(1)", "NAME", "http://a.test/x/git-rebase.html?v=2", {"git rebase", "name"}),
        ("re — Regular expressions — Python", "", "http://a.test/", {"re", "regular expressions"}),
        ("fern.Leaf.Index — Fern 1.2", "", "http://a.test/", {"leaf index", "index"}),
        ("moss::leaf", "moss::leaf()", "http://a.test/", {"moss leaf", "leaf"}),
        ("港の灯台｜図書館", "", "http://a.test/", {"港の灯台", "図書館"}),
        ("", "", "http://index.test", set()),
    ],
)
def test_a_page_is_called_by_its_title_heading_and_address(
    title: str, heading: str, url: str, expected: set[str]
) -> None:
    """Without numbers of chapters and what is in brackets; a host is no name of a page."""
    found = names(title, [heading], url)

    assert expected <= set(found)
    assert expected or not found


def test_a_name_in_code_is_looked_for_without_its_path(make: Callable[[], PageIndex]) -> None:
    """Before pages that have it among what to see also."""
    index = make()
    for document in PAGES:
        index.replace(document)
    for name in ("base", "edge", "tip", "vein"):
        others = f"fern.{name}", "Leaf"
        index.replace(page(name, f"fern.{name} — Fern", f"The {name} of one.", *others))
    index.replace(page("own", "fern.Leaf — Fern", "It grows. " * 99, "fern.Leaf"))
    index.commit()

    assert index.search("Leaf")[1][0].url == f"{HOST}/own.html"


@pytest.mark.parametrize("title", ["Fern 1.2", "What is new in fern.leaf", "4.2", "fern..leaf"])
def test_what_is_no_name_in_code_has_no_shorter_one(title: str) -> None:
    """Versions and sentences are called as a whole."""
    assert names(title, [], "http://a.test/") == [as_name(title)]


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("3.2. Moving shapes", ["moving shapes"]),
        ("3.2-1 Moving", ["moving"]),
        ("A.2 Shapes", ["shapes"]),
        ("3.2.1 2026-07-08", ["3 2 1 2026 07 08"]),
        ("2026-07-08 Moving", ["2026 07 08 moving"]),
        ("2 shapes", ["2 shapes"]),
        ("SHAPE_ORIGIN", ["shape origin"]),
        ("move SHAPE,BY", ["move shape by", "move"]),
        ("moved to the END", ["moved to the end"]),
        ("SEE ALSO", ["see also"]),
        ("--move <by>[=<how>]", ["move by how", "move"]),
        ("-m BY, --move=BY", ["m by move by", "m", "move"]),
        ("max_shapes (integer)", ["max shapes integer", "max shapes"]),
        ("[pure]move(+X, -Y)", ["pure move x y", "move"]),
        ("int Shape::move(int x)", ["int shape move int x", "shape move", "move"]),
        ("shape.move(x[, y])", ["shape move x y", "shape move", "move"]),
        (": [a, b] = move (x)", ["a b move x", "move"]),
        ("#moved? \u21d2 Boolean", ["moved boolean", "moved"]),
        ("MAX_SHAPES: int = 5", ["max shapes int 5", "max shapes"]),
        ("(…)", []),
    ],
)
def test_a_part_of_a_page_is_called_by_its_heading_and_what_it_explains(
    heading: str, expected: list[str]
) -> None:
    """Whatever a function returns and takes, and wherever it belongs."""
    assert sections([heading]) == expected


def test_words_are_left_out_and_stand_together_as_asked(make: Callable[[], PageIndex]) -> None:
    """Within a field: what ends a title and what begins a heading do not stand together."""
    index = make()
    index.replace(page("a", "Red boats", "blue wind", "Sails"))
    index.replace(page("b", "Red sails", "green wind", "Boats"))
    index.commit()

    def found(query: str) -> str:
        return "".join(sorted(hit.url[-6] for hit in index.search(query)[1]))

    assert found("red") == "ab"
    assert found("red -blue") == "b"
    assert found('"red sails"') == "b"
    assert found("title:sails") == "b"
    assert found('"boats sails"') == found('"sails boats"') == ""
