"""Settings for all tests."""

import gc
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants
from tests.places import memory

from recrawl.kernels import compile as loops

if (place := memory()) is not None:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(place))  # of `tmp_path`

# The first call of a compiled loop takes seconds, and no test may depend on the clock. What passes
# today passes tomorrow; `HYPOTHESIS_PROFILE=explore` looks for examples that nobody has seen yet.
TIMELESS = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("recrawl", TIMELESS, derandomize=True)
settings.register_profile("explore", TIMELESS, max_examples=1000)
settings.load_profile(PROFILE := os.environ.get("HYPOTHESIS_PROFILE", "recrawl"))
if PROFILE == "recrawl":
    # Else it also draws what stands in the sources of all modules that happen to be loaded, so that
    # examples differ with the tests that ran before in the same process.
    nothing = Constants()
    providers._get_local_constants = lambda: nothing


@pytest.fixture(autouse=True)
def _machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Test the compiled form of every loop, also where users would get the one as written.

    `tests/kernels/test_compile.py` compares the two.
    """
    monkeypatch.setattr(loops, "MANY_STEPS", -1.0)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Two megabytes, in memory; only root may mount it."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)]
    try:
        made = subprocess.run(mount, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount")
    if made.returncode:
        pytest.skip("no disk can be mounted here")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors: tests wait for servers, disks and other processes."""
    return len(os.sched_getaffinity(0)) + 1


def pytest_collection_finish() -> None:
    """What has been loaded stays, and is looked through for nothing at each collection."""
    gc.freeze()
