"""recrawl: keep an index of a changing web fresh, with the fewest fetches.

The command ``recrawl`` and this package are two doors to the same rooms:
:mod:`recrawl.freshness` (how often), :mod:`recrawl.fleet` (how many robots), the crawler itself
(:mod:`recrawl.crawler.runtime`, put together by :mod:`recrawl.crawler.wiring`).
"""

__version__ = "0.1.0"
