"""What a start after `kill -9` costs: every byte of the index read, every page compared.

Bar: 100,000 pages in under 10 s on two cores; after a clean stop under a second.

    python bench/agreement.py [--pages 100000]
"""

import argparse
import tempfile
import time
from pathlib import Path

from recrawl.crawler.index.files import damaged_files
from recrawl.crawler.ports import AdmissionLimits
from recrawl.crawler.runtime.agreement import ENDED_IN_ORDER, UNDER_WAY, recover
from recrawl.crawler.wiring.indexes import open_index
from recrawl.crawler.wiring.stores import open_frontier
from recrawl.terms import Discovery, Document

TEXT = "some words of a page that is neither long nor short, as pages go " * 20


def main() -> None:
    """Fill both stores, and compare them in each way."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=100_000)
    n = parser.parse_args().pages
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder)
        frontier, index = open_frontier(state), open_index(state)
        urls = [f"http://a.test/{number}" for number in range(n)]
        frontier.admit(
            [Discovery(url, "http://a.test") for url in urls], 0.0, AdmissionLimits(n, n)
        )
        for number, url in enumerate(urls):
            index.replace(Document(url, "title", f"{number} {TEXT}", 1e9, b"s" * 16))
        index.commit()
        frontier.agree([(url, b"s" * 16) for url in urls], 0.0)
        for ended_in_order in (True, False):
            frontier.save_facts(ENDED_IN_ORDER if ended_in_order else UNDER_WAY)
            started = time.perf_counter()
            damaged = [] if ended_in_order else damaged_files(state / "index")
            mended = recover(frontier, index, 1e9)
            seconds = time.perf_counter() - started
            assert not damaged
            assert not mended.words
            print(f"{'clean' if ended_in_order else 'killed'}: {n:,} pages, {seconds:.2f} s")
        index.close()
        frontier.close()


if __name__ == "__main__":
    main()
