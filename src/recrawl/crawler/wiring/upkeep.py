"""A state directory looked through, mended, copied and brought back."""

import contextlib
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from recrawl.crawler.frontier.salvage import database_faults, reindexed, salvaged
from recrawl.crawler.frontier.sqlite import SqliteFrontier
from recrawl.crawler.frontier.store import DATABASE, copy_database, holder, lock_state
from recrawl.crawler.index.files import (
    damaged_files,
    has_copies,
    named_files,
    orphans,
    set_aside,
    snapshot,
)
from recrawl.crawler.index.schema import index_exists
from recrawl.crawler.index.tantivy import TantivyIndex
from recrawl.crawler.ports import StatePlace
from recrawl.crawler.runtime.agreement import ENDED_IN_ORDER, UNDER_WAY, partings, recover
from recrawl.crawler.wiring.indexes import open_index
from recrawl.crawler.wiring.stores import is_running, mended_database, open_frontier
from recrawl.errors import DamagedState, InputError, OtherVersion, StateError
from recrawl.terms import Database

_TOLD: Final = 20  # pages and files that are named; of others only the number is told


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong.

    Parameters
    ----------
    part : ``state``, ``index`` or ``pages`` (state against index)
    what : what is wrong, for people
    """

    part: str
    what: str


def is_lost(state: Path) -> bool:
    """Tell whether the database is gone or empty while the index beside it holds copies."""
    path = state / DATABASE
    gone = not path.exists() or not path.stat().st_size
    return gone and has_copies(state / "index")


def check(state: StatePlace) -> list[Fault]:
    """Look through everything: the database, every byte of the index, and each page in both.

    Works beside a running crawl; nothing is changed.

    Raises
    ------
    StateError
        There is no crawl, or one that an older or a newer version wrote, or it cannot be looked
        through, as on a full disk.
    """
    if not isinstance(state, Path):
        return _database_page_faults(state)
    if is_lost(state):
        return [Fault("state", f"{DATABASE} is gone or empty, though the index holds copies")]
    path = state / DATABASE
    if not path.exists():
        raise StateError(f"{state} holds no crawl: {DATABASE} is not there")
    faults = [Fault("state", f"{DATABASE}: {what}") for what in database_faults(path)]
    if not faults:
        SqliteFrontier(state, read_only=True).close()  # another version's is refused here
    faults += _index_faults(state)
    if not faults:
        faults += _page_faults(state)
    return faults


def _index_faults(state: Path) -> list[Fault]:
    directory, is_running = state / "index", holder(state) is not None
    if not index_exists(directory):
        return []  # what the state says it should hold is told page by page
    try:
        faults = [Fault("index", f"{name} {why}") for name, why in damaged_files(directory)]
        if not is_running:
            left = [Fault("index", f"{name} belongs to no commit") for name in orphans(directory)]
            faults += _shortened(left)
        if not faults:
            TantivyIndex(directory, read_only=True)
    except DamagedState as error:
        return [Fault("index", str(error))]
    return faults


def _page_faults(state: Path) -> list[Fault]:
    frontier = SqliteFrontier(state, read_only=True)
    try:
        if not index_exists(state / "index"):
            n = frontier.n_indexed()
            return [Fault("pages", f"{n:,} pages have no copy: there is no index")] if n else []
        index = TantivyIndex(state / "index", read_only=True)
        found = partings(frontier, index)
        if found and holder(state) is not None:  # only what stays so is wrong, not under way
            again = set(partings(frontier, TantivyIndex(state / "index", read_only=True)))
            found = [parting for parting in found if parting in again]
        faults = [Fault("pages", f"{parting.url} {parting.words}") for parting in found]
        if n := frontier.feed.n_untold():
            faults.append(Fault("state", f"the feed does not tell how {n:,} pages are"))
        if holder(state) is None:
            faults += [
                Fault("pages", f"{url} was being indexed when a process ended")
                for _, url, _ in frontier.in_indexing()
            ]
    except ValueError as error:
        return [Fault("index", f"cannot be read: {error}")]
    finally:
        frontier.close()
    return _shortened(faults)


def _database_page_faults(database: Database) -> list[Fault]:
    """Compare page by page; a database looks after its bytes itself."""
    with (
        closing(open_frontier(database, read_only=True)) as frontier,
        closing(open_index(database, read_only=True)) as index,
    ):
        found = partings(frontier, index)
        if found and is_running(database):  # only what stays so is wrong, not under way
            again = set(partings(frontier, index))
            found = [parting for parting in found if parting in again]
        faults = [Fault("pages", f"{parting.url} {parting.words}") for parting in found]
        if n := frontier.feed.n_untold():
            faults.append(Fault("state", f"the feed does not tell how {n:,} pages are"))
    return _shortened(faults)


def _shortened(faults: list[Fault]) -> list[Fault]:
    if len(faults) <= _TOLD:
        return faults
    more = Fault(faults[0].part, f"and {len(faults) - _TOLD:,} more like this")
    return [*faults[:_TOLD], more]


def repair(state: StatePlace) -> list[str]:
    """Mend what can be mended; return what was done, in words.

    Nothing is thrown away that might be of use: what was damaged is moved to a folder beside it.

    Raises
    ------
    StateError
        A crawl is running, the state is another version's, or there is no room to mend it.
    """
    if not isinstance(state, Path):
        return mended_database(state)
    if not state.is_dir() or not ((state / DATABASE).exists() or (state / "index").is_dir()):
        raise StateError(f"{state} holds no crawl")
    lock = lock_state(state)
    try:
        done = _mend_database(state) + mend_index(state)
    finally:
        lock.release()
    return done + _agreed(state)


def _mend_database(state: Path) -> list[str]:
    path = state / DATABASE
    if not path.exists() or not path.stat().st_size:
        return [f"{DATABASE} was begun anew"]
    if not database_faults(path):
        return []
    if reindexed(path):
        return [f"the indexes of {DATABASE} were made anew"]
    aside, part = _aside(state), path.with_name(f"{DATABASE}.part")
    _drop_database(part)
    try:  # what is damaged stays in its place until all is written that takes it
        counts = salvaged(path, part)
        aside.mkdir(mode=0o700)
        for name in _files_of(path):
            with contextlib.suppress(FileNotFoundError):
                os.replace(name, aside / name.name)
        os.replace(part, path)
    finally:
        _drop_database(part)
    kept = ", ".join(f"{n:,} of {table}" for table, n in counts.items() if n)
    return [f"{DATABASE} was damaged and lies in {aside}; rows kept: {kept or 'none'}"]


def _files_of(database: Path) -> list[Path]:
    return [database.with_name(f"{database.name}{end}") for end in ("", "-wal", "-shm")]


def _drop_database(path: Path) -> None:
    for name in _files_of(path):
        name.unlink(missing_ok=True)


def mend_index(state: Path) -> list[str]:
    """Take what is damaged out of the index; only for whoever holds the right to write."""
    directory = state / "index"
    if not index_exists(directory):
        return []
    try:
        damaged = {name for name, _ in damaged_files(directory)}
        segments = [
            segment for segment, names in named_files(directory).items() if damaged & set(names)
        ]
        if segments:
            aside = _aside(state)
            set_aside(directory, segments, aside)
            return [f"{len(segments)} damaged parts of the index were moved to {aside}"]
        TantivyIndex(directory, read_only=True)
    except DamagedState:
        aside = _aside(state)
        os.replace(directory, aside)
        return [f"the index could not be read; it lies in {aside}, and a new one was begun"]
    except OtherVersion:
        pass  # whole; begun anew by whoever opens it to write
    return []


def _agreed(state: Path) -> list[str]:
    """Open everything as a crawl does, compare all pages, and leave it as after a clean stop."""
    n_left = len(orphans(state / "index")) if index_exists(state / "index") else 0
    with contextlib.ExitStack() as stack:
        frontier = SqliteFrontier(state)
        stack.callback(frontier.close)
        frontier.save_facts(UNDER_WAY)
        index = TantivyIndex(state / "index")
        stack.callback(index.close)
        now_s = max(time.time(), frontier.facts().instant.now_s or 0.0)
        mended = recover(frontier, index, now_s)
        frontier.save_facts(ENDED_IN_ORDER)
    removed = [f"{n_left:,} files that belong to no commit were removed"] if n_left else []
    return removed + mended.words


def back_up(state: Path, target: Path) -> int:
    """Copy a state directory, while it may be crawled, into one that passes :func:`check`.

    Parameters
    ----------
    state : the directory, which is only read
    target : the copy: not there yet, or an empty directory

    Returns
    -------
    Bytes of the copy.

    Raises
    ------
    InputError
        There is something at ``target``.
    StateError
        There is no crawl, or what it has is damaged.
    """
    if not (state / DATABASE).exists():
        raise StateError(f"{state} holds no crawl: {DATABASE} is not there")
    with _complete(target) as part:
        # The index first: what it holds the database knows by then.
        if index_exists(state / "index"):
            snapshot(state / "index", part / "index")
        copy_database(state / DATABASE, part / DATABASE)
    return sum(path.stat().st_size for path in target.rglob("*") if path.is_file())


def restore(source: Path, state: Path) -> None:
    """Make a state directory of a copy, which stays as it is.

    Parameters
    ----------
    source : the copy, as :func:`back_up` makes it
    state : the directory: not there yet, or empty

    Raises
    ------
    InputError
        ``source`` is no copy, or there is something at ``state``.
    StateError
        The copy is damaged, or a newer version's.
    """
    if not (source / DATABASE).is_file():
        raise InputError(f"{source} holds no backup: {DATABASE} is not there")
    with _complete(state) as part:
        part.rmdir()
        try:
            shutil.copytree(source, part)
        except shutil.Error as error:  # which has a text for each file
            raise StateError(f"{state}: {error.args[0][0][2]}; nothing was changed") from error
        part.chmod(0o700)


@contextlib.contextmanager
def beside(target: Path) -> Iterator[Path]:
    """Have a directory made beside its place, made whole, and only then put there.

    Raises
    ------
    InputError
        There is something at ``target``.
    StateError
        It cannot be made.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InputError(f"{target} is not empty; move it away, or choose another directory")
    part = target.with_name(f"{target.name}.part")
    try:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(mode=0o700, parents=True)
        yield part
        if target.is_dir():
            target.rmdir()
        os.replace(part, target)
    except OSError as error:
        raise StateError(f"{target}: {error.strerror or error}; nothing was changed") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


@contextlib.contextmanager
def _complete(target: Path) -> Iterator[Path]:
    with beside(target) as part:
        yield part
        _agreed(part)
        faults = check(part)
        if faults:
            raise StateError(f"the copy is damaged: {faults[0].what}; `recrawl check` tells more")
        (part / "lock").unlink(missing_ok=True)


def _aside(state: Path) -> Path:
    """Return a folder that is not there yet."""
    number = 1
    while (state / f"damaged-{number}").exists():
        number += 1
    return state / f"damaged-{number}"
