"""A database that several processes crawl into, mended: its state made to say what its index holds.

Both lie in one database, so a server that fails over or goes back takes both along; what parts them
is a restore by halves, or somebody's hand.
"""

from contextlib import ExitStack, closing

from recrawl.crawler.database.connections import connect, n_shards
from recrawl.crawler.database.membership import Membership
from recrawl.crawler.frontier.postgres.owned import PostgresFrontier
from recrawl.crawler.index.postgres import PostgresIndex
from recrawl.crawler.runtime.agreement import ENDED_IN_ORDER, Mended, recover
from recrawl.errors import StateError
from recrawl.terms import Database


def mended(database: Database) -> list[str]:
    """Compare all pages, and have those fetched again that differ; return what was done, in words.

    Raises
    ------
    StateError
        It holds no crawl, or processes crawl into it.
    """
    with closing(connect(database, name="recrawl check")) as connection:
        shards = n_shards(connection)
        label = "SELECT value FROM label WHERE name = 'seeds'"
        seeds = connection.execute(label).fetchone()
    if seeds is None:
        raise StateError(f"{database} holds no crawl")
    with ExitStack() as stack:
        member = Membership(database, shards=shards)
        stack.callback(member.close)
        member.join(seeds[0])
        stack.callback(member.leave)
        member.renew()
        member.take(shards)
        if len(member.owned) < shards:
            raise StateError(f"{database}: processes crawl into it; stop them first")
        frontier = stack.enter_context(closing(PostgresFrontier(member)))
        index = stack.enter_context(closing(PostgresIndex(database, member)))
        return _agreed(member, frontier, index).words


def _agreed(member: Membership, frontier: PostgresFrontier, index: PostgresIndex) -> Mended:
    """Compare the pages that are here, and bring others, until all have been compared."""
    followed_up = missing = other = 0
    while True:
        found = recover(frontier, index, member.now_s(), thorough=True)
        followed_up += found.followed_up
        missing += found.missing
        other += found.other
        if not member.awaited:
            frontier.save_facts(ENDED_IN_ORDER)
            return Mended(followed_up, missing, other)
        while not frontier.bring():
            pass
        frontier.own(member.owned)
