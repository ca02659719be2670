"""Answers to calls that make one request: statistics, lists, orders."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final

from recrawl.integrations.urlfrontier.frontier import Frontier, crawl_of, key_of
from recrawl.integrations.urlfrontier.interface import message

_PAGE: Final = 100  # entries of a list where a client sets no number
_DAY_S: Final = 86_400.0
_Empty: Final = message("Empty")
_Long: Final = message("Long")


@dataclass(slots=True)
class Refused(Exception):
    """A call that cannot be answered.

    Parameters
    ----------
    code : name of gRPC's status
    why : in words
    """

    code: str
    why: str


def _list_crawls(frontier: Frontier, request: Any, now_s: float) -> Any:
    return message("StringList")(values=frontier.queues.crawls())


def _list_queues(frontier: Frontier, request: Any, now_s: float) -> Any:
    crawl = crawl_of(request.crawlID)
    queues = frontier.queues.of(crawl)
    names = [
        name
        for name, _, n_active in frontier.counts(crawl, None)
        if request.include_inactive
        or (n_active and not (name in queues and queues[name].blocked_until_s > now_s))
    ]
    shown = names[request.start : request.start + (request.size or _PAGE)]
    return message("QueueList")(
        values=shown, total=len(names), start=request.start, size=len(shown), crawlID=crawl
    )


def _get_stats(frontier: Frontier, request: Any, now_s: float) -> Any:
    crawl, name = crawl_of(request.crawlID), request.key or None
    counts = list(frontier.counts(crawl, name))
    active = sum(n_active for _, _, n_active in counts)
    return message("Stats")(
        size=active,
        inProcess=frontier.n_held(crawl, name, now_s),
        counts={
            "completed": sum(n for _, n, _ in counts) - active,
            "active_queues": sum(n_active > 0 for _, _, n_active in counts),
        },
        numberOfQueues=len(counts),
        crawlID=crawl,
    )


def _delete_queue(frontier: Frontier, request: Any, now_s: float) -> Any:
    return _Long(value=frontier.forget(crawl_of(request.crawlID), request.key))


def _delete_crawl(frontier: Frontier, request: Any, now_s: float) -> Any:
    return _Long(value=frontier.forget(crawl_of(request.value), None))


def _purge(frontier: Frontier, request: Any, now_s: float) -> Any:
    before_s = now_s - request.days * _DAY_S
    crawl, name = crawl_of(request.crawlID), request.key or None
    return _Long(value=frontier.forget(crawl, name, before_s))


def _block(frontier: Frontier, request: Any, now_s: float) -> Any:
    frontier.block(crawl_of(request.crawlID), request.key, float(request.time))
    return _Empty()


def _set_delay(frontier: Frontier, request: Any, now_s: float) -> Any:
    frontier.set_delay(crawl_of(request.crawlID), request.key, float(request.delay_requestable))
    return _Empty()


def _set_active(frontier: Frontier, request: Any, now_s: float) -> Any:
    frontier.set_active(is_active=request.state)
    return _Empty()


def _get_active(frontier: Frontier, request: Any, now_s: float) -> Any:
    return message("Boolean")(state=frontier.is_active)


def _get_status(frontier: Frontier, request: Any, now_s: float) -> Any:
    name = key_of(request.url, request.key)
    if name is None:
        raise Refused("INVALID_ARGUMENT", f"url: {request.url!r} is no address of a page")
    found = frontier.find(crawl_of(request.crawlID), name, request.url)
    if found is None:
        raise Refused("NOT_FOUND", f"url: {request.url!r} is not in queue {name!r}")
    return _item(*found)


def _count(frontier: Frontier, request: Any, now_s: float) -> Any:
    return _Long(value=int(frontier.store.rows("count_pages", **_filtered(request))[0][0]))


def listed(frontier: Frontier, request: Any) -> Iterator[Any]:
    """Yield what ``ListURLs`` asks for.

    Parameters
    ----------
    frontier : where it is asked
    request : with crawl, queue (empty: all), filter, place of the first, and size (0: 100)
    """
    rows = frontier.store.rows(
        "some_pages", **_filtered(request), start=request.start, limit=request.size or _PAGE
    )
    for row in rows:
        yield _item(row["request"], row["due_s"], row["discovered_s"])


def _filtered(request: Any) -> dict[str, object]:
    return {
        "crawl": crawl_of(request.crawlID),
        "name": request.key or None,
        "text": request.filter.lower() if request.ignoreCase else request.filter,
        "folded": request.ignoreCase,
    }


def _item(info: bytes, due_s: float, discovered_s: float) -> Any:
    item = message("URLItem")(creation_date=int(discovered_s))
    item.known.info.ParseFromString(info)
    item.known.refetchable_from_date = int(due_s) if isfinite(due_s) else 0
    return item


ANSWERS: Final[dict[str, Callable[[Frontier, Any, float], Any]]] = {
    "ListCrawls": _list_crawls,
    "ListQueues": _list_queues,
    "GetStats": _get_stats,
    "DeleteQueue": _delete_queue,
    "DeleteCrawl": _delete_crawl,
    "PurgeURLs": _purge,
    "BlockQueueUntil": _block,
    "SetDelay": _set_delay,
    "SetActive": _set_active,
    "GetActive": _get_active,
    "GetURLStatus": _get_status,
    "CountURLs": _count,
}
