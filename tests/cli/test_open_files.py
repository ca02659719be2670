"""As many files as a crawl needs: connections are most of them."""

import resource

import pytest

from recrawl.cli.crawler.open_files import allow_open_files
from recrawl.errors import InputError

FILES = resource.RLIMIT_NOFILE


@pytest.mark.parametrize(
    ("limits", "raised"),
    [
        ((256, 4096), [(4096, 4096)]),
        ((4096, 4096), []),
        ((256, -1), [(10_000, -1)]),
        ((20_000, 99_999), []),
        ((-1, -1), []),
    ],
)
def test_a_crawl_may_open_as_many_files_as_it_needs(
    monkeypatch: pytest.MonkeyPatch, limits: tuple[int, int], raised: list[tuple[int, int]]
) -> None:
    """Not the few that old programs can do with."""
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda _, wanted: told.append(wanted))

    allow_open_files(200)

    assert told == raised


def test_robots_for_which_files_are_too_few_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else hosts would be blamed for what this machine does not let the crawl do."""
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 256))

    with pytest.raises(InputError, match=r"robots: 200 .* may have 256; .*robots = 106"):
        allow_open_files(200)
    allow_open_files(106)


def test_no_number_of_robots_is_proposed_where_none_would_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It said to have one robot, and then the same to whoever had."""
    monkeypatch.setattr(resource, "getrlimit", lambda _: (64, 64))

    with pytest.raises(InputError, match=r"`ulimit -n 4096`\)$"):
        allow_open_files(1)
