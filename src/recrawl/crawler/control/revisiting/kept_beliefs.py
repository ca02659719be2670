"""Beliefs about pages and hosts, in the bytes that a state keeps.

A page takes 177 bytes: half of each number of its posterior is left out, which changes none by more
than half a percent. What another version wrote, or was written of other rates, is not read:
such pages are learned anew from their visits.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from recrawl.crawler.control.revisiting.signal_sources import SIGNALLED_VISIT

_VERSION, _HOST_VERSION = 1, 2  # of the layouts
_HOST: Final = struct.Struct("<B8d")  # version, precision, recall, tally of dates


@dataclass(frozen=True, slots=True, eq=False)
class KeptPages:
    """Beliefs about pages, learned from their visits.

    Parameters
    ----------
    last_visit_s : shape (n,), of the last visit that it was learned from
    memory_s : shape (n,), half-life of the first memory that forgets, as it was then
    visits : shape (2, n), intervals told, and changes in them
    evidence : shape (n, half-lives, rates), as :class:`.RateBeliefs` has it
    """

    last_visit_s: NDArray[np.float64]
    memory_s: NDArray[np.float64]
    visits: NDArray[np.int64]
    evidence: NDArray[np.float32]

    def as_bytes(self, least_rate: float) -> list[bytes]:
        """Return the bytes of each page; the least of the rates tells which they are of."""
        rows = np.empty(len(self.last_visit_s), _layout(self.evidence.shape[1:]))
        rows["version"], rows["least_rate"] = _VERSION, least_rate
        rows["last_visit_s"], rows["memory_s"] = self.last_visit_s, self.memory_s
        rows["told"], rows["changed"] = self.visits
        rows["evidence"] = self.evidence.view(np.uint32) >> 16
        return [row.tobytes() for row in rows]


def pages_of_bytes(
    kept: Sequence[bytes], least_rate: float, shape: tuple[int, ...]
) -> tuple[NDArray[np.int64], KeptPages]:
    """Return which pages of those can be read, and what is said of them.

    Parameters
    ----------
    kept : bytes of each page
    least_rate : of those that they must be of
    shape : half-lives and rates
    """
    layout = _layout(shape)
    whole = np.flatnonzero(np.array([len(one) == layout.itemsize for one in kept], np.bool_))
    rows = np.frombuffer(b"".join(kept[place] for place in whole.tolist()), layout)
    halves = np.asarray(rows["evidence"], np.uint32)
    evidence = np.asarray((halves << 16).view(np.float32))
    with np.errstate(invalid="ignore"):
        sound = np.isfinite(evidence).all(axis=(1, 2)) & (evidence >= 0.0).all(axis=(1, 2))
        sound &= np.all(np.any(evidence > 0.0, axis=2), axis=1) & np.isfinite(rows["last_visit_s"])
        sound &= (rows["version"] == _VERSION) & (rows["least_rate"] == least_rate)
    found = rows[sound]
    visits = np.stack([found["told"], found["changed"]]).astype(np.int64)
    told = (found["last_visit_s"].copy(), found["memory_s"].copy())
    return whole[sound], KeptPages(*told, visits, evidence[sound])


def _layout(shape: tuple[int, ...]) -> np.dtype[Any]:
    return np.dtype(
        [
            ("version", "u1"),
            ("least_rate", "<f8"),
            ("last_visit_s", "<f8"),
            ("memory_s", "<f8"),
            ("told", "<u4"),
            ("changed", "<u4"),
            ("evidence", "<u2", shape),
        ]
    )


@dataclass(frozen=True, slots=True, eq=False)
class KeptHost:
    """Truth of what a host announces, as the latest visits of its pages have shown it.

    Parameters
    ----------
    precision, recall : share of announcements that are true, and of changes that are announced;
        nan: it has not shown yet
    tally : shape (2, 3), by which dates of change are judged; see :func:`tally_dates`
    told : visits by which announcements are judged, of ``SIGNALLED_VISIT``
    """

    precision: float
    recall: float
    tally: NDArray[np.float64]
    told: NDArray[Any]


def host_as_bytes(host: KeptHost) -> bytes:
    """Return what a state keeps: 65 bytes, and 21 for each of the visits."""
    head = _HOST.pack(_HOST_VERSION, host.precision, host.recall, *host.tally.ravel().tolist())
    return head + host.told.tobytes()


def host_of_bytes(kept: bytes) -> KeptHost | None:
    """Return what was kept; None: it was not by this version, or makes no sense."""
    if len(kept) < _HOST.size or (len(kept) - _HOST.size) % SIGNALLED_VISIT.itemsize:
        return None
    version, precision, recall, *tally = _HOST.unpack_from(kept)
    counts = np.array(tally, np.float64).reshape(2, 3)
    told = np.frombuffer(kept, SIGNALLED_VISIT, offset=_HOST.size).copy()
    shares = [share for share in (precision, recall) if not np.isnan(share)]
    sound = version == _HOST_VERSION and all(0.0 <= share <= 1.0 for share in shares)
    sound &= bool(np.isfinite(counts).all() and (counts >= 0.0).all())
    sound &= bool((counts[:, 1:] <= counts[:, :1] + 1e-9).all())
    sound &= bool(np.isfinite(told["elapsed"]).all() and (told["elapsed"] > 0.0).all())
    sound &= bool(np.isfinite(told["signals"]).all() and (told["signals"] >= 0.0).all())
    sound &= bool(np.isfinite(told["unheard"]).all())
    return KeptHost(precision, recall, counts, told) if sound else None
