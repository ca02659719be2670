"""Shares of a random reader: exact on small graphs, bounded for a host that praises itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InvalidModel, NotConverged
from recrawl.learning.page_rank import LinkGraph, rank_pages


def graph_of(links: list[list[int]], hosts: list[int]) -> LinkGraph:
    starts = np.cumsum([0, *(len(one) for one in links)])
    targets = np.array([page for one in links for page in one], np.int32)
    return LinkGraph(starts.astype(np.int64), targets, np.array(hosts, np.int64))


def solved(links: list[list[int]], hosts: list[int], damping: float) -> np.ndarray:
    """Return the shares by a linear system, dense."""
    n = len(links)
    passed = np.zeros((n, n))
    for page, targets in enumerate(links):
        for target in targets:
            passed[target, page] += 1.0 / len(targets)
    sizes = np.bincount(hosts)
    begin = np.array([1.0 / np.sqrt(sizes[host]) for host in hosts])
    x = np.linalg.solve(np.eye(n) - damping * passed, begin / begin.sum())
    return np.asarray(x / x.sum())


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[list[int]], list[int]]:
    n = draw(st.integers(1, 12))
    pages = st.integers(0, n - 1)
    links = draw(st.lists(st.lists(pages, max_size=6), min_size=n, max_size=n))
    return links, draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))


@given(graphs(), st.sampled_from([0.0, 0.5, 0.85, 0.95]))
def test_equals_the_solution_of_the_linear_system(
    drawn: tuple[list[list[int]], list[int]], damping: float
) -> None:
    links, hosts = drawn

    found = rank_pages(
        graph_of(links, hosts), damping=damping, tolerance=1e-9, max_iterations=2_000
    )

    wrong = np.abs(found.shares - solved(links, hosts, damping)).sum()
    assert wrong <= found.residual + 1e-12 <= 1e-9 + 1e-12


@given(graphs())
def test_from_the_last_shares_it_takes_no_more_steps(
    drawn: tuple[list[list[int]], list[int]],
) -> None:
    graph = graph_of(*drawn)
    first = rank_pages(graph, tolerance=1e-6)

    again = rank_pages(graph, tolerance=1e-6, start=first.shares)

    assert np.abs(again.shares - first.shares).sum() <= 2e-6
    assert again.n_iterations <= first.n_iterations


@pytest.mark.parametrize("n_farm", [10, 100, 1000])
def test_a_farm_on_one_host_lifts_nothing_above_its_bound(n_farm: int) -> None:
    """A thousand pages of host 1 that all praise one of them, beside a hundred hosts of ten."""
    others = 1000
    links = [[(page + 1) % others, (page * 7) % others] for page in range(others)]
    links += [[others] for _ in range(n_farm)]
    hosts = [page // 10 for page in range(others)] + [100] * n_farm

    found = rank_pages(graph_of(links, hosts), damping=0.85)

    begins = np.sqrt(n_farm) / (100 * np.sqrt(10) + np.sqrt(n_farm))
    assert found.shares[others:].sum() <= begins / 0.15 + 1e-4


def test_links_of_many_blocks_are_all_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    links = [random.integers(0, 50, 40).tolist() for _ in range(50)]
    graph = graph_of(links, [0] * 50)
    whole = rank_pages(graph, tolerance=1e-9).shares

    monkeypatch.setattr("recrawl.learning.page_rank._CHUNK", 97)

    np.testing.assert_allclose(rank_pages(graph, tolerance=1e-9).shares, whole, rtol=1e-12)


def test_what_does_not_converge_is_not_returned() -> None:
    graph = graph_of([[1], [2], [0, 0, 1]], [0, 0, 0])

    with pytest.raises(NotConverged):
        rank_pages(graph, tolerance=1e-12, max_iterations=3)


@pytest.mark.parametrize(
    ("starts", "targets"), [([0, 1], [0]), ([0, 2, 1], [0]), ([0, 1, 1], [2]), ([0, 0, 2], [0])]
)
def test_columns_that_do_not_fit_are_refused(starts: list[int], targets: list[int]) -> None:
    with pytest.raises(InvalidModel):
        LinkGraph(np.array(starts), np.array(targets, np.int32), np.zeros(2, np.int64))


def test_a_damping_of_one_is_refused() -> None:
    with pytest.raises(InvalidModel, match="damping"):
        rank_pages(graph_of([[0]], [0]), damping=1.0)
