"""Bad input of every kind for every argument of every verb, made from the command tree itself.

Bar: at least 2,000 of them; each ends with exit code 2 (or 1, or 0 where the value can be meant),
in one message without a traceback, within its time, and where it is refused nothing is written.

Each runs in a process of its own, forked from one that has everything imported.

    python bench/bad_inputs.py                     all
    python bench/bad_inputs.py plan search         those of two verbs
    python bench/bad_inputs.py --every 20          every twentieth
"""

import argparse
import io
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import recrawl.cli.app
from recrawl.cli.robots.model_file import EXAMPLE
from recrawl.crawler.control.urls import host_of
from recrawl.crawler.frontier.sqlite import SqliteFrontier
from recrawl.crawler.index.tantivy import TantivyIndex
from recrawl.crawler.ports import AdmissionLimits
from recrawl.terms import Discovery, Document, Kind

LIMIT_S = 40.0
MEMORY = 8 << 30
CONFIG = 'seeds = ["http://127.0.0.1:9/"]\ncontact = "me@site.test"\nstate = "state"\n'
ALLOWED = '[politeness]\nallow_private = ["127.0.0.1"]\n'

# One call of each verb in which everything is right.
RIGHT: dict[str, list[str]] = {
    "init": ["init", "http://site.test/", "--contact", "me@site.test", "--out", "new.toml"],
    "run": ["run", "crawl.toml", "--for", "100ms", "--quiet"],
    "visit": ["visit", "http://127.0.0.1:9/", "--state", "state", "--timeout", "1s"],
    "status": ["status", "--state", "state"],
    "explain": ["explain", "http://127.0.0.1:9/0", "--state", "state"],
    "importance from-log": ["importance", "from-log", "access.log", "--state", "state"],
    "importance from-table": [
        "importance",
        "from-table",
        "clicks.csv",
        "--address",
        "url",
        "--count",
        "clicks",
        "--state",
        "state",
    ],
    "search": ["search", "words", "--state", "state"],
    "serve": ["serve", "--state", "state", "--port", "0", "--quiet", "--until-eof"],
    "export": ["export", "pages", "--out", "out.csv", "--state", "state"],
    "changes": ["changes", "--state", "state"],
    "extract": ["extract", "page.html"],
    "deliver": ["deliver", "--config", "deliver.toml", "--once"],
    "sync": ["sync", "out", "--config", "deliver.toml"],
    "check": ["check", "--state", "state"],
    "backup": ["backup", "copy", "--state", "state"],
    "restore": ["restore", "copied", "--state", "anew"],
    # Right but for its database, which nobody runs there.
    "move": ["move", "state", "postgresql://nobody@127.0.0.1:1/none"],
    "plan": ["plan", "pages.csv", "--budget", "10/d"],
    "order": ["order", "plan.csv"],
    "probe": ["probe", "dbworld", "--probes", "3"],
    "robots": ["robots", "--buffer", "3", "--fetch-rate", "1", "--index-rate", "2"],
    "simulate": ["simulate", "model.toml", "--events", "4000"],
    "backtest": ["backtest", "history.csv", "--budget", "1x", "--policies", "uniform"],
    "history from-git": ["history", "from-git", "repo"],
    "history from-cdx": ["history", "from-cdx", "site.cdxj"],
    "history from-warc": ["history", "from-warc", "site.warc.gz"],
    "history from-sitemaps": ["history", "from-sitemaps", "sitemap-2026-01-05.xml"],
    "history from-nutch": ["history", "from-nutch", "nutch.txt"],
    "history from-stormcrawler": ["history", "from-stormcrawler", "stormcrawler.ndjson"],
    "history from-changedetection": ["history", "from-changedetection", "changedetection"],
    "history from-log": [
        "history",
        "from-log",
        "agent.log",
        "--agent",
        "Nutch",
        "--host",
        "http://site.test/",
    ],
    "history from-visits": ["history", "from-visits", "visits.csv"],
    "fit arrivals": ["fit", "arrivals", "arrivals.csv"],
    "fit service": ["fit", "service", "--moments", "2,9"],
    "fit events": ["fit", "events", "events.csv"],
    "fit changes": ["fit", "changes", "visits.csv"],
    "reproduce": ["reproduce", "altman-figure-1"],
    "demo": ["demo", "--seconds", "2", "--pages", "20", "--hosts", "1"],
}
COMMON = ["", "\x1b[31mred", "[/b]", "[link=http://evil]x", "\udcff", "x" * 5000, "☃"]
BAD: dict[str, list[str]] = {
    "int": ["x", "1.5", "-1", "9" * 20, "9" * 40, "9223372036854775807", "1e3", "nan", "٣"],
    "float": ["x", "nan", "inf", "-1", "1e308", "-1e308", "1e-308", "1e999"],
    "text": [
        "soon", "-1s", "1e308y", "1e-9s", "nan", "0/h", "-1/h", "1e308/h", "1e308,1e308", "1,,2",
        "9" * 40, "inf", "1:1e308:9", "0.1:10:9999999999", "a=b", "nowhere",
    ],
    "in": [
        "nowhere.csv", "folder", "empty.csv", "binary.dat", "flipped.parquet", "cut.parquet",
        "deep.jsonl", "deep.json", "deep.toml", "latin.csv", "double.csv", "nul.csv", "mark.toml",
        "ragged.toml", "wide.csv", "huge.csv", "names.parquet", "one-each.csv", "same.csv",
    ],
    "out": ["nowhere/x.csv", "folder", "x.xlsx", "/proc/x.csv", "folder/nowhere/x.json"],
    "bool": [],
    "choice": ["nowhere", "9"],
}  # fmt: skip
OUTPUTS = ("out", "plot", "log", "pages")


