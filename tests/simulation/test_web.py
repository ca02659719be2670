"""The synthetic web: what it is like, and that it knows its own history."""

import numpy as np
import pytest
from scipy import stats

from recrawl.errors import InvalidModel
from recrawl.simulation.web import SyntheticPage, SyntheticWeb, WebShape, true_freshness

STILL = WebShape(n_pages=40, n_hosts=4, born=0.0, moved=0.0, gone=0.0)


def test_a_web_follows_from_its_seed() -> None:
    """Two processes hold the same web; another seed is another web."""
    one, same, other = (SyntheticWeb(WebShape(), seed) for seed in (5, 5, 6))

    for page, twin in zip(one.pages, same.pages, strict=True):
        assert page.changes.tolist() == twin.changes.tolist()
        for name in ("path", "host", "rate", "weight", "born", "until", "moved_to", "gone_status"):
            assert getattr(page, name) == getattr(twin, name)
    assert [page.rate for page in one.pages] != [page.rate for page in other.pages]


def test_pages_are_found_by_number_address_and_section() -> None:
    """No two pages share an address; hosts share the pages evenly."""
    web = SyntheticWeb(WebShape(n_pages=400, n_hosts=4), 1)

    assert [page.number for page in web.pages] == list(range(len(web.pages)))
    assert len(web.by_address) == len(web.pages)
    assert sum(map(len, web.by_section.values())) == len(web.pages)
    assert np.bincount([page.host for page in web.pages[:400]]).tolist() == [100] * 4
    assert len(web.hosts) == 4


@pytest.mark.parametrize("shape", [0.15, 0.3, 0.5])
def test_rates_have_the_heavy_tailed_spread_that_was_asked_for(shape: float) -> None:
    """Gamma of that shape and mean: 4,000 rates, Kolmogorov-Smirnov at 1e-4."""
    web = SyntheticWeb(
        WebShape(n_pages=4000, rate_shape=shape, mean_changes_per_day=2.0, days=1), 3
    )
    rates = np.array([page.rate for page in web.pages[:4000]])
    inside = rates[(rates > 1e-4) & (rates < 200)]
    law = stats.gamma(shape, scale=2.0 / shape)
    low, high = law.cdf([1e-4, 200])

    test = stats.kstest(inside, lambda x: (law.cdf(x) - low) / (high - low))
    assert test.pvalue > 1e-4
    assert np.median(rates) < 0.5 * rates.mean()


def test_pages_change_as_often_as_their_rates_say() -> None:
    """Bursts and weekly clocks included: over two weeks, within five standard errors."""
    web = SyntheticWeb(WebShape(n_pages=2000, days=14.0, moved=0.0), 4)
    expected = sum(page.rate for page in web.pages) * 14.0

    counted = sum(len(page.changes) for page in web.pages)

    # A start brings 1 + G changes, G geometric of mean 0.5: E(n^2) / E(n) is 2 to each change.
    assert counted == pytest.approx(expected, abs=5 * np.sqrt(2.0 * expected))


def test_changes_come_in_bursts() -> None:
    """Far more of them follow another within an hour than of a Poisson process."""
    web = SyntheticWeb(WebShape(n_pages=400, mean_changes_per_day=0.2, rate_shape=5.0), 5)
    gaps = np.concatenate([np.diff(page.changes) for page in web.pages])

    assert np.mean(gaps < 1 / 24) > 5 * -np.expm1(-0.2 / 24)


def test_hosts_keep_different_hours() -> None:
    """Half of them are quiet at weekends."""
    web = SyntheticWeb(WebShape(n_pages=800, days=28.0), 6)
    share = []
    for host in (0, 1):
        days = np.concatenate([page.changes for page in web.pages if page.host == host])
        share.append(np.mean(days % 7 >= 5))

    assert share[0] < 0.15
    assert share[1] == pytest.approx(2 / 7, abs=0.06)


