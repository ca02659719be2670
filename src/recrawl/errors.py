"""The exceptions of recrawl.

::

    RecrawlError
    ├── InputError            what a person gave is wrong; the command line exits with 2
    │   ├── InvalidModel      a model's numbers make no sense (also a ValueError)
    │   ├── InvalidTable      a table that people bring has a wrong column or value
    │   ├── InvalidSettings   the configuration file has a wrong key or value
    │   └── MissingPart       a library that an extra brings is not installed (also an ImportError)
    ├── NotConverged          a solver stopped short of its tolerance
    ├── StateError            the state directory cannot be used as it is
    │   ├── UnusableDatabase  a database that was named cannot be used (also an InputError)
    │   │   └── DatabaseAway  it does not answer; it may later
    │   │       └── LoginRefused  it answers, and lets this user in to no such database
    │   ├── OtherVersion      its form is of another version; opening it to write brings it over
    │   ├── DamagedState      its bytes are not what was written; it can be mended, at a loss
    │   └── OwnershipLost     another process has taken the place of this one
    ├── NothingIndexed        a crawl ended without a single page in its index
    ├── FetchError            one HTTP exchange failed; carries what happened
    ├── SinkError             a sink of changes takes nothing now; carries when it may again
    ├── PoisonPage            what was fetched cannot be read within the limits
    ├── ReadingPutOff         it has not been read, because too much else is
    └── ReadingCut            the reading was given up, because the crawl stops

Messages name the argument, the bound and the value, because they are what people see. What an
import lacks, :func:`missing_part` turns into a MissingPart; what the kind of a FetchError means,
:func:`failure_words` says.
"""

from collections.abc import Mapping
from typing import Final

__all__ = [
    "DamagedState",
    "DatabaseAway",
    "FetchError",
    "InputError",
    "InvalidModel",
    "InvalidSettings",
    "InvalidTable",
    "LoginRefused",
    "MissingPart",
    "NotConverged",
    "NothingIndexed",
    "OtherVersion",
    "OwnershipLost",
    "PoisonPage",
    "ReadingCut",
    "ReadingPutOff",
    "RecrawlError",
    "SinkError",
    "StateError",
    "UnusableDatabase",
    "failure_words",
    "missing_part",
]

TOO_FEW_THREADS: Final = (
    "the system allows no more threads or processes; raise that limit (`ulimit -u`, TasksMax= of a "
    "service, --pids-limit of a container) and start again: nothing acknowledged was lost"
)

_EXTRA_OF: Final = {
    "distributed": "dask",
    "google": "urlfrontier",
    "grpc": "urlfrontier",
    "html_to_markdown": "markdown",
    "matplotlib": "plots",
    "playwright": "browser",
    "psycopg": "postgresql",
    "py3langid": "languages",
    "pyarrow": "decisions",
    "scrapy": "scrapy",
    "warcio": "warc",
}


class RecrawlError(Exception):
    """Root of everything that recrawl raises on purpose."""


class InputError(RecrawlError):
    """Wrong input from a person; the message says what would be right."""


class InvalidModel(InputError, ValueError):
    """A model was given numbers outside its domain."""


class InvalidTable(InputError):
    """A table that people bring lacks a column or holds a value outside its domain."""


class InvalidSettings(InputError):
    """A configuration file has an unknown key, a wrong unit or an impossible value."""


class MissingPart(InputError, ImportError):
    """Missing library that comes with an extra; the message names the extra."""


def missing_part(error: BaseException | None) -> MissingPart | None:
    """Return what to tell whoever lacks a library, or None where the fault is another.

    Parameters
    ----------
    error : what an import raised; its causes are looked through
    """
    while error is not None:
        name = (getattr(error, "name", None) or "").partition(".")[0]
        if isinstance(error, ModuleNotFoundError) and name in _EXTRA_OF:
            extra = _EXTRA_OF[name]
            return MissingPart(
                f"this needs {name}, which is not installed: pip install 'recrawl[{extra}]'"
            )
        error = error.__cause__
    return None


class NotConverged(RecrawlError):
    """A solver did not reach its tolerance.

    Parameters
    ----------
    message : what was being solved
    iterations : steps taken before giving up
    residual : how far from the tolerance the last step was
    """

    def __init__(self, message: str, *, iterations: int, residual: float) -> None:
        super().__init__(f"{message} (after {iterations} iterations, residual {residual:.3g})")
        self.iterations: Final = iterations
        self.residual: Final = residual


class StateError(RecrawlError):
    """The state directory is in use, corrupt, full or written by a newer version."""


class OtherVersion(StateError):
    """The index has the form of another version: whoever opens it to write begins it anew."""


class DamagedState(StateError):
    """State or index hold other bytes than were written: mending gives up what is not sound.

    A disk that is full or read-only, or a limit of the system, is no damage.
    """


class UnusableDatabase(StateError, InputError):
    """A database that was named holds something else, is too old or new, or cannot be written."""


class DatabaseAway(UnusableDatabase):
    """A database does not answer, or has ended a transaction; it may answer later."""


class LoginRefused(DatabaseAway):
    """A database server answers and refuses user, password or name; waiting does not change it."""


class DatabaseReadOnly(DatabaseAway):
    """A database can only be read: a start ends with that, and a crawl that wrote to it waits."""


class DatabaseFull(DatabaseAway):
    """A database has no room on its disk: nothing of a transaction was kept."""


class OwnershipLost(StateError):
    """A process was not heard of for too long: others own its shards, and it writes no more."""


class NothingIndexed(RecrawlError):
    """A crawl ended without a single page in its index; the message says why and what to do."""


_FAILURES: Final[Mapping[str, str]] = {
    "timeout": "no answer in time",
    "dns": "the name of the host is not known",
    "lookup": "no name server answers for it",
    "connect": "no connection",
    "network": "this machine has no way there",
    "proxy": "no connection by way of the proxy",
    "disconnected": "the connection was cut",
    "tls": "no encrypted connection",
    "certificate": "its certificate is not trusted",
    "certificate-expired": "its certificate has expired, or the clock of this machine is wrong",
    "certificate-early": "its certificate is not valid yet, or the clock of this machine is wrong",
    "certificate-name": "its certificate is for another name",
    "refused-address": "a private address",
    "encoding": "a broken content encoding",
    "protocol": "no sound HTTP",
    "unencrypted": "a secret would have gone in clear",
    "render": "the browser did not fill it",
}


class FetchError(RecrawlError):
    """One HTTP exchange failed.

    Parameters
    ----------
    kind : one word for the tables: ``timeout``, ``dns``, ``connect``, ``refused-address``, ...
    detail : what happened, for people
    n_requests : that were made
    """

    def __init__(self, kind: str, detail: str, n_requests: int = 1) -> None:
        super().__init__(f"{kind}: {detail}")
        self.n_requests = n_requests
        self.kind: Final = kind
        self.detail: Final = detail


def failure_words(kind: str) -> str:
    """Say for people what a kind of :class:`FetchError` means; the kind where nothing is known."""
    return _FAILURES.get(kind, kind)


class SinkError(RecrawlError):
    """A sink takes nothing now: it is away, refuses us, or says what makes no sense.

    Parameters
    ----------
    message : for people; never a secret
    retry_after_s : seconds that the sink asked to be left alone
    """

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s: Final = retry_after_s


class PoisonPage(RecrawlError):
    """Fetched content whose reading took more time or memory than it may, or broke its reader."""


class ReadingPutOff(RecrawlError):
    """Too much is being read that takes long; nothing is said of the page, which may come again."""


class ReadingCut(RecrawlError):
    """Reading was given up because the crawl stops; nothing is said of the page."""
