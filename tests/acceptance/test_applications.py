"""Stock applications are crawled whole, and little else, by their logs: the bench in short."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dokuwiki", "apache", "nginx"])
def test_a_stock_application_is_crawled_whole_and_little_else(name: str) -> None:
    """Every content page is fetched and found once; at most 15 % of the requests go elsewhere."""
    command = [sys.executable, "bench/applications.py", name, "--pages", "60", "--later", "0"]
    done = subprocess.run(
        [*command, "--verbose"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=600
    )

    if "skipped" in done.stdout:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    assert "content 6" in done.stdout