def test_shares_of_pages_are_born_moved_and_gone() -> None:
    """As many as asked for, each with a time within the web's."""
    web = SyntheticWeb(WebShape(n_pages=3000, born=0.2, moved=0.1, gone=0.3, days=10.0), 7)
    first, heirs = web.pages[:3000], web.pages[3000:]
    born = [page for page in first if page.born > 0]
    gone = [page for page in first if page.gone_status is not None]
    moved = [page for page in first if page.moved_to is not None]

    assert len(born) / 3000 == pytest.approx(0.2, abs=5 * np.sqrt(0.16 / 3000))
    assert len(gone) / 3000 == pytest.approx(0.3, abs=5 * np.sqrt(0.21 / 3000))
    assert len(moved) == len(heirs) == 300
    assert {page.gone_status for page in gone} == {404, 410}
    assert all(0 < page.born < 10 for page in born)
    assert all(0 < page.until < 10 for page in gone + moved)


def test_an_heir_goes_on_where_the_old_address_stops() -> None:
    """Same host, rate and worth; one address at a time; only the changes to come."""
    web = SyntheticWeb(WebShape(n_pages=1000, moved=0.1), 8)

    for old in web.pages:
        if old.moved_to is None:
            continue
        heir = web.pages[old.moved_to]
        assert (heir.host, heir.rate, heir.weight) == (old.host, old.rate, old.weight)
        assert heir.born == old.until
        assert heir.changes.tolist() == old.changes[old.changes > old.until].tolist()
        for day in (old.until - 1e-9, old.until, old.until + 1e-9):
            assert old.exists(day) is not heir.exists(day)


def test_a_version_counts_the_changes_so_far() -> None:
    """A change counts from its own instant on."""
    changes = np.array([1.0, 2.0, 2.0])
    page = SyntheticPage(0, 0, "/x/y", 1.0, 0.0, 9.0, changes, rate=1.0)

    assert [page.version(day) for day in (0.0, 0.999, 1.0, 2.0, 99.0)] == [0, 0, 1, 3, 3]
    assert [page.exists(day) for day in (-0.1, 0.0, 8.9, 9.0)] == [False, True, True, False]


def test_true_freshness_is_what_a_direct_count_says() -> None:
    """Pages that exist, plain and by weight; copies of pages that are gone do not count."""
    web = SyntheticWeb(WebShape(n_pages=300, days=10.0), 9)
    random = np.random.default_rng(9)
    copies = {page.number: random.uniform(0, 6) for page in web.pages if page.number % 3}

    there = [page for page in web.pages if page.born <= 6.0 < page.until]
    fresh = [
        page
        for page in there
        if page.number in copies
        and not np.any((page.changes > copies[page.number]) & (page.changes <= 6.0))
    ]
    plain, weighted = true_freshness(web.pages, 6.0, copies)

    assert plain == pytest.approx(len(fresh) / len(there))
    assert weighted == pytest.approx(
        sum(page.weight for page in fresh) / sum(page.weight for page in there)
    )


@pytest.mark.parametrize(
    ("message", "fields"),
    [
        ("hosts must be 1 to 8, got 0", {"n_hosts": 0}),
        ("hosts must be 1 to 8, got 9", {"n_hosts": 9}),
        ("at least one per host, got 3", {"n_pages": 3}),
        ("must be > 0", {"days": 0.0}),
        ("must be > 0", {"mean_changes_per_day": -1.0}),
        ("must be > 0", {"rate_shape": float("nan")}),
    ],
)
def test_shapes_that_make_no_web_are_refused(message: str, fields: dict[str, float]) -> None:
    """With the number that was given."""
    with pytest.raises(InvalidModel, match=message):
        WebShape(**fields)  # type: ignore[arg-type]


def test_a_web_in_which_nothing_is_born_moves_or_goes() -> None:
    """Every page exists all the time."""
    web = SyntheticWeb(STILL, 1)

    assert len(web.pages) == 40
    assert all(page.exists(day) for page in web.pages for day in (0.0, 15.0, 1e6))
