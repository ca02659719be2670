"""An archive of everything that is fetched, as settings have it."""

import contextlib
import importlib.util
import platform
from pathlib import Path
from typing import TYPE_CHECKING

from recrawl.crawler.fetch.archive import ArchivingFetcher, WarcArchive, mend_all
from recrawl.crawler.ports import Clock, Fetcher
from recrawl.crawler.settings import Settings
from recrawl.crawler.wiring.threads import OnThread
from recrawl.errors import InvalidSettings

if TYPE_CHECKING:  # its library is there only where there is a database
    from recrawl.crawler.database.membership import Membership


def check_archive(settings: Settings) -> None:
    """See that what an archive takes is installed."""
    if settings.warc is not None and importlib.util.find_spec("warcio") is None:
        raise InvalidSettings("archive.warc needs one more package: install recrawl[warc]")


def archiving(
    stack: contextlib.AsyncExitStack,
    settings: Settings,
    folder: Path,
    fetcher: Fetcher,
    clock: Clock,
) -> Fetcher:
    """Have everything that is fetched written to an archive, on a thread of its own.

    Parameters
    ----------
    stack : closes archive and thread
    settings : the user agent, named as the archive's software, and the size of its files
    folder : of the archive
    fetcher : that fetches
    clock : instants of what is fetched
    """
    software, max_bytes = settings.user_agent, settings.warc_max_bytes
    archive = WarcArchive(folder, software=software, max_bytes=max_bytes)
    stack.callback(archive.close)
    thread = OnThread("archive")
    stack.callback(thread.close)
    return ArchivingFetcher(fetcher, archive, thread, clock.now_s)


def folder_of(folder: Path, member: "Membership") -> Path:
    """Return where a process of several keeps what it fetches, and see to what others have left.

    Each has a folder of its own, called by its machine and its number; the last file of one that
    was killed is cut after its last whole record by the next one that begins beside it.

    Parameters
    ----------
    folder : of all processes
    member : of this process
    """
    machine = platform.node() or "machine"
    folders = {
        int(number): path
        for path in folder.glob(f"{machine}-*")
        if (number := path.name.rpartition("-")[2]).isdigit()
    }
    for ended in member.ended(list(folders)):
        mend_all(folders[ended])
    return folder / f"{machine}-{member.number}"
