"""Worth of a fresh copy of each page: evidence of several kinds, in stated shares."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Integers, Vector
from recrawl.learning.counts import shrunk_rates
from recrawl.terms import EVEN, IMPORTANCE_SOURCES


@dataclass(frozen=True, slots=True, eq=False)
class Importance:
    """Worths of pages, of mean 1, and the evidence for them.

    Parameters
    ----------
    worths : shape (n,), > 0
    parts : for each source that has a say, its share, and what it says of each page, of mean 1
    """

    worths: Vector
    parts: Mapping[str, tuple[float, Vector]]


def by_counts(counts: Vector, hosts: Integers, folders: Integers, counted: Vector) -> Vector:
    """Return what counts say of pages, of mean 1.

    Parameters
    ----------
    counts : shape (n,), >= 0, of sum > 0
    hosts, folders : shape (n,), numbers of the groups that pages lend each other strength in
    counted : shape (n,), share of the time counted in which the page was known, in [0, 1]
    """
    rates, _ = shrunk_rates(counts, counted, (hosts, folders))
    return np.asarray(rates / rates.mean())


def combined(shares: Mapping[str, float], said: Mapping[str, Vector], n: int) -> Importance:
    """Return what pages are worth by all evidence that there is.

    Parameters
    ----------
    shares : of each source in ``IMPORTANCE_SOURCES``, >= 0, of sum 1
    said : by source, shape (n,), > 0, of mean 1; a source without evidence is left out, and its
        share goes to all pages alike
    n : pages

    Raises
    ------
    InvalidModel
        A share is below 0, of no source, or they do not add up to 1.
    """
    for name, share in shares.items():
        if name not in IMPORTANCE_SOURCES:
            raise InvalidModel(f"{name!r} is none of {', '.join(IMPORTANCE_SOURCES)}")
        if not (np.isfinite(share) and share >= 0):
            raise InvalidModel(f"the share of {name} must be >= 0, got {share!r}")
    if abs(sum(shares.values()) - 1.0) > 1e-6:
        raise InvalidModel(f"shares must add up to 1, they come to {sum(shares.values()):g}")
    heard = {name: share for name, share in shares.items() if share > 0 and name in said}
    rest = max(1.0 - sum(heard.values()), 0.0)
    worths = np.full(n, rest)
    parts: dict[str, tuple[float, Vector]] = {}
    for name, share in heard.items():
        worths += share * said[name]
        parts[name] = (share, said[name])
    if rest > 1e-9:
        parts[EVEN] = (rest, np.ones(n))
    return Importance(worths, parts)
