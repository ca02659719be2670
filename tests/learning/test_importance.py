"""Counts are drawn towards what is like them; sources count by their shares."""

import numpy as np
import pytest

from recrawl.errors import InvalidModel
from recrawl.learning.counts import shrunk_rates
from recrawl.learning.importance import by_counts, combined


def test_shrinkage_is_nearer_to_the_truth_than_counts_and_than_the_mean() -> None:
    """Gamma rates about those of their folders: the squared error of each guess."""
    random = np.random.default_rng(3)
    folders = np.repeat(np.arange(40), 50)
    hosts = folders // 10
    truth = (random.gamma(2.0, 0.5, 40) * 0.8)[folders] * random.gamma(1.5, 1 / 1.5, 2000)
    counts = random.poisson(truth).astype(float)

    found, _ = shrunk_rates(counts, np.ones(2000), (hosts, folders))

    errors = [np.mean((guess - truth) ** 2) for guess in (found, counts, counts.mean())]
    assert errors[0] < 0.8 * errors[1]
    assert errors[0] < 0.8 * errors[2]


def test_a_page_without_counts_is_worth_what_its_folder_says() -> None:
    counts = np.array([90.0, 110.0, 100.0, 0.0, 1.0, 0.0])
    folders = np.array([0, 0, 0, 0, 1, 1])
    exposures = np.array([1.0, 1.0, 1.0, 0.0, 1.0, 1.0])  # the fourth was not there to be counted

    found = by_counts(counts, np.zeros(6, np.int64), folders, exposures)

    assert found[3] > 10 * found[5] > 0
    assert found.mean() == pytest.approx(1.0)


def test_a_clearer_count_is_believed_more() -> None:
    groups = (np.zeros(4, np.int64),)
    few, _ = shrunk_rates(np.array([3.0, 1.0, 1.0, 1.0]), np.ones(4), groups)
    many, _ = shrunk_rates(np.array([300.0, 100.0, 100.0, 100.0]), np.full(4, 100.0), groups)

    assert 1.0 < few[0] < many[0] <= 3.0


def test_one_more_count_never_makes_a_page_worth_less() -> None:
    before, _ = shrunk_rates(np.array([5.0, 2.0, 1.0]), np.ones(3))
    after, _ = shrunk_rates(np.array([6.0, 2.0, 1.0]), np.ones(3))

    assert after[0] > before[0]


@pytest.mark.parametrize(
    ("counts", "exposures"),
    [([-1.0, 2.0], [1, 1]), ([np.nan, 1], [1, 1]), ([0, 0], [1, 1]), ([1, 1], [0, 0])],
)
def test_counts_outside_their_domain_are_refused(
    counts: list[float], exposures: list[float]
) -> None:
    with pytest.raises(InvalidModel):
        shrunk_rates(np.array(counts, float), np.array(exposures, float))


def test_sources_count_by_their_shares_and_those_without_evidence_not() -> None:
    said = {"links": np.array([3.0, 0.5, 0.5, 0.0])}

    found = combined({"links": 0.5, "logs": 0.2, "even": 0.3}, said, 4)

    np.testing.assert_allclose(found.worths, 0.5 * said["links"] + 0.5)
    assert {name: share for name, (share, _) in found.parts.items()} == {"links": 0.5, "even": 0.5}
    assert found.worths.mean() == pytest.approx(1.0)


@pytest.mark.parametrize(
    "shares", [{"links": 0.5}, {"links": 1.2, "even": -0.2}, {"stars": 1.0}, {"even": np.nan}]
)
def test_shares_that_do_not_add_up_are_refused(shares: dict[str, float]) -> None:
    with pytest.raises(InvalidModel):
        combined(shares, {}, 2)