@dataclass(frozen=True)
class Case:
    """One bad call: the verb, what is bad, and all of it."""

    verb: str
    what: str
    arguments: tuple[str, ...]
    surely: bool  # whether there is no way to mean it


def make_folder(folder: Path) -> None:
    """Write what right calls and bad ones need."""
    (folder / "folder").mkdir()
    rows = [f"http://a.test/{n},{0.1 * n + 0.1:g},1" for n in range(8)]
    text = {
        "pages.csv": "\n".join(["url,change_rate,weight", *rows]),
        "plan.csv": "\n".join(["url,crawl_rate,change_rate", *rows]),
        "double.csv": "url,change_rate,change_rate,at,at,crawl_rate\na,1,2,3,4,5\n",
        "same.csv": "url,change_rate,crawl_rate\n" + "http://a.test/,1,1\n" * 30,
        "wide.csv": "url,change_rate,at,arrived_at,robots\na,1\nb,2,3,4,5,6,7,8,9\n",
        "huge.csv": "url,change_rate,weight,crawl_rate\na,1e308,1e308,1e308\nb,1e308,1e308,1e308\n",
        "one-each.csv": "source,at\n"
        + "".join(f"s{n},2026-01-0{n}T00:00:00Z\n" for n in range(1, 7)),
        "empty.csv": "",
        "deep.jsonl": '{"url":' + "[" * 100_000 + "\n",
        "deep.json": '{"intensity":' + "[" * 100_000,
        "deep.toml": "capacity = " + "[" * 50_000,
        "mark.toml": "\ufeff" + CONFIG + "\x01",
        "ragged.toml": EXAMPLE.replace("[[-10, 2], [0, -0.5]]", "[[-10, 2, 7], [0]]"),
        "model.toml": EXAMPLE,
        "crawl.toml": CONFIG + ALLOWED,
        "deliver.toml": f'{CONFIG}{ALLOWED}[[deliver]]\nto = "out.ndjson"\nname = "out"\n',
        "arrivals.csv": "arrived_at,robots\n"
        + "".join(f"{n * n % 97 + 97 * n},1\n" for n in range(60)),
        "events.csv": "at\n"
        + "".join(f"2026-01-{n % 28 + 1:02}T0{n % 9}:00:00Z\n" for n in range(28)),
        "visits.csv": "url,visited_at,changed\n"
        + "".join(
            f"a,2026-01-{n:02}T00:00:00Z,{'true' if n % 3 else 'false'}\n" for n in range(1, 29)
        ),
        "access.log": '1.2.3.4 - - [22/Nov/2026:10:00:00 +0000] "GET /0 HTTP/1.1" 200 9 "-" '
        '"Firefox"\n',
        "clicks.csv": "url,clicks\nhttp://127.0.0.1:9/0,3\n",
        "history.csv": "page,changed_at\n"
        + "".join(f"a{n % 3},2026-01-{n:02}T0{n % 3}:00:00Z\n" for n in range(1, 29)),
    }
    samples = Path(__file__).resolve().parents[1] / "tests" / "captures" / "samples"
    shutil.copytree(samples, folder, dirs_exist_ok=True)
    shutil.copy(samples / "access.log", folder / "agent.log")
    for name, content in text.items():
        (folder / name).write_text(content, encoding="utf-8")
    (folder / "latin.csv").write_bytes(
        "url,change_rate,at\né,1,2026-01-01T00:00:00Z\n".encode("latin-1")
    )
    (folder / "page.html").write_text("<title>Page</title><main>Words</main>")
    (folder / "nul.csv").write_bytes(b"url,change_rate,at\na\0b,1,2026-01-01T00:00:00Z\n")
    (folder / "binary.dat").write_bytes(bytes(range(256)) * 20)
    table = pa.table(
        {"url": [f"http://a.test/{n}" for n in range(500)], "change_rate": np.arange(500.0)}
    )
    sink = io.BytesIO()
    pq.write_table(table, sink)
    whole = sink.getvalue()
    (folder / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    flipped = bytearray(whole)
    for place in range(200, len(whole), 97):
        flipped[place] ^= 0xFF
    (folder / "flipped.parquet").write_bytes(flipped)
    pq.write_table(
        pa.table([pa.array([1.0]), pa.array([2.0])], names=["a", "a"]), folder / "names.parquet"
    )
    _make_state(folder / "state")


def _make_state(folder: Path) -> None:
    frontier = SqliteFrontier(folder, read_only=False)
    urls = [f"http://127.0.0.1:9/{number}" for number in range(3)]
    found = [Discovery(url, host_of(url), Kind.PAGE, 0, 0, 1.0, None, None) for url in urls]
    frontier.admit(found, 1e9, AdmissionLimits())
    frontier.close()
    index = TantivyIndex(folder / "index")
    index.replace(
        Document(urls[0], "some [/b] title", "words and [link=http://evil]", 1e9, b"s" * 16)
    )
    index.commit()
    index.close()


def cases() -> Iterator[Case]:
    """Yield bad calls: each argument of each verb with each kind of bad value."""
    for verb, right in RIGHT.items():
        words = verb.split()
        surely = verb != "search"  # there options of other programs are words to look for
        yield Case(verb, "an option that there is none of", (*right, "--nosuchoption", "1"), surely)
        yield Case(verb, "an argument that is no UTF-8", (*right, "\udcff"), True)
        if len(words) == 1:
            yield Case(verb, "a verb that there is none of", (words[0] + "x", *right[1:]), True)
        app: Any = recrawl.cli.app.app
        for word in words:
            app = app[word]
        for argument in app.assemble_argument_collection():
            if argument.parameter.show is False:
                continue
            yield from _of_argument(verb, right, argument)


def _of_argument(verb: str, right: list[str], argument: Any) -> Iterator[Case]:
    kind = _kind(argument)
    options = [name for name in argument.names if name.startswith("--")]
    named = bool(options) and not argument.field_info.is_positional_only
    for value in [*BAD[kind], *COMMON] if kind != "bool" else ["maybe", "", "9"]:
        surely = value == "\udcff" or (
            kind in ("int", "float") and value in ("x", "", "nan", "1e999")
        )
        surely = surely or kind in {"choice", "bool"}
        if not named:
            yield Case(
                verb, f"{argument.name} = {value[:40]!r}", _replaced(right, verb, value), surely
            )
        elif kind == "bool":
            yield Case(verb, f"{options[0]}={value}", (*right, f"{options[0]}={value}"), surely)
        else:
            without = _without(right, argument.names)
            yield Case(verb, f"{options[0]} {value[:40]!r}", (*without, options[0], value), surely)
    if named and kind != "bool":
        yield Case(
            verb,
            f"{options[0]} without a value",
            (*_without(right, argument.names), options[0]),
            True,
        )
        typo = f"{options[0][:-1]}q" if len(options[0]) > 4 else f"{options[0]}zz"
        yield Case(verb, f"{typo} 1", (*right, typo, "1"), True)


def _kind(argument: Any) -> str:
    hint = argument.hint
    inner = [part for part in get_args(hint) if part is not type(None)]
    if get_origin(hint) is Literal:
        return "choice"
    if inner and get_origin(hint) is not None:
        hint = inner[0]
    if get_origin(hint) is Literal:
        return "choice"
    if hint is Path:
        return "out" if argument.name.lstrip("-") in OUTPUTS else "in"
    return {int: "int", float: "float", bool: "bool"}.get(hint, "text")


def _without(right: list[str], names: Sequence[str]) -> tuple[str, ...]:
    kept, skip = [], False
    for word in right:
        if skip:
            skip = False
        elif word in names:
            skip = True
        else:
            kept.append(word)
    return tuple(kept)


def _replaced(right: list[str], verb: str, value: str) -> tuple[str, ...]:
    first = len(verb.split())
    rest = right[first:]
    if rest and not rest[0].startswith("-"):
        rest = rest[1:]
    return (*right[:first], value, *rest)


def run(case: Case, whole: Path) -> str:
    """Run one call; return what was wrong with how it ended, or nothing."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name) / "at"
        shutil.copytree(whole, folder)
        before = _listed(folder)
        child = os.fork()
        if child == 0:
            _end(case, folder, Path(name))
        code, over = _wait(child)
        said = (Path(name) / "err").read_text(encoding="utf-8", errors="replace")
        shown = (Path(name) / "out").read_text(encoding="utf-8", errors="replace")
        if over:
            return f"took more than {LIMIT_S:g} s"
        return _judged(case, code, said, shown, written=_listed(folder) - before)


def _judged(case: Case, code: int, said: str, shown: str, *, written: set[str]) -> str:
    lines = [line for line in said.splitlines() if line.startswith("recrawl: ")]
    if code not in (0, 1, 2):
        return f"exit code {code}: {said[-300:]}"
    if "Traceback" in said or "panicked" in said:
        return f"traceback: {said[-300:]}"
    if case.surely and code != 2:
        return f"exit code {code}, not 2: {said[-200:]}"
    if code and len(lines) != 1:
        return f"{len(lines)} messages: {said[-300:]}"
    if code == 2 and written:
        return f"wrote {sorted(written)[:5]}"
    if "\x1b" in said + shown:
        return "an escape sequence"
    if code == 0 and any(f" {word}" in shown for word in ("inf/", "nan/", "nan ", "inf ")):
        return f"nonsense: {shown[:300]}"
    return ""


def _end(case: Case, folder: Path, beside: Path) -> None:
    """Be the process that runs the call; does not return."""
    code = 99
    try:
        os.setsid()
        os.chdir(folder)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        nothing, end = os.pipe()
        os.close(end)
        os.dup2(nothing, 0)
        for number, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(beside / name, os.O_WRONLY | os.O_CREAT), number)
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), encoding="utf-8")
        sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), encoding="utf-8")
        signal.signal(signal.SIGINT, signal.default_int_handler)
        recrawl.cli.app.main(list(case.arguments))
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 98
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _wait(child: int) -> tuple[int, bool]:
    until = time.monotonic() + LIMIT_S
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), False
        time.sleep(0.005)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return 0, True


def _listed(folder: Path) -> set[str]:
    return {
        f"{path.relative_to(folder)} {path.stat().st_size if path.suffix != '.sqlite3' else ''}"
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith(("-wal", "-shm", ".lock", "lock"))
    }


def load() -> None:
    """Import what verbs import, once for all processes."""
    for _, target, _, _ in recrawl.cli.app.VERBS:
        __import__(f"recrawl.cli.{target.partition(':')[0]}")
    for part in ("arrivals", "service_times", "events", "changes"):
        __import__(f"recrawl.cli.fit.{part}")
    __import__("recrawl.cli.probe.many")


def main() -> None:
    """Try them, and print what was wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("verbs", nargs="*", metavar="VERB")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--at-once", type=int, default=2)
    arguments = parser.parse_args()
    chosen = [one for one in cases() if not arguments.verbs or one.verb in arguments.verbs]
    chosen = chosen[:: arguments.every]
    if arguments.list:
        print("\n".join(f"{one.verb}: {one.what}" for one in chosen))
        return
    load()
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        whole = Path(name) / "whole"
        whole.mkdir()
        child = os.fork()  # no thread of SQLite or the index is to be forked later
        if child == 0:
            make_folder(whole)
            os._exit(0)
        os.waitpid(child, 0)
        share = [chosen[k :: arguments.at_once] for k in range(arguments.at_once)]
        workers = []
        for part in share:
            read, write = os.pipe()
            worker = os.fork()
            if worker == 0:
                with os.fdopen(write, "w", encoding="utf-8", errors="backslashreplace") as told:
                    for case in part:
                        told.write(json.dumps([case.verb, case.what, run(case, whole)]) + "\n")
                        told.flush()
                os._exit(0)
            os.close(write)
            workers.append((worker, read))
        with ThreadPoolExecutor(len(workers)) as pool:
            wrong = sum(pool.map(lambda worker: _heard(worker[1]), workers))
        for worker, _ in workers:
            os.waitpid(worker, 0)
    print(
        f"{len(chosen):,} bad inputs of {len({one.verb for one in chosen})} verbs, "
        f"{wrong} ended badly"
    )
    sys.exit(1 if wrong else 0)


def _heard(pipe: int) -> int:
    wrong = 0
    with os.fdopen(pipe, encoding="utf-8", errors="backslashreplace") as lines:
        for line in lines:
            verb, what, problem = json.loads(line)
            if problem:
                wrong += 1
                print(f"{verb}, {what}: {problem}", flush=True)
    return wrong


if __name__ == "__main__":
    main()
