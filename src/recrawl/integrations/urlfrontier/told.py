"""Clients' reports of fetches, in the metadata that they put back with an address."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from recrawl.crawler.control.answers.lifecycle import outcome_of_status
from recrawl.terms import Outcome

_LONGEST: Final = 1_000
_NO_STATUS: Final = 1_000
_MODIFIED: Final = ("protocol.last-modified", "last-modified")
_ETAGS: Final = ("protocol.etag", "etag")


@dataclass(frozen=True, slots=True)
class Told:
    """Report of a fetch by its client.

    Parameters
    ----------
    outcome : None where nothing is told
    status : of HTTP
    signature : of the content: the client's, or what its server said of the last change
    etag, last_modified : as the server said
    """

    outcome: Outcome | None
    status: int | None
    signature: bytes | None
    etag: str | None
    last_modified: str | None


def read_metadata(metadata: Mapping[str, Sequence[str]], before: bytes | None) -> Told:
    """Read ``fetch.statusCode``, ``signature``, ``last-modified`` and ``etag``.

    Parameters
    ----------
    metadata : values by name
    before : signature of the fetch before; None: this is the first that tells one
    """
    modified, etag = _first(metadata, _MODIFIED), _first(metadata, _ETAGS)
    signature = _signature(metadata, modified, etag)
    status = _status(metadata)
    if status is None:
        if "fetch.exception" in metadata:
            return Told(Outcome.FAILED, None, signature, etag, modified)
        if signature is None:
            return Told(None, None, None, None, None)
    outcome = Outcome.FAILED if status is not None and status < 100 else None
    if outcome is None and status is not None:
        outcome = outcome_of_status(status)
    return Told(outcome or _compared(signature, before), status, signature, etag, modified)


def _status(metadata: Mapping[str, Sequence[str]]) -> int | None:
    text = _first(metadata, ("fetch.statusCode",))
    try:
        status = None if text is None else int(text)
    except ValueError:
        return None
    # Numbers that no status is tell nothing; vast ones the state could not take.
    return status if status is not None and abs(status) < _NO_STATUS else None


def _first(metadata: Mapping[str, Sequence[str]], names: Sequence[str]) -> str | None:
    for name in names:
        values = metadata.get(name)
        if values and values[0]:
            return values[0][:_LONGEST]
    return None


def _signature(
    metadata: Mapping[str, Sequence[str]], modified: str | None, etag: str | None
) -> bytes | None:
    # What each is of is kept with it: a client that begins to send another has changed no page.
    text = _first(metadata, ("signature",))
    for kind, value in (("s", text), ("e", etag), ("m", modified)):
        if value is not None:
            return f"{kind}:{value}".encode()
    return None


def _compared(signature: bytes | None, before: bytes | None) -> Outcome:
    if signature is None or before is None or signature[:1] != before[:1]:
        return Outcome.NEW
    return Outcome.UNCHANGED if signature == before else Outcome.CHANGED
