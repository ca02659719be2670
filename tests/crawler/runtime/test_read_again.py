"""Pages that other rules read now: visited soon, in full, and no change of theirs is learned."""

from collections.abc import Callable

import pytest

from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.crawler.fetch.reading.markdown import is_available
from recrawl.crawler.fetch.reading.reading_rules import ContentRule, ReadingRules
from recrawl.crawler.frontier.memory import MemoryFrontier
from recrawl.crawler.index.memory import MemoryIndex
from recrawl.crawler.settings import Settings
from recrawl.crawler.settings.values import ContentSettings, RenderSettings
from recrawl.crawler.wiring.reading import reading_mark, step_mark
from recrawl.terms import FetchResponse, Outcome, PageDetails
from recrawl.testing import Setup, VirtualCrawl, run_virtually, virtual_crawl
from recrawl.testing.scripted import Request
from recrawl.testing.worlds import EPOCH_S

HOST = "http://a.test"
PAGE = "<title>{0}</title><main><div class=w>words of {0}</div><p>aside of {0}</main>"
SPLIT = (ContentSettings("/docs/*", ".w"), ContentSettings("/docs/b", "p"))


class Lives:
    """One crawl after the other over the same state, and a site whose pages never change."""

    def __init__(self) -> None:
        self.frontier, self.index = MemoryFrontier(), MemoryIndex()
        self.at_s = EPOCH_S
        self.asked: dict[str, list[str | None]] = {}

    def live(self, *content: ContentSettings, seconds: float = 400.0, **said: object) -> list[str]:
        """Crawl by these rules; return what is said at the beginning."""
        settings = Settings(
            [f"{HOST}/"],
            "mailto:tester@site.test",
            content=content,
            **said,  # type: ignore[arg-type]
        )
        reading = ReadingRules(
            tuple(ContentRule(one.path, one.select, one.drop, one.title) for one in content),
            settings.keep_markdown,
        )
        setup = Setup(
            budget_per_s=1.0,
            revisit=RevisitRules(3_000.0, 6_000.0, 3_000.0),
            epoch_s=self.at_s,
            reading=reading,
            rules={
                "mark_of": reading_mark(settings),
                "step_mark": step_mark(settings),
                "replan_s": 20.0,
            },
        )
        self.asked = {}
        self.at_s += seconds + 1.0

        async def run() -> list[str]:
            virtual = virtual_crawl(setup, frontier=self.frontier, index=self.index)
            self._script(virtual)
            words = (await virtual.crawl.prepare()).words
            async with virtual.crawl.running():
                await virtual.clock.sleep_until(virtual.clock.now_s() + seconds)
            return words

        return run_virtually(run())

    def _script(self, virtual: VirtualCrawl) -> None:
        for path in ("/", "/docs/a", "/docs/b", "/c"):
            virtual.web.reply(HOST + path, self._reply(path))

    def _reply(self, path: str) -> Callable[[Request], FetchResponse]:
        links = "<a href=/docs/a>a</a><a href=/docs/b>b</a><a href=/c>c</a>" if path == "/" else ""

        def reply(request: Request) -> FetchResponse:
            self.asked.setdefault(path, []).append(request.etag)
            if request.etag == "1":
                return FetchResponse(request.url, 304, etag="1")
            body = (PAGE.format(path) + links).encode()
            return FetchResponse(request.url, 200, body, "text/html", etag="1")

        return reply

    def text(self, path: str) -> str:
        copy = self.index.copy(HOST + path)
        assert copy is not None
        return copy.text

    def details(self, path: str) -> PageDetails:
        found = self.frontier.details(HOST + path)
        assert found is not None
        return found


def test_a_new_rule_takes_effect_on_pages_that_never_change() -> None:
    """Soon, though they would be due only later, and their server says that they are as before."""
    lives = Lives()
    assert lives.live() == []
    before = lives.frontier.feed.last()
    assert "aside" in lives.text("/docs/a")
    words = lives.live(SPLIT[0])

    assert words == [
        "2 pages are read again, as other rules say now what of them is content; within 4s"
    ]
    assert lives.asked == {"/docs/a": [None], "/docs/b": [None]}
    assert lives.text("/docs/a") == "words of /docs/a"
    assert "aside" in lives.text("/c")
    told = lives.frontier.feed.changes(after=before, limit=9)
    assert [(one.kind.value, one.url) for one in told] == [
        ("changed", f"{HOST}/docs/a"), ("changed", f"{HOST}/docs/b"),
    ]  # fmt: skip
    assert lives.live(SPLIT[0]) == []
    assert lives.asked == {}


