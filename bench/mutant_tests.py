"""Which tests reach a mutant of `bench/mutants.py`, and whether one of them notices it."""

import contextlib
import functools
import importlib.machinery
import json
import os
import re
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterable
from math import inf
from pathlib import Path
from typing import Any

from mutant_changes import ROOT, Mutant

TESTS = (
    "tests/crawler/control tests/crawler/runtime tests/crawler/wiring tests/crawler/reports "
    "tests/crawler/frontier tests/crawler/index tests/crawler/delivery/test_sinks.py "
    "tests/crawler/test_settings.py "
    "tests/crawler/delivery/test_troubles.py tests/freshness tests/learning tests/simulation "
    "tests/conformance/test_adapters.py tests/fleet/test_response.py tests/web/test_hubs.py "
    "tests/web/test_changes.py tests/cli/test_changes.py tests/cli/test_plan.py tests/sequencing "
    "tests/theory tests/integrations/test_scrapy_parts.py tests/api/test_crawling.py "
    "tests/crawler/fetch/reading/test_extract.py"
).split()
LIMIT_S = 30.0  # beyond twice what its tests take, before a mutant is said to hang


class Learning:
    """Notes which test is running, for the coverage, and how long each takes that passes."""

    def __init__(self, coverage: Any) -> None:
        self.coverage, self.seconds, self.failed = coverage, {}, set()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Say to the coverage that a test begins."""
        self.coverage.switch_context(nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Add what a part of a test took."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if not report.passed:
            self.failed.add(report.nodeid)


class Chosen:
    """Runs some tests, quickest first, and shrinks no example that fails."""

    def __init__(self, tests: list[str]) -> None:
        self.places = {test: place for place, test in enumerate(tests)}

    def pytest_sessionstart(self) -> None:
        """Leave out the search for the smallest example."""
        from hypothesis import Phase, settings

        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutants", settings.get_profile("recrawl"), phases=phases)
        settings.load_profile("mutants")

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Leave the chosen ones, in their order."""
        chosen = [item for item in items if item.nodeid in self.places]
        items[:] = sorted(chosen, key=lambda item: self.places[item.nodeid])


def run_tests(arguments: Iterable[str], plugin: object) -> int:
    """Run pytest in this process."""
    import pytest

    quiet = ["-q", "-p", "no:cacheprovider", "--randomly-dont-reorganize", "-m", "not slow"]
    return int(pytest.main([*quiet, "-W", "ignore::pytest.PytestWarning", *arguments], [plugin]))


def in_fork(work: Callable[[], int], limit_s: float) -> int | None:
    """Do some work in a process of its own; return how it ended, None where it hangs."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        os.setsid()
        with open(os.devnull, "r+b") as nothing:
            for stream in (0, 1, 2):
                os.dup2(nothing.fileno(), stream)
        resource.setrlimit(resource.RLIMIT_DATA, (6 << 30, 6 << 30))
        try:
            os._exit(work())
        finally:
            os._exit(3)
    until, ended = time.monotonic() + limit_s, 0
    while not ended and time.monotonic() < until:
        time.sleep(0.02)
        ended, status = os.waitpid(child, os.WNOHANG)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # it, or what it left behind
    if not ended:
        os.waitpid(child, 0)
        return None
    return os.waitstatus_to_exitcode(status)


def learn(known: Path) -> int:
    """Run every quick test once; keep which lines each reaches, and the seconds of each.

    Lines of every module count: what one defines, any other may use.
    """
    import coverage

    source = [str(ROOT / "src/recrawl")]
    cover = coverage.Coverage(str(known), source=source, branch=False, config_file=False)
    cover.start()
    plugin = Learning(cover)
    run_tests(TESTS, plugin)
    cover.stop()
    cover.save()
    passed = {test: s for test, s in plugin.seconds.items() if test not in plugin.failed}
    known.with_suffix(".json").write_text(json.dumps(passed))
    return 0


class Known:
    """Which tests reach a mutant, as a run of all of them has told."""

    def __init__(self, known: Path) -> None:
        import coverage

        self._data = coverage.CoverageData(str(known))
        self._data.read()
        self._seconds: dict[str, float] = json.loads(known.with_suffix(".json").read_text())
        self._reached = functools.cache(self._data.contexts_by_lineno)

    def tests(self, mutant: Mutant, seconds: float) -> list[str]:
        """Return the quickest tests of a mutant that take so many seconds together."""
        own = str(ROOT / mutant.path)
        if mutant.bound:
            found = self._naming(own, re.compile(rf"\b({mutant.bound})\b"))
            found = found or {test for n in self._reached(own) for test in self._at(own, n)}
        else:
            found = {test for n in mutant.lines for test in self._at(own, n)}
        return self._quickest(found, seconds)

    def tests_beside(self, mutant: Mutant, seconds: float) -> list[str]:
        """Return the quickest of the tests that reach its module elsewhere, as they may in time.

        What a process works out once, such as a table, only its first test reaches; the others
        use it.
        """
        own = str(ROOT / mutant.path)
        found = {test for n in self._reached(own) for test in self._at(own, n)}
        return self._quickest(found - set(self.tests(mutant, inf)), seconds)

    def _quickest(self, found: set[str], seconds: float) -> list[str]:
        chosen, total = [], 0.0
        for test in sorted(found, key=self._seconds.__getitem__):
            total += self._seconds[test]
            chosen += [test] if total <= seconds or not chosen else []
        return chosen

    def _naming(self, own: str, name: re.Pattern[str]) -> set[str]:
        """Return the tests that reach a line with a name, or stand in a file that has it."""
        others = [] if name.pattern.startswith(r"\b(_") else sorted(self._data.measured_files())
        found = {
            test
            for file in {own, *others}
            for n, line in enumerate(Path(file).read_text().splitlines(), start=1)
            if name.search(line)
            for test in self._at(file, n)
        }
        of_file: dict[str, list[str]] = {}
        for test in self._seconds:
            of_file.setdefault(test.split("::")[0], []).append(test)
        for file in of_file if others else ():
            if name.search((ROOT / file).read_text()):
                found.update(of_file[file])
        return found

    def _at(self, file: str, line: int) -> list[str]:
        return [test for test in self._reached(file).get(line, ()) if test in self._seconds]


def dies(mutant: Mutant, tests: list[str], seconds: float) -> bool:
    """Say whether any of these tests fails on a mutant."""
    name = mutant.path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__")
    name, true_code = name.replace("/", "."), importlib.machinery.SourceFileLoader.get_code
    made = compile(mutant.source(), str(ROOT / mutant.path), "exec")

    def code(self: Any, fullname: str) -> Any:
        return made if fullname == name else true_code(self, fullname)

    def work() -> int:
        importlib.machinery.SourceFileLoader.get_code = code
        return run_tests(["-x", *{test.split("::")[0] for test in tests}], Chosen(tests))

    return bool(tests) and in_fork(work, 2 * seconds + LIMIT_S) not in {0, 5}
