"""The parts of a state directory, opened."""

from pathlib import Path
from typing import TypeAlias

from recrawl.crawler.fetch.feeds import read_feed
from recrawl.crawler.frontier.deliveries import SqliteDeliveries
from recrawl.crawler.frontier.door import VisitDoor
from recrawl.crawler.frontier.history import SqliteHistory
from recrawl.crawler.frontier.sqlite import SqliteFrontier
from recrawl.crawler.frontier.store import holder
from recrawl.crawler.frontier.subscriptions import SqliteSubscriptions
from recrawl.crawler.frontier.tally_door import TallyDoor
from recrawl.crawler.index.steps import CommandStep, Steps
from recrawl.crawler.index.tantivy import TantivyIndex
from recrawl.crawler.ports import Preparation
from recrawl.crawler.settings import Settings

__all__ = [
    "CrawlHistory",
    "feed_entries",
    "is_running",
    "open_deliveries",
    "open_door",
    "open_frontier",
    "open_history",
    "open_index",
    "open_steps",
    "open_subscriptions",
    "open_tallies",
]


CrawlHistory: TypeAlias = SqliteHistory


def open_frontier(state: Path, *, read_only: bool = False) -> SqliteFrontier:
    """Open the frontier of a state directory."""
    return SqliteFrontier(state, read_only=read_only)


def open_door(state: Path) -> VisitDoor:
    """Open the door by which visits are asked for beside a running crawl."""
    return VisitDoor(state)


def open_tallies(state: Path) -> TallyDoor:
    """Open the door by which counts of pages are added beside a running crawl."""
    return TallyDoor(state)


def open_subscriptions(state: Path) -> SqliteSubscriptions:
    """Open what was asked of hubs, beside a crawl that runs or not."""
    return SqliteSubscriptions(state)


def open_deliveries(state: Path, *, read_only: bool = False) -> SqliteDeliveries:
    """Open how far sinks have been told, beside a crawl that runs or not."""
    return SqliteDeliveries(state, read_only=read_only)


def feed_entries(body: bytes, url: str) -> list[tuple[str, float | None]]:
    """Return the addresses of a feed's entries, with their dates."""
    return read_feed(body, url)


def is_running(state: Path) -> bool:
    """Tell whether a crawl writes a state directory now."""
    return holder(state) is not None


def open_history(state: Path) -> CrawlHistory:
    """Open what a crawl did, for reading."""
    return SqliteHistory(state)


def open_index(state: Path, *, language: str = "english", read_only: bool = False) -> TantivyIndex:
    """Open the index of a state directory."""
    return TantivyIndex(state / "index", language=language, read_only=read_only)


def open_steps(settings: Settings) -> Preparation | None:
    """Return what pages pass before they are indexed: one command for each server, if any."""
    if not settings.index_command:
        return None
    timeout_s = settings.index_timeout_s
    commands = [
        CommandStep(settings.index_command, timeout_s=timeout_s) for _ in range(settings.n_servers)
    ]
    return Steps(commands)
