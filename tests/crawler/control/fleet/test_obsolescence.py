"""How long a copy may wait."""

from math import log

import pytest

from recrawl.crawler.control.fleet.obsolescence import patience_s


def test_a_copy_of_a_page_that_changes_often_is_obsolete_sooner() -> None:
    """Till it is as likely stale as fresh, within the bounds."""
    quick = patience_s(log(2.0) / 30.0, least_s=10.0, longest_s=600.0, usual_s=0.0)

    assert quick == pytest.approx(30.0)
    assert patience_s(1.0, least_s=10.0, longest_s=600.0, usual_s=0.0) == 10.0
    assert patience_s(1e-9, least_s=10.0, longest_s=600.0, usual_s=0.0) == 600.0
    for unknown in (None, 0.0):
        assert patience_s(unknown, least_s=10.0, longest_s=600.0, usual_s=0.0) == 600.0
    assert patience_s(1.0, least_s=10.0, longest_s=5.0, usual_s=0.0) == 5.0


def test_a_copy_is_not_given_up_before_another_would_be_served() -> None:
    """An indexer that is behind would otherwise have everything fetched over and over."""
    assert patience_s(1.0, least_s=10.0, longest_s=600.0, usual_s=100.0) == 200.0
    assert patience_s(1.0, least_s=10.0, longest_s=150.0, usual_s=100.0) == 150.0
