"""`recrawl move`: take a state from a folder to a database that machines share, or back."""

from pathlib import Path

from recrawl.cli.options import JsonOfWritten
from recrawl.cli.output import print_json, say
from recrawl.crawler.settings import place_of
from recrawl.crawler.wiring.databases import check_state
from recrawl.errors import InputError


def move(
    source: str,
    target: str,
    *,
    shards: int = 256,
    json_: JsonOfWritten = False,
) -> int:
    """Copy a whole state, with its index: from a folder into an empty database, or back.

    The source stays as it is; nothing may crawl it meanwhile. The target is there in full or not at
    all.

    Parameters
    ----------
    source
        State directory, or postgresql://user@host/database.
    target
        The other of the two; it holds nothing yet.
    shards
        Number of shards of a new database, as cluster.shards will say.
    """
    if not 1 <= shards <= 32_768:
        raise InputError(f"--shards: {shards} must be at least 1 and at most 32768")
    here, there = place_of(source), place_of(target)
    if isinstance(here, Path) == isinstance(there, Path):
        kind = "folders" if isinstance(here, Path) else "databases"
        way = "cp copies" if isinstance(here, Path) else "pg_dump and pg_restore copy"
        raise InputError(
            f"{here} and {there} are both {kind}, which {way}; name a folder and a database, as "
            "`recrawl move recrawl-state postgresql://user@host/crawl`"
        )
    for place in (here, there):
        check_state(place)
    from recrawl.crawler.wiring.moving import move_from_database, move_into_database

    if isinstance(here, Path):
        assert not isinstance(there, Path)
        n_pages = move_into_database(here, there, shards)
    else:
        assert isinstance(there, Path)
        n_pages = move_from_database(here, there)
    if json_:
        print_json({"source": str(here), "target": str(there), "pages": n_pages})
    else:
        say(f"Copied {n_pages:,} pages from {here} to {there}; name that as state from now on")
    return 0
