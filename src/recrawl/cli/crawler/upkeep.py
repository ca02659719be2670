"""`recrawl check`, `backup`, `restore`: is the state of a crawl whole, and copies of it."""

from dataclasses import asdict
from pathlib import Path

from recrawl.cli.crawler.place import DEFAULT_CONFIG, HERE, CrawlNamed
from recrawl.cli.options import Json, JsonOfWritten
from recrawl.cli.output import note, print_json, say
from recrawl.crawler.ports import StatePlace
from recrawl.crawler.settings import load_settings, place_of
from recrawl.crawler.wiring.upkeep import back_up
from recrawl.crawler.wiring.upkeep import check as look_through
from recrawl.crawler.wiring.upkeep import repair as mend
from recrawl.crawler.wiring.upkeep import restore as bring_back
from recrawl.errors import InputError


def check(
    *,
    crawl: CrawlNamed = HERE,
    repair: bool = False,
    json_: Json = False,
) -> int:
    """Look through state and index: every table, every byte, every page in both.

    Exits with 1 and a list if anything is wrong. Works beside a running crawl.

    Parameters
    ----------
    repair
        Mend what can be mended and tell what was done; what is damaged is moved aside, and pages
        without a sound copy are fetched again. The crawl must not be running.
    """
    directory = crawl.place()
    done = mend(directory) if repair else []
    faults = look_through(directory)
    if json_:
        told = {"state": str(directory), "done": done, "faults": list(map(asdict, faults))}
        print_json(told)
        return int(bool(faults))
    for words in done:
        say(f"Done: {words}")
    for fault in faults:
        say(f"{fault.part}: {fault.what}")
    if faults:
        way_out = "restore a backup" if repair else "`recrawl check --repair` mends what can be"
        note(f"{directory} is not whole; {way_out}")
        return 1
    say(f"{directory} is whole")
    return 0


def backup(
    target: Path,
    *,
    crawl: CrawlNamed = HERE,
    json_: JsonOfWritten = False,
) -> int:
    """Copy state and index as they are, while the crawl may go on, and check the copy.

    Parameters
    ----------
    target
        Directory to make; it is there in full or not at all.
    """
    directory = crawl.place()
    n_bytes = back_up(_folder("backup", directory), target)
    if json_:
        print_json({"state": str(directory), "backup": str(target), "bytes": n_bytes})
    else:
        say(f"Copied {directory} to {target}: {n_bytes / 1e6:,.1f} MB, checked")
    return 0


def restore(
    source: Path,
    *,
    config: Path | None = None,
    state: str | None = None,
    json_: JsonOfWritten = False,
) -> int:
    """Make a state directory of a backup, which stays as it is, and check it.

    Parameters
    ----------
    source
        Directory that `recrawl backup` wrote.
    config
        Configuration of the crawl; its state must not be there.  [default: recrawl.toml]
    state
        State directory to make, instead of a configuration.
    """
    if config is not None and state is not None:
        raise InputError("give either --config or --state, not both")
    directory = load_settings(config or DEFAULT_CONFIG).state if state is None else place_of(state)
    bring_back(source, _folder("restore", directory))
    if json_:
        print_json({"state": str(directory), "backup": str(source)})
    else:
        say(f"Restored {source} to {directory}, checked; the next run goes on from there")
    return 0


def _folder(what: str, place: StatePlace) -> Path:
    """Return a state directory; a database has tools of its own."""
    if isinstance(place, Path):
        return place
    raise InputError(
        f"{what}: {place} is a database, which pg_dump copies and pg_restore brings back; `recrawl "
        "move` copies the state to a folder"
    )
