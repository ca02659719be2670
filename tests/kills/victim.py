"""The process that is killed: it forks for every life, so that only the life pays for a start.

Reads one JSON object a line (``state``, ``life``, ``at``, ``torn``, ``trace``), answers with one.
"""

import ctypes
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any, Final

from recrawl.crawler.control.dispatching.politeness import PolitenessRules
from recrawl.crawler.ports import Frontier, PageIndex
from recrawl.crawler.wiring.indexes import open_index
from recrawl.crawler.wiring.stores import open_frontier
from recrawl.testing import Setup, run_virtually, virtual_crawl
from recrawl.testing.scripted import ScriptedFetcher
from recrawl.testing.worlds import EPOCH_S

__all__ = ["HOSTS", "N_PAGES", "is_gone", "script", "text_of"]

HOSTS: Final = ("http://a.test", "http://b.test", "http://c.test")
N_PAGES: Final = 12  # of each host
_GAP_S: Final = 1_000.0  # between two lives


def text_of(url: str, life: int) -> str:
    """Return what a page says in a life; some never change."""
    return f"the page {url} says {'always' if url.endswith('5') else f'number{life}'} the same"


def is_gone(url: str, life: int) -> bool:
    """Tell whether a page is gone for a life."""
    return url.endswith("7") and life % 3 == 1


def script(web: ScriptedFetcher, life: int) -> None:
    """Tell a web what it is like in a life."""
    for host in HOSTS:
        pages = [f"{host}/{number}" for number in range(N_PAGES)]
        others = [f"{other}/" for other in HOSTS]
        web.page(f"{host}/", text_of(f"{host}/", life), *pages, *others)
        for url in pages:
            web.page(url, text_of(url, life), status=410 if is_gone(url, life) else 200)


def live(life: int, frontier: Frontier | None = None, index: PageIndex | None = None) -> None:
    """Crawl everything once."""
    setup = Setup(
        seeds=[f"{HOSTS[0]}/"],
        politeness=PolitenessRules(delay_s=0.5),
        epoch_s=EPOCH_S + _GAP_S * life,
        rules={"commit_s": 2.0},
    )

    async def main() -> None:
        virtual = virtual_crawl(setup, frontier=frontier, index=index, once=True)
        script(virtual.web, life)
        await virtual.crawl.prepare()
        async with virtual.crawl.running():
            await virtual.crawl.until_done()

    run_virtually(main())


def _one(asked: dict[str, Any]) -> dict[str, Any]:
    """Live once in a child, and tell how it ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        with os.fdopen(reading) as told:
            said = told.read()
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            return {"signal": os.WTERMSIG(status)}
        answer: dict[str, Any] = json.loads(said)
        return answer
    os.close(reading)
    answer = _lived(asked)
    os.write(writing, json.dumps(answer).encode())
    os._exit(0)


def _lived(asked: dict[str, Any]) -> dict[str, Any]:
    shim, state = ctypes.CDLL(None), Path(asked["state"])
    trace = os.open(asked["trace"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    shim.recrawl_aim(str(state).encode(), ctypes.c_long(asked["at"]), int(asked["torn"]), trace)
    try:
        frontier = open_frontier(state)
        index = open_index(state)
        live(asked["life"], frontier, index)
        index.close()
        frontier.close()
    except BaseException:
        return {"error": traceback.format_exc()}
    return {"operations": shim.recrawl_counted()}


def main() -> None:
    """Answer until there is nothing more to read."""
    live(0)  # compiled loops are loaded before the first fork
    for line in sys.stdin:
        print(json.dumps(_one(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
