"""`kill -9` aimed at single operations on files: nothing is bricked, nothing is lost.

`bench/aimed_kills.py` aims at every one of them.
"""

from pathlib import Path

import pytest
from tests.kills.aim import Aim, Aiming, compiled_shim

N_AIMS = 40


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_whatever_operation_is_the_last_the_next_start_goes_on(tmp_path: Path) -> None:
    """From the making of the directory to the last write, each followed by a whole life."""
    shim = compiled_shim(tmp_path)
    if shim is None:
        pytest.skip("needs a C compiler")
    aiming = Aiming(tmp_path, shim)
    with aiming.victims() as victims:
        aiming.live(victims, Aim(3))
        operations = aiming.live(victims, Aim(-1))
        assert operations is not None, aiming.report.broken
        for number in range(N_AIMS):
            aiming.live(victims, Aim(1 + operations * number // N_AIMS, torn=number % 2 == 0))
            if number % 2:
                aiming.live(victims, Aim(20 + 3 * number))
            aiming.live(victims, Aim(-1))

    assert aiming.report.broken == []
    assert aiming.report.kills >= N_AIMS
