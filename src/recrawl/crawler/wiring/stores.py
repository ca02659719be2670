"""The parts of a state, opened; but for its index, which is searched without the others."""

from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from recrawl.crawler.fetch.reading.feeds import read_feed
from recrawl.crawler.frontier.deliveries import SqliteDeliveries
from recrawl.crawler.frontier.door import VisitDoor
from recrawl.crawler.frontier.history import SqliteHistory
from recrawl.crawler.frontier.sqlite import SqliteFrontier
from recrawl.crawler.frontier.store import holder
from recrawl.crawler.frontier.subscriptions import SqliteSubscriptions
from recrawl.crawler.frontier.tally_door import TallyDoor
from recrawl.crawler.index.steps import CommandStep, Steps
from recrawl.crawler.ports import Preparation, StatePlace
from recrawl.crawler.settings import Settings
from recrawl.crawler.wiring.databases import adapters
from recrawl.errors import InputError
from recrawl.terms import Database, DatedUrls

if TYPE_CHECKING:
    from recrawl.crawler.database.turns import DatabaseTurn

CrawlHistory: TypeAlias = SqliteHistory


def open_frontier(state: StatePlace, *, read_only: bool = False) -> SqliteFrontier:
    """Open the frontier of a state.

    Parameters
    ----------
    state : its directory or database
    read_only : it is never written; of a database this must be so
    """
    if isinstance(state, Path):
        return SqliteFrontier(state, read_only=read_only)
    if not read_only:
        raise InputError(
            f"state: {state} is written by `recrawl run` only; make the state in a folder, and "
            "`recrawl move` it there"
        )
    opened: SqliteFrontier = adapters(state).PostgresReader(state)
    return opened


def open_door(state: StatePlace) -> VisitDoor:
    """Open the door by which visits are asked for beside a running crawl."""
    if isinstance(state, Path):
        return VisitDoor(state)
    door: VisitDoor = adapters(state).PostgresDoor(state)
    return door


def open_tallies(state: StatePlace) -> TallyDoor:
    """Open the door by which counts of pages are added beside a running crawl."""
    if isinstance(state, Path):
        return TallyDoor(state)
    door: TallyDoor = adapters(state).PostgresTallies(state)
    return door


def open_subscriptions(state: StatePlace) -> SqliteSubscriptions:
    """Open what was asked of hubs, beside a crawl that runs or not."""
    if isinstance(state, Path):
        return SqliteSubscriptions(state)
    door: SqliteSubscriptions = adapters(state).PostgresSubscriptions(state)
    return door


def open_deliveries(
    state: StatePlace, *, turn: "DatabaseTurn | None" = None, read_only: bool = False
) -> SqliteDeliveries:
    """Open how far sinks have been told, beside a crawl that runs or not.

    Parameters
    ----------
    turn : without which nothing is written into a database
    read_only : only look
    """
    if isinstance(state, Path):
        return SqliteDeliveries(state, read_only=read_only)
    door: SqliteDeliveries = adapters(state).PostgresDeliveries(state, turn)
    return door


def database_turn(database: Database, name: str) -> "DatabaseTurn":
    """Return a turn of this process at what only one does at a time.

    Parameters
    ----------
    database : shared
    name : of what is done in turn
    """
    adapters(database)
    from recrawl.crawler.database.turns import DatabaseTurn

    return DatabaseTurn(database, name)


def feed_entries(body: bytes, url: str) -> DatedUrls:
    """Return the addresses of a feed's entries, with their dates in epoch seconds.

    Parameters
    ----------
    body : of the feed
    url : of the feed, to which its entries' addresses are relative
    """
    return read_feed(body, url)


def is_running(state: StatePlace) -> bool:
    """Tell whether a crawl writes a state now."""
    if isinstance(state, Path):
        return holder(state) is not None
    return bool(adapters(state).is_alive(state))


def mended_database(database: Database) -> list[str]:
    """Have the state in a database say what its index holds; return what was done, in words."""
    adapters(database)  # says what is missing where the driver is not installed
    from recrawl.crawler.wiring.database_upkeep import mended

    return mended(database)


def open_history(state: StatePlace) -> CrawlHistory:
    """Open what a crawl did, for reading."""
    if isinstance(state, Path):
        return SqliteHistory(state)
    history: CrawlHistory = adapters(state).PostgresHistory(state)
    return history


def open_steps(settings: Settings) -> Preparation | None:
    """Return what pages pass before they are indexed: one command for each server, if any."""
    if not settings.index_command:
        return None
    timeout_s = settings.index_timeout_s
    commands = [
        CommandStep(settings.index_command, timeout_s=timeout_s) for _ in range(settings.n_servers)
    ]
    return Steps(commands)
