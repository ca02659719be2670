"""Visits that tell more than whether a page changed: when it last did, or that it was announced."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Flags, Integers, Vector

_LEAST_KINDS: Final = 3  # visits of each kind, changed and not, before anything is believed
_LEAST_AGREED: Final = 0.9
MOST_HEARD: Final = 20
"""Announcements of one page between two visits that count: beyond, it changes fast anyway."""
_NEVER_NOW: Final = 0.05  # share of an interval by which a change just before the visit is close


@dataclass(frozen=True, slots=True)
class Truthfulness:
    """Agreement of the times of change that a source tells with what visits bracket.

    Parameters
    ----------
    n_told : visits that told a time
    agreed : lower bound, of 95 %, on the share whose time lies where the visits say
    is_truthful : whether that is at least 0.9, of changed and of unchanged pages
    """

    n_told: int
    agreed: float
    is_truthful: bool


def judge_truthfulness(elapsed: Vector, changed: Flags, ages: Vector) -> Truthfulness:
    """Judge a source by its visits.

    Parameters
    ----------
    elapsed : shape (v,), time since the visit before, > 0
    changed : shape (v,), whether the content differs from that of the visit before
    ages : shape (v,), time since the last change as it was told; nan where nothing was

    Notes
    -----
    A changed page must tell a time after the visit before, an unchanged one a time before it.
    Servers that make pages up as they are asked tell the present: they fail by their unchanged
    pages, or, where they have none, by changes that always come just before the visit.
    """
    return judge_tally(tally_dates(elapsed, changed, ages))


def tally_dates(elapsed: Vector, changed: Flags, ages: Vector) -> Vector:
    """Count by what a source is judged; counts of several times can be added, and faded.

    Parameters
    ----------
    elapsed, changed, ages : as for :func:`judge_truthfulness`

    Returns
    -------
    Vector
        Shape (2, 3): of visits that found no change, and of those that found one, how many told a
        time, how many a right one, and how many that it was just before the visit.
    """
    told = np.isfinite(ages)
    t, found, age = elapsed[told], changed[told], ages[told]
    right = np.where(found, (age >= 0) & (age < t), age >= t)
    sudden = found & (age < _NEVER_NOW * t)
    columns = np.stack([np.ones(t.size), right, sudden])
    return np.stack([columns[:, found == kind].sum(axis=1) for kind in (False, True)])


def judge_tally(tally: Vector) -> Truthfulness:
    """Judge a source by such counts, as :func:`judge_truthfulness` does."""
    counts, right, sudden = tally.T
    n_told = round(float(counts.sum()))
    if counts.min() < _LEAST_KINDS:
        return Truthfulness(n_told, 0.0, False)
    agreed = min(_least_share(*kind) for kind in zip(counts.tolist(), right.tolist(), strict=True))
    is_sudden = sudden[1] > 0.5 * counts[1]
    return Truthfulness(n_told, agreed, bool(agreed >= _LEAST_AGREED and not is_sudden))


def split_visits(  # noqa: PLR0913 - all that is known of visits
    page: Integers,
    elapsed: Vector,
    changed: Flags,
    ages: Vector,
    *,
    moment: float,
    announced: Vector | None = None,
    unheard: Vector | float = 0.0,
    recall: Vector | float = 0.0,
    precision: Vector | float = 0.0,
) -> tuple[Integers, Vector, Flags, Vector]:
    r"""Replace each visit of which more is known by what it is worth in visits that are not.

    Parameters
    ----------
    page, elapsed, changed : shape (v,), as :meth:`RateBeliefs.observe` takes them
    ages : shape (v,), time since the last change where a visit found one and its source is
        truthful; nan elsewhere
    moment : as long as the time of a change is exact; short against the intervals between changes
    announced : shape (v,), how many changes were announced before the visit; default: none was
    unheard : shape (v,), part of the time of which it was not heard what was announced, >= 0
    recall, precision : shape (v,) or one number, in [0, 1]: share of the changes of a page that
        are announced before a visit finds them, and of announcements that are true

    Returns
    -------
    page, elapsed, changed, lapse of more visits, in the same order, for
    :meth:`RateBeliefs.observe`.

    Notes
    -----
    A change at age u and none since has density :math:`\lambda e^{-\lambda u}` whatever came
    before in the interval: the second estimator of Cho and Garcia-Molina (2003). As a function of
    the rate it is that of two visits: one a moment after another, which found a change, and one u
    later, which found none. (Without the time it is :math:`1 - e^{-\lambda t}`.)

    A visit that was made because a change was announced finds one, however seldom there is one:
    what is not announced has to count as well, or rates grow without bound. With recall r a time t
    without an announcement has chance :math:`e^{-r \lambda t}`, and what was not announced within
    it :math:`1 - e^{-(1 - r) \lambda t}`; a true announcement has the density of a change, and a
    share of those that are false says as little as that there is a change within the interval.
    Visits that find nothing count as without announcements: a false one says nothing of the rate.

    Each change is followed by its share of the quiet: many changes one after another would rule
    out all rates but the highest, and so much quiet after them those. The whole time lapses with
    the last of them. Were the rate drawn anew between a change and the quiet beside it, each would
    be as likely as if the other were not there, and what forgets would always seem to foretell the
    most.
    """
    if not moment > 0:
        raise InvalidModel(f"moment must be > 0, got {moment:g}")
    n_heard = np.zeros(page.size) if announced is None else announced
    recalled, true = (np.broadcast_to(one, page.shape) for one in (recall, precision))
    dated = changed & np.isfinite(ages) & (ages >= 0) & (ages + moment < elapsed)
    age = np.maximum(np.where(dated, ages, elapsed), moment)
    silent = np.minimum(unheard, elapsed)
    false, missed = (1.0 - true) * elapsed, recalled * silent + (1.0 - recalled) * elapsed
    hidden = np.maximum(
        np.where(n_heard > 0.0, false / np.clip(n_heard, 1.0, MOST_HEARD), missed), moment
    )
    within = np.where(dated, moment, hidden)
    quiet = recalled * np.maximum(np.where(dated, elapsed - age, elapsed) - silent, 0.0)
    quiet = np.maximum(np.where(dated, quiet + age, quiet), moment)
    known = changed & (dated | (recalled > 0.0))
    n_told = np.clip(n_heard, 1, MOST_HEARD).astype(np.int64)
    times = np.where(known, 2 * n_told, 1)
    rows = np.repeat(np.arange(page.size), times)
    place = np.arange(rows.size) - np.repeat(np.cumsum(times) - times, times)
    change, quietly = known[rows] & (place % 2 == 0), known[rows] & (place % 2 == 1)
    time = np.where(change, np.where(place == 0, within[rows], hidden[rows]), elapsed[rows])
    ends = place == times[rows] - 1
    return (
        page[rows],
        np.where(quietly, (quiet / n_told)[rows], time),
        np.where(quietly, False, change | changed[rows]),
        np.where(ends, elapsed[rows], 0.0),
    )


def _least_share(n: float, right: float) -> float:
    """Lower 95 % bound of a share: Wilson's, which is sound for few and for all."""
    share, z = right / n, 1.645
    centre = share + z * z / (2 * n)
    spread = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return float((centre - spread) / (1 + z * z / n))
