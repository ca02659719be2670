"""A state whose pages come, change and go as a test says, without a crawl."""

from pathlib import Path
from typing import Any

from recrawl.crawler.frontier.sqlite import SqliteFrontier
from recrawl.crawler.index.tantivy import TantivyIndex
from recrawl.crawler.ports import AdmissionLimits
from recrawl.terms import (
    Discovery,
    Document,
    Outcome,
    PageState,
    PageUpdate,
    PageWorth,
    Visit,
)

HOST = "http://a.test"
NOW_S = 1_800_000_000.0


class Fed:
    """Writes a state as a crawl does: note, index, record."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.frontier = SqliteFrontier(directory)
        self.index = TantivyIndex(directory / "index")
        self.now_s = NOW_S

    def put(self, *paths: str, text: str = "words", title: str = "Title", **said: Any) -> None:
        """Have pages say this."""
        documents = [
            Document(
                f"{HOST}{path}", title, f"{text} of {path}", self.now_s, f"{text}{path}".encode()
            )
            for path in paths
        ]
        updates = [
            self._update(document.url, document.signature, PageState.INDEXED, **said)
            for document in documents
        ]
        for document in documents:
            self.index.replace(document)
        self.index.commit()
        self.frontier.complete(updates, self.now_s)

    def drop(self, path: str, moved_to: str | None = None) -> None:
        """Have a page go."""
        state = PageState.GONE if moved_to is None else PageState.MOVED
        update = self._update(f"{HOST}{path}", None, state, redirect_url=moved_to)
        self.index.remove(f"{HOST}{path}")
        self.index.commit()
        self.frontier.complete([update], self.now_s)

    def weigh(self, path: str, weight: float) -> None:
        """Have a page be worth this, and the feed tell it."""
        self.now_s += 1.0
        details = self.frontier.details(f"{HOST}{path}")
        assert details is not None
        self.frontier.worths.save([PageWorth(details.page_id, weight, weight, "{}")])
        self.frontier.feed.tell_importance([details.page_id], self.now_s)

    def _update(
        self, url: str, signature: bytes | None, state: PageState, **said: Any
    ) -> PageUpdate:
        self.now_s += 1.0
        self.frontier.admit([Discovery(url, HOST)], self.now_s, AdmissionLimits())
        host_id = self.frontier.hosts()[0].host_id
        self.frontier.ask([url], self.now_s)
        self.frontier.take_asked(lambda told: Discovery(told, HOST), self.now_s, AdmissionLimits())
        (lease,) = self.frontier.lease(
            host_id, limit=1, due_by_s=1e12, now_s=self.now_s, until_s=self.now_s + 1e5
        )
        assert lease.url == url
        outcome = Outcome.NEW if lease.signature is None else Outcome.CHANGED
        outcome = Outcome.GONE if signature is None else outcome
        visit = Visit(self.now_s, outcome)
        title = None if signature is None else "Title"
        return PageUpdate(
            lease, visit, state, self.now_s + 1e6, signature=signature, title=title, **said
        )

    def close(self) -> None:
        """Release files."""
        self.index.close()
        self.frontier.close()
