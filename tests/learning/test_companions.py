"""Groups of pages that are likely to change together."""

import numpy as np
import pytest

from recrawl.errors import InvalidModel
from recrawl.learning.companions import Companions, companions_of


def test_directories_are_a_tree_and_names_stand_beside_it() -> None:
    """Two translations, their neighbour, one level up, and another site."""
    made = companions_of(
        [
            ("a", "x/y/core.xml"),
            ("a", "x/y/core.xml.fr"),
            ("a", "x/y/log.xml"),
            ("a", "x/z.xml"),
            ("", "http://b/x/y?q=/1"),
        ]
    )

    folder = made.directories
    assert folder[0] == folder[1] == folder[2]
    assert made.parents[folder[0]] == folder[3]
    assert made.leaves[0, 1] == made.leaves[1, 1] != -1
    assert made.leaves[2:, 1].tolist() == [-1, -1, -1]
    site = made.parents[folder[3]]
    assert made.parents[site] == 0
    assert made.depths[[0, site, folder[3], folder[0]]].tolist() == [0, 1, 2, 3]
    assert made.parents[made.leaves[0, 1]] == site
    turned = made.renumbered(np.array([4, 3, 2, 1, 0]))
    assert turned.directories.tolist() == folder[::-1].tolist()


def test_groups_that_are_no_tree_are_refused() -> None:
    """Empty, around themselves, or not there."""
    two = np.zeros((1, 2), np.int64)
    with pytest.raises(InvalidModel, match="the first group is that of all pages"):
        Companions(np.zeros(0, np.int64), np.zeros(0, np.int64), two)
    with pytest.raises(InvalidModel, match="group 1 lies in group 2; a group must"):
        Companions(np.array([-1, 2, 1]), np.array([0, 1, 2]), two)
    with pytest.raises(InvalidModel, match=r"leaves must lie in -1 \.\. 1"):
        Companions(np.array([-1, 0]), np.array([0, 1]), two + 2)
