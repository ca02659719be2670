"""recrawl: keep an index of a changing web fresh, with the fewest fetches.

The command ``recrawl`` and this package are two doors to the same rooms. What stands here is
documented and stays; the guides on embedding and extending show it at work.

- :func:`plan`: how often to visit each page of a table
- :func:`backtest`: what policies would have been worth on a recorded history
- :func:`open_crawl`: a crawl inside a program of your own
- :func:`open_state`: the state of a crawl, read beside it
- :class:`Settings`: what a crawl is told, checked; :func:`load_settings` reads it from a file
- :class:`RevisitPolicy`: the port of policies that say when pages are due
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from recrawl.version import VERSION

if TYPE_CHECKING:
    from recrawl.api.backtesting import BacktestReport, backtest
    from recrawl.api.crawling import open_crawl
    from recrawl.api.opened import OpenCrawl
    from recrawl.api.planning import Certificate, Plan, plan
    from recrawl.api.states import State, open_state
    from recrawl.crawler.control.revisiting.revisit_policy import (
        NextVisit,
        PageVisit,
        Replan,
        RevisitPolicy,
        Schedule,
    )
    from recrawl.crawler.ports import EventSink, PageIndex
    from recrawl.crawler.settings import Settings, load_settings
    from recrawl.errors import (
        InputError,
        InvalidSettings,
        InvalidTable,
        MissingPart,
        NotConverged,
        RecrawlError,
        StateError,
    )
    from recrawl.simulation.backtest import POLICIES
    from recrawl.terms import Document, Hit, VisitAnswer

__version__ = VERSION

_PLACES: Final[dict[str, tuple[str, ...]]] = {
    "api.backtesting": ("BacktestReport", "backtest"),
    "api.crawling": ("open_crawl",),
    "api.opened": ("OpenCrawl",),
    "api.planning": ("Certificate", "Plan", "plan"),
    "api.states": ("State", "open_state"),
    "crawler.control.revisiting.revisit_policy": (
        "NextVisit",
        "PageVisit",
        "Replan",
        "RevisitPolicy",
        "Schedule",
    ),
    "crawler.ports": ("EventSink", "PageIndex"),
    "crawler.settings": ("Settings", "load_settings"),
    "errors": (
        "InputError",
        "InvalidSettings",
        "InvalidTable",
        "MissingPart",
        "NotConverged",
        "RecrawlError",
        "StateError",
    ),
    "simulation.backtest": ("POLICIES",),
    "terms": ("Document", "Hit", "VisitAnswer"),
}
_PLACE_OF: Final = {name: place for place, names in _PLACES.items() for name in names}

__all__ = [
    "POLICIES",
    "BacktestReport",
    "Certificate",
    "Document",
    "EventSink",
    "Hit",
    "InputError",
    "InvalidSettings",
    "InvalidTable",
    "MissingPart",
    "NextVisit",
    "NotConverged",
    "OpenCrawl",
    "PageIndex",
    "PageVisit",
    "Plan",
    "RecrawlError",
    "Replan",
    "RevisitPolicy",
    "Schedule",
    "Settings",
    "State",
    "StateError",
    "VisitAnswer",
    "__version__",
    "backtest",
    "load_settings",
    "open_crawl",
    "open_state",
    "plan",
]


def __getattr__(name: str) -> Any:
    """Load what is asked for, and nothing else: importing the package costs next to nothing."""
    place = _PLACE_OF.get(name)
    if place is None:
        raise AttributeError(f"module 'recrawl' has no attribute {name!r}")
    try:
        found = getattr(import_module(f"recrawl.{place}"), name)
    except ModuleNotFoundError as error:
        from recrawl.errors import missing_part

        raise missing_part(error) or error from error
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
