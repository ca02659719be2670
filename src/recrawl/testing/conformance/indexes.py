"""Conformance tests for every page index."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from recrawl.crawler.ports import ChanceLearner, PageIndex
from recrawl.terms import About, Document

HOST = "http://a.test"


def _page(number: int, head: str, foot: str) -> Document:
    own = f"Story of {number}\nWhat happened to {number} was told by nobody."
    return Document(f"{HOST}/{number}", f"Story {number}", f"{head}\n{own}\n{foot}", 5.0, b"s")


class IndexSuite:
    """Conformance tests for every index."""

    def make(self, directory: Path) -> PageIndex:
        """Return a new index; ``directory`` is empty and its own."""
        raise NotImplementedError

    @pytest.fixture
    def index(self, tmp_path: Path) -> Iterator[PageIndex]:
        """Give an empty index."""
        made = self.make(tmp_path)
        yield made
        made.close()

    def _filled(self, index: PageIndex) -> None:
        for name in ("zebra", "panda", "otter"):
            text = f"a story about one {name} and its friends"
            index.replace(Document(f"{HOST}/{name}", name.title(), text, 5.0, name.encode()))
        index.commit()

    def test_changes_show_after_a_commit(self, index: PageIndex) -> None:
        """Not before, and then all."""
        index.replace(Document(f"{HOST}/1", "One", "words", 5.0, b"s"))
        before = index.n_documents()
        index.commit()

        assert (before, index.n_documents()) == (0, 1)

    def test_a_copy_replaces_the_last_one(self, index: PageIndex) -> None:
        """One URL, one copy."""
        self._filled(index)
        index.replace(Document(f"{HOST}/zebra", "Lion", "now about lions", 6.0, b"new"))
        index.commit()

        assert index.n_documents() == 3
        assert index.signature(f"{HOST}/zebra") == b"new"
        assert index.search("friends")[0] == 2
        assert [hit.fetched_at_s for hit in index.search("lions")[1]] == [6.0]

    def test_two_looks_hide_no_change_elsewhere(self, index: PageIndex) -> None:
        """Lines drawn by chance may be learned; another line that differs is a change."""
        if not isinstance(index, ChanceLearner):
            pytest.skip("it learns nothing of what is drawn by chance")
        for n in range(4):
            page = f"Story {n}\nWhat happened to {n}.\nA saying\n{{}} as they say\nThe end of {n}."
            index.replace(Document(f"{HOST}/{n}", "A", page.format(n), 5.0, b"s"))
            index.commit()
            again = Document(f"{HOST}/{n}", "A", page.format(n + 10), 6.0, b"t")
            index.learn_drawn(again, page.format(n + 20))
            other = Document(
                f"{HOST}/{n}", "A", page.format(n + 30).replace("What", "How"), 7.0, b"u"
            )

            assert index.same(again) in ((n > 0), False)
            assert not index.same(other)

    def test_what_a_host_repeats_is_no_text_and_no_change_of_its_pages(
        self, index: PageIndex
    ) -> None:
        """Whoever learns what is drawn by chance learns that, too; nobody finds pages by it."""
        if not isinstance(index, ChanceLearner):
            pytest.skip("it takes copies as they are")
        for n in range(20):
            index.replace(_page(n, "Home\nProducts\nContact", "Imprint\nAll rights reserved"))
            if n == 15:  # one of those that are looked at again now, as their host is known
                index.remove(f"{HOST}/14")
            if n % 2:
                index.commit()
        copy = index.copy(f"{HOST}/3")
        then = _page(3, "Home\nProducts\nContact", "Imprint\nAll rights reserved")
        now = _page(3, "Home\nProducts\nCareers", "Imprint\nSome rights reserved")

        assert copy is not None
        assert copy.text == "Story of 3\nWhat happened to 3 was told by nobody."
        assert index.search("imprint")[0] == 0
        assert index.search("happened")[0] == index.n_documents() == 19
        assert (index.difference(then), index.edit(then)) == ("", "")
        assert index.same(now)
        assert not index.same(replace(now, text=now.text.replace("nobody", "somebody")))

    def test_what_else_is_kept_of_a_page_comes_back(self, index: PageIndex) -> None:
        """Markdown, and what it says of itself, where they are kept."""
        about = About("2026-01-02", "", "Ada", (f"{HOST}/licence",), "noai", "", (("A", "a"),))
        kept = Document(
            f"{HOST}/1", "A", "A\nwords", 5.0, b"s", ("A",), "en", (), "# A\n\nwords\n", about
        )
        index.replace(kept)
        index.replace(Document(f"{HOST}/2", "B", "B\nother words", 5.0, b"t"))
        index.commit()

        assert index.copy(f"{HOST}/1") == kept
        plain = index.copy(f"{HOST}/2")
        assert plain is not None
        assert (plain.markdown, plain.about) == ("", None)

    def test_a_sign_that_is_no_text_keeps_no_page_out(self, index: PageIndex) -> None:
        """Wherever it stands."""
        odd = "am\0ber"
        about = About("", "", odd, (), odd, odd, ((odd, odd),))
        page = Document(f"{HOST}/1", odd, odd, 5.0, b"s", (odd,), odd, (), odd, about)
        index.replace(page)
        index.replace(Document(f"{HOST}/2", "B", "other words", 5.0, b"t"))
        index.commit()

        assert {url for url, _ in index.urls()} == {f"{HOST}/1", f"{HOST}/2"}
        assert index.copy(f"{HOST}/1") is not None

    def test_what_a_copy_says_anew_is_told(self, index: PageIndex) -> None:
        """Lines that came and went, and nothing where no copy is held."""
        text = "the first line stays\nthe second one goes away"
        index.replace(Document(f"{HOST}/1", "One", text, 5.0, b"s"))
        index.commit()
        now = "the first line stays\nsomething else has come"

        told = index.difference(Document(f"{HOST}/1", "One", now, 6.0, b"t"))

        assert told == "-the second one goes away\n+something else has come"
        assert index.difference(Document(f"{HOST}/2", "Two", now, 6.0, b"t")) is None

    def test_a_unified_diff_leads_from_the_copy_to_a_document(self, index: PageIndex) -> None:
        """Nothing where no copy is held, and "" where the text is the same."""
        text = "the first line stays\nthe second one goes away"
        index.replace(Document(f"{HOST}/1", "One", text, 5.0, b"s"))
        index.commit()
        now = Document(f"{HOST}/1", "One", "the first line stays\nsomething else", 6.0, b"t")

        told = index.edit(now)

        assert told is not None
        assert told.split("\n")[1:] == [
            " the first line stays", "-the second one goes away", "+something else",
        ]  # fmt: skip
        assert index.edit(Document(f"{HOST}/1", "One", text, 6.0, b"t")) == ""
        assert index.edit(Document(f"{HOST}/2", "Two", text, 6.0, b"t")) is None

    def test_a_copy_can_be_had_again(self, index: PageIndex) -> None:
        """With its headings; None where none is held."""
        given = Document(f"{HOST}/1", "One", "Begin\nwords follow", 5.0, b"s", ("Begin",))
        index.replace(given)
        index.commit()

        assert index.copy(given.url) == given
        assert index.copy(f"{HOST}/2") is None

    def test_a_removed_copy_is_gone(self, index: PageIndex) -> None:
        """And removing what is not there is nothing."""
        self._filled(index)
        index.remove(f"{HOST}/zebra")
        index.remove(f"{HOST}/never")
        index.commit()

        assert index.signature(f"{HOST}/zebra") is None
        assert {url for url, _ in index.urls()} == {f"{HOST}/panda", f"{HOST}/otter"}

    def test_search_finds_counts_and_highlights(self, index: PageIndex) -> None:
        """All words must occur; the snippet shows where."""
        self._filled(index)

        total, hits = index.search("story panda")

        assert total == 1
        assert (hits[0].url, hits[0].title) == (f"{HOST}/panda", "Panda")
        marked = {hits[0].snippet[start:end].lower() for start, end in hits[0].highlights}
        assert "panda" in marked

    def test_host_and_age_narrow_a_search_down(self, index: PageIndex) -> None:
        """A host is meant with its port, an age by when the copy was fetched."""
        for host, fetched_at_s in (("a.test", 5.0), ("a.test:81", 9.0), ("b.test", 9.0)):
            index.replace(Document(f"http://{host}/", "One", "a story", fetched_at_s, b"s"))
        index.commit()

        assert index.search("story")[0] == 3
        assert [hit.url for hit in index.search("story", host="a.test")[1]] == ["http://a.test/"]
        assert index.search("story", fetched_since_s=7.0)[0] == 2
        assert index.search("story", host="a.test", fetched_since_s=7.0)[0] == 0

    def test_one_page_at_several_addresses_is_one_result(self, index: PageIndex) -> None:
        """The shortest address stands for all that say the same, on every page of results."""
        text = " ".join(f"manifold word{number}" for number in range(60))
        for n, path in enumerate(("/long/copy", "/copy", "/longer/copy")):
            written = f"{text} Written {n} minutes ago."
            index.replace(Document(HOST + path, "Copies", written, float(n), b"s"))
        index.replace(Document(f"{HOST}/other", "Other", f"{text} else", 1.0, b"s"))
        index.commit()

        total, hits = index.search("manifold")
        copies = {hit.url: hit.copies for hit in hits}
        walked = [index.search("manifold", limit=1, offset=n)[1] for n in range(3)]

        assert total == len(hits)
        assert copies == {
            f"{HOST}/copy": (f"{HOST}/long/copy", f"{HOST}/longer/copy"),
            f"{HOST}/other": (),
        }
        assert [[hit.url for hit in page] for page in walked] == [[hit.url] for hit in hits] + [[]]

    def test_pages_of_one_title_are_shown_by_their_headings(self, index: PageIndex) -> None:
        """As of a site that calls all of its pages the same; one that has no other stays so."""
        for number, heading in enumerate(("Blue chair", "Red chair", "")):
            url = f"http://a.test/?n={number}"
            text = f"{heading} number {number} to sit on"
            headings = (heading,) if heading else ()
            index.replace(Document(url, "Shop", text, 1.0, b"", headings))
        index.replace(Document("http://b.test/", "Shop", "to sit on", 1.0, b"", ("Stool",)))
        index.commit()

        _, hits = index.search("sit")

        titles = {hit.url: hit.title for hit in hits}
        assert titles == {
            "http://a.test/?n=0": "Blue chair - Shop",
            "http://a.test/?n=1": "Red chair - Shop",
            "http://a.test/?n=2": "Shop",
            "http://b.test/": "Shop",
        }

    @pytest.mark.parametrize(
        ("is_one", "path"),
        [
            (True, "/page?print=1"),
            (True, "/page?x=1&sid=2"),
            (False, "/other"),
            (False, "/other?print=1"),
        ],
    )
    def test_nearly_the_same_under_one_parameter_more_is_one_result(
        self, index: PageIndex, is_one: bool, path: str
    ) -> None:
        """Elsewhere it may be another page that is like it."""
        text = " ".join(f"manifold word{number}" for number in range(60))
        index.replace(Document(f"{HOST}/page", "The page", text, 1.0, b"s"))
        printed = f"{text} printed today"
        index.replace(Document(HOST + path, "The page", printed, 1.0, b"s"))
        index.commit()

        total, hits = index.search("manifold")

        assert total == len(hits) == (1 if is_one else 2)
        assert not is_one or (hits[0].url, hits[0].copies) == (f"{HOST}/page", (HOST + path,))

    def test_a_version_and_the_page_that_shows_it_are_one_result(self, index: PageIndex) -> None:
        """Both say which it is; in its address alone that is its name."""
        name, text = "0a1b2c3d" * 5, " ".join(f"manifold word{number}" for number in range(8))
        said = f"commit {name} tree {name} {text}"
        for path, more in (("/commit/", "Latest"), (f"/commit/?id={name}", "Chosen")):
            index.replace(Document(HOST + path, "The commit", f"{said} {more}", 1.0, b"s"))
        index.commit()

        assert [hit.url for hit in index.search("manifold")[1]] == [f"{HOST}/commit/"]

    def test_a_parameter_may_name_a_page(self, index: PageIndex) -> None:
        """A page with other text is a result of its own."""
        for path, word in (("/page", "word"), ("/page?id=7", "thing")):
            text = " ".join(f"manifold {word}{number}" for number in range(60))
            index.replace(Document(HOST + path, "The page", text, 1.0, b"s"))
        index.commit()

        assert index.search("manifold")[0] == 2

    def test_a_misspelt_word_is_respelt(self, index: PageIndex) -> None:
        """Words that the index knows stay; what is like none of them finds no suggestion."""
        self._filled(index)

        assert index.suggest("stoty about") == "story about"
        assert index.suggest("story") is None
        assert index.suggest("xylophone") is None

    def test_pages_of_results_do_not_overlap(self, index: PageIndex) -> None:
        """Limit and offset walk through all hits."""
        self._filled(index)

        urls = [index.search("story", limit=1, offset=place)[1][0].url for place in range(3)]

        assert len(set(urls)) == 3
        assert index.search("story", limit=1, offset=3)[1] == []
        assert index.search("story", limit=1, offset=10**30)[1] == []

    def test_late_pages_of_results_are_as_whole_as_the_first(self, index: PageIndex) -> None:
        """With their passages, and a copy that ranks behind them is no result of its own."""
        for number in range(130):
            text = f"manifold tale {number} " + " ".join(f"word{number}x{n}" for n in range(12))
            for path in (f"/{number}", f"/copy/{number}"):
                index.replace(Document(f"{HOST}{path}", "A page", text, 1.0, b"s"))
        name, last = "0a1b2c3d" * 5, "a manifold end " + " ".join(f"tail{n}" for n in range(90))
        index.replace(Document(f"{HOST}/last", "A page", last, 1.0, b"s"))
        index.replace(Document(f"{HOST}/last?id={name}", "A page", f"{name} {last}", 1.0, b"t"))
        index.commit()

        places = range(0, 140, 10)
        hits = [hit for at in places for hit in index.search("manifold", offset=at)[1]]

        urls = [*(f"{HOST}/{n}" for n in range(130)), f"{HOST}/last"]
        assert sorted(hit.url for hit in hits) == sorted(urls)
        assert all("manifold" in hit.snippet for hit in hits)

    @pytest.mark.parametrize(
        "query",
        ['"unclosed', "a OR OR b", "nofield:x", "", "   ", "(", "*", "\x00", "x" * 5000, "a\ud800"],
    )
    def test_no_query_breaks_it(self, index: PageIndex, query: str) -> None:
        """People type anything."""
        self._filled(index)

        total, hits = index.search(query)
        index.suggest(query)
        index.misread(query)

        assert total >= len(hits) >= 0
