"""Every adapter of every port, through its port's suite."""

from pathlib import Path

from recrawl.frontier.memory import MemoryFrontier
from recrawl.frontier.sqlite import SqliteFrontier
from recrawl.index.memory import MemoryIndex
from recrawl.index.tantivy import TantivyIndex
from recrawl.ports import Clock, Frontier, PageIndex
from recrawl.runtime.clock import LoopClock
from recrawl.testing.conformance import ClockSuite, FrontierSuite, IndexSuite


class TestMemoryFrontier(FrontierSuite):
    def make(self, directory: Path) -> Frontier:
        return MemoryFrontier()


class TestSqliteFrontier(FrontierSuite):
    def make(self, directory: Path) -> Frontier:
        return SqliteFrontier(directory)


class TestMemoryIndex(IndexSuite):
    def make(self, directory: Path) -> PageIndex:
        return MemoryIndex()


class TestTantivyIndex(IndexSuite):
    def make(self, directory: Path) -> PageIndex:
        return TantivyIndex(directory / "index")


class TestLoopClock(ClockSuite):
    def make(self) -> Clock:
        return LoopClock(epoch_s=1_800_000_000.0)


class TestAcceleratedClock(ClockSuite):
    def make(self) -> Clock:
        return LoopClock(epoch_s=1_800_000_000.0, speed=43_200.0)
