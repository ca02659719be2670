"""Report on the sinks, for people."""

from contextlib import closing
from typing import Any, Final

from recrawl.crawler.ports import StatePlace
from recrawl.crawler.wiring.stores import open_deliveries, open_frontier
from recrawl.errors import StateError

_LETTERS: Final = 5


def deliveries_report(state: StatePlace) -> list[dict[str, Any]]:
    """Return, for each sink that was ever told something, how far and how well.

    ``behind`` counts numbers of the feed: overtaken changes among them are not delivered.
    """
    try:
        frontier = open_frontier(state, read_only=True)
    except StateError:  # there is no crawl yet
        return []
    with closing(frontier):
        last = frontier.feed.last()
    with closing(open_deliveries(state, read_only=True)) as deliveries:
        return [
            {
                "sink": one.sink,
                "seq": one.seq,
                "behind": max(last - one.seq, 0),
                "delivered": one.delivered,
                "dead": one.dead,
                "failures": one.failures,
                "failing_since": one.failing_since_s,
                "next": one.next_s,
                "trouble": one.trouble,
                "dead_letters": [
                    {"seq": seq, "url": url, "why": why}
                    for seq, url, why in deliveries.dead(one.sink, _LETTERS)
                ],
            }
            for one in deliveries.every()
        ]
