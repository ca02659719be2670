"""What pages weigh by the links between them."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import recrawl
from recrawl.errors import InputError, InvalidTable
from recrawl.tables.link_tables import link_weights

NAMES = ["/a", "/b", "/c"]
PATH = Path("links.csv")


def weights(*pairs: tuple[str, str]) -> list[float]:
    """Return what links between three pages of one host make of them."""
    source, target = zip(*pairs, strict=True)
    table = pa.table({"source": source, "target": target})
    return list(map(float, link_weights(table, PATH, NAMES, np.zeros(3, np.int64))))


def test_a_page_that_others_link_to_weighs_more() -> None:
    """As the equations of PageRank have it: x = 0.15 / 3 + 0.85 M x, times three."""
    found = weights(("/a", "/c"), ("/b", "/c"), ("/c", "/a"))
    moves = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
    expected = np.linalg.solve(np.eye(3) - 0.85 * moves, np.full(3, 0.15))
    assert found == pytest.approx(expected.tolist(), rel=1e-6)
    assert sum(found) == pytest.approx(3.0)


def test_links_to_elsewhere_to_oneself_and_twice_say_nothing() -> None:
    """They change no weight."""
    plain = weights(("/a", "/c"), ("/b", "/a"))
    more = weights(
        ("/a", "/c"), ("/a", "/c"), ("/c", "/c"), ("/a", "/x"), ("/y", "/a"), ("/b", "/a")
    )
    assert more == pytest.approx(plain)


def test_a_backtest_weighs_by_links() -> None:
    """The same table through the front door; and what is wrong is said."""
    days = [float(day * 86_400) for day in range(1, 200)]
    history = {"url": ["/a"] * 199 + ["/b"] * 20, "changed_at": days + days[:20]}
    asked: dict[str, Any] = {"budgets": ["1x"], "policies": ["uniform"], "resamples": 20}
    links = {"source": ["/b"], "target": ["/a"]}
    found = recrawl.backtest(history, weights="links", links=links, **asked)
    assert found.history.weights[0] > found.history.weights[1]
    alone: tuple[dict[str, Any], ...] = ({"weights": "links"}, {"links": links})
    for wrong in alone:
        with pytest.raises(InputError, match="links"):
            recrawl.backtest(history, **asked, **wrong)
    for table, said in (
        ({"source": ["/a"]}, "column target is missing"),
        ({"source": ["x"], "target": ["y"]}, "none of its 1 links joins two pages"),
    ):
        with pytest.raises(InvalidTable, match=said):
            recrawl.backtest(history, weights="links", links=table, **asked)
