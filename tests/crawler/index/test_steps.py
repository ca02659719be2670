"""The step before the index: what a command may do, and what becomes of one that does not."""

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tests.ending import ends

from recrawl.crawler.index.steps import CommandStep, Step, Steps
from recrawl.crawler.settings import Settings
from recrawl.crawler.wiring.stores import open_steps
from recrawl.errors import StateError
from recrawl.terms import Document

PAGE = Document("http://a.test/", "Title", "some text", 1e9, b"s" * 16)


@contextmanager
def step(script: str, timeout_s: float = 20.0) -> Iterator[CommandStep]:
    """Run a step for a while; the script has ``line`` and the number ``n`` of the page."""
    lines = "\n ".join(script.split("\n"))
    program = f"import sys, json\nfor n, line in enumerate(sys.stdin):\n {lines}\n"
    made = CommandStep([sys.executable, "-Su", "-c", program], timeout_s=timeout_s)
    try:
        yield made
    finally:
        made.close()


def prepared(page: Document, *steps: Step) -> Document:
    """Have one page pass."""

    async def main() -> Document:
        return await made(page)

    made = Steps(steps)
    try:
        return asyncio.run(main())
    finally:
        made.close()


def test_what_the_command_answers_is_indexed() -> None:
    """In place of title and text; the signature stays that of the page."""
    script = "page = json.loads(line)\nprint(json.dumps({'text': page['text'] + ' horses'}))"
    with step(script) as command:
        assert prepared(PAGE, command) == replace(PAGE, text="some text horses")
        assert command.failures == 0


def test_steps_work_at_the_same_time_each_on_one_page() -> None:
    """Three pages meet in three steps, and no step ever has two."""
    met, at_work = threading.Barrier(3, timeout=30.0), [0, 0, 0]

    def meeting(number: int) -> Step:
        def pass_on(page: Document) -> Document:
            at_work[number] += 1
            assert at_work[number] == 1
            met.wait()
            at_work[number] -= 1
            return page

        return pass_on

    async def main() -> list[Document]:
        return list(await asyncio.gather(*(steps(PAGE) for _ in range(6))))

    steps = Steps([meeting(0), meeting(1), meeting(2)])
    try:
        assert asyncio.run(main()) == [PAGE] * 6
    finally:
        steps.close()


def test_an_empty_answer_leaves_the_page_and_the_command_stays() -> None:
    """One process serves all; pages longer than a pipe holds pass both ways."""
    page = Document(PAGE.url, "t", "é" * 200_000, 1e9, PAGE.signature)
    with step("print('{}' if n else line, end='\\n' if n else '')") as command:
        assert command(page) == page
        assert command(PAGE) == PAGE
        assert command.failures == 0


@pytest.mark.parametrize(
    "script",
    [
        "sys.exit(3)",
        "print('nonsense')",
        "print('[1]')",
        "print('{\"text\": 5}')",
        "print('[' * 9999)",
    ],
)
def test_a_page_on_which_it_fails_is_indexed_as_it_is(script: str) -> None:
    """And the fifth in a row ends it: then it is not the page."""
    with step(script) as command:
        for _ in range(4):
            assert command(PAGE) == PAGE
        with pytest.raises(StateError, match="5 pages in a row"):
            command(PAGE)


def test_no_answer_in_time_is_a_failure_and_the_next_page_a_new_start() -> None:
    """The command is killed, whatever it does."""
    with step("import os; os.read(os.pipe()[0], 1)", timeout_s=0.2) as command:
        assert command(PAGE) == PAGE
        assert command.failures == 1


def test_an_endless_answer_is_cut_off() -> None:
    """Memory stays bounded."""
    with step("while True: sys.stdout.write('x' * 65536)") as command:
        assert command(PAGE) == PAGE
        assert command.failures == 1


def test_a_command_that_cannot_be_started_says_so() -> None:
    """At the first page."""
    with pytest.raises(StateError, match="no-such-program"):
        CommandStep(["no-such-program"], timeout_s=1.0)(PAGE)


def test_what_cannot_be_shown_is_not_indexed() -> None:
    """Whatever the step makes of a page; address, time and signature stay."""
    made = prepared(PAGE, lambda page: Document("x", "a\x1b[2J\u202eb", "c\x00d", 0.0, b""))

    assert made == replace(PAGE, title="a [2J b", text="c d")


def test_the_configuration_has_one_for_each_server(tmp_path: Path) -> None:
    """As many processes as servers; none without a command."""
    program = 'import os, sys\nfor line in sys.stdin: print(\'{"text": "%d"}\' % os.getpid())'
    command = (sys.executable, "-Suc", program)
    settings = Settings(
        ("http://a.test/",), "mailto:me@a.test", tmp_path, index_command=command, n_servers=2
    )

    steps = open_steps(settings)
    assert isinstance(steps, Steps)

    async def main(prepare: Steps) -> list[Document]:
        return [await prepare(PAGE) for _ in range(4)]

    try:
        assert len({page.text for page in asyncio.run(main(steps))}) == 2
    finally:
        steps.close()
    assert open_steps(replace(settings, index_command=(), n_servers=1)) is None


def test_a_command_and_what_it_started_end_with_the_crawl(tmp_path: Path) -> None:
    """Even when that is killed in the middle of a page."""
    told = tmp_path / "told"
    os.mkfifo(told)
    command = f"sleep 600 & echo $$ $! > {told}; wait"
    script = (
        "from recrawl.crawler.index.steps import CommandStep\n"
        "from recrawl.terms import Document\n"
        f"step = CommandStep(['sh', '-c', {command!r}], timeout_s=60.0)\n"
        "step(Document('http://a.test/', '', '', 0.0, b''))\n"
    )
    with subprocess.Popen([sys.executable, "-c", script]) as crawl:
        pids = [int(word) for word in told.read_text().split()]  # from when both have started
        crawl.kill()

    assert len(pids) == 2
    assert all(ends(pid, within_s=30.0) for pid in pids)