def test_what_other_rules_make_of_a_page_is_no_change_of_it() -> None:
    """Or a change of the configuration would look like a day on which the whole site changed."""
    lives = Lives()
    lives.live()
    lives.live(SPLIT[0])
    visit = lives.details("/docs/a").recent[0]

    assert (visit.outcome, visit.changed, visit.interval_s) == (Outcome.CHANGED, None, None)
    assert lives.details("/docs/a").changes == 0
    assert lives.details("/docs/a").last_visit_s == visit.visited_at_s
    assert lives.frontier.differences(limit=9) == []
    lives.live(SPLIT[0], seconds=3_200.0)
    again = lives.details("/docs/a").recent[0]
    assert (again.outcome, again.changed) == (Outcome.NOT_MODIFIED, False)
    assert again.interval_s == pytest.approx(again.visited_at_s - visit.visited_at_s)


def test_a_rule_that_finds_the_same_changes_nothing() -> None:
    """The page is read, and is as it was; a rule that is taken back reads it once more."""
    lives = Lives()
    lives.live(SPLIT[0])
    before = lives.frontier.feed.last()
    same = ContentSettings("/docs/*", ".w", ("form",))
    assert len(lives.live(same)) == 1
    assert lives.frontier.feed.last() == before
    assert lives.details("/docs/a").recent[0].outcome is Outcome.UNCHANGED
    assert len(lives.live()) == 1
    assert "aside" in lives.text("/docs/a")


def test_what_a_command_makes_of_pages_comes_for_all_of_them_and_goes_with_it() -> None:
    """Their copies are others then, though the pages are as they were: whoever has them is told."""
    lives = Lives()
    lives.live()
    for command in (("embed",), ("embed", "--better"), ()):
        before = lives.frontier.feed.last()
        lives.live(index_command=command)
        told = lives.frontier.feed.changes(after=before, limit=9)

        assert [one.kind.value for one in told] == ["changed"] * 4
        assert all(etags == [None] for etags in lives.asked.values())
        assert lives.live(index_command=command) == []


@pytest.mark.skipif(not is_available(), reason="html-to-markdown is not installed")
def test_markdown_that_is_kept_from_now_on_comes_for_all_pages() -> None:
    """And is told, though their text is the same."""
    lives = Lives()
    lives.live()
    before = lives.frontier.feed.last()
    lives.live(keep_markdown=True)
    copy = lives.index.copy(f"{HOST}/c")

    assert copy is not None
    assert copy.markdown
    assert lives.frontier.feed.last() == before + 4


def test_rules_have_marks() -> None:
    """The same for what reads alike, in any process."""

    def marks(*content: ContentSettings, **said: object) -> list[int]:
        settings = Settings([f"{HOST}/"], "mailto:tester@site.test", content=content, **said)  # type: ignore[arg-type]
        mark = reading_mark(settings)
        return [mark(HOST + path) for path in ("/docs/a", "/docs/b", "/c")]

    plain = marks()[0]
    assert marks() == [plain] * 3
    assert plain != 0  # what copies have that were read before there were marks
    first, second = marks(*SPLIT)[:2], marks(*reversed(SPLIT))[:2]
    assert first[0] == first[1] != plain
    assert second[0] == first[0] != second[1]
    assert marks(ContentSettings("*", ".w"))[2] == first[0]
    assert len(set(marks(keep_markdown=True))) == 1
    assert marks(keep_markdown=True)[0] not in (plain, first[0])
    filled = marks(render=(RenderSettings("/c", "#done"),))
    assert filled[:2] == [plain] * 2
    assert filled[2] not in (plain, *first, *second)
    assert all(0 <= one < 2**63 for one in first + second)
