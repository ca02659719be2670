"""For tests, ours and yours: a scripted web, a world in memory, and one suite per port."""

from recrawl.crawler.runtime.virtual import run_virtually
from recrawl.testing.scripted import ScriptedFetcher
from recrawl.testing.worlds import Setup, VirtualCrawl, virtual_crawl

__all__ = ["ScriptedFetcher", "Setup", "VirtualCrawl", "run_virtually", "virtual_crawl"]
