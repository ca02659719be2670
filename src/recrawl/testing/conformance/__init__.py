"""One suite per port. Subclass it, say how the adapter is made, and pytest runs every promise.

class TestMine(FrontierSuite):
    def make(self, tmp_path): return MyFrontier(tmp_path)
"""

from recrawl.testing.conformance.feeds import FeedSuite
from recrawl.testing.conformance.frontiers import FrontierSuite
from recrawl.testing.conformance.indexes import IndexSuite
from recrawl.testing.conformance.revisits import RevisitPolicySuite
from recrawl.testing.conformance.sinks import SinkSuite
from recrawl.testing.conformance.surroundings import ClockSuite, EventSuite, OffloadSuite
from recrawl.testing.conformance.web import ExtractorSuite, FetcherSuite

__all__ = [
    "ClockSuite",
    "EventSuite",
    "ExtractorSuite",
    "FeedSuite",
    "FetcherSuite",
    "FrontierSuite",
    "IndexSuite",
    "OffloadSuite",
    "RevisitPolicySuite",
    "SinkSuite",
]
