"""How soon the command line answers.  Bar: ``recrawl --help`` in under 0.3 s.

python bench/start_up.py
"""

import statistics
import subprocess
import sys
import time

LINES = (["--help"], ["search", "--help"], ["status", "--help"], ["run", "--help"])


def main() -> None:
    """Print the median and the quickest of eleven starts, beside a bare interpreter."""
    commands = {"python -c pass": [sys.executable, "-c", "pass"]}
    commands |= {
        " ".join(["recrawl", *line]): [sys.executable, "-m", "recrawl", *line] for line in LINES
    }
    for name, command in commands.items():
        seconds = []
        for _ in range(11):
            started = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            seconds.append(time.perf_counter() - started)
        print(f"{name:24} median {statistics.median(seconds):.3f} s, least {min(seconds):.3f} s")


if __name__ == "__main__":
    main()
