"""The part of the budget that a plan can give to known pages: other things take requests, too."""

from typing import Final

_LEAST_WITHOUT_TIMETABLES: Final = 0.1  # of the budget, however often sources are probed
_LEAST_WITHOUT_RULES: Final = 0.5  # however often robots.txt is read
_LEAST_WITHOUT_GONE: Final = 0.5  # however many pages are gone
_LEAST_FOR_REVISITS: Final = 0.35  # however many pages wait for their first visit


def budget_for_pages(
    per_s: float, *, timetables_per_s: float, openings_per_s: float, gone_per_s: float
) -> float:
    """Return what is left for pages, in requests per second.

    Parameters
    ----------
    per_s : what robots and indexer can bring of the budget, > 0
    timetables_per_s : probes of sources
    openings_per_s : requests for robots.txt (:mod:`.openings`)
    gone_per_s : looks at pages that are gone
    """
    per_s = max(per_s - timetables_per_s, _LEAST_WITHOUT_TIMETABLES * per_s)
    per_s = max(per_s - openings_per_s, _LEAST_WITHOUT_RULES * per_s)
    return max(per_s - gone_per_s, _LEAST_WITHOUT_GONE * per_s)


def budget_for_revisits(
    per_s: float, first_visits_per_s: float, discovery_share: float | None
) -> float:
    """Return what is left of that when first visits are paid for, a hundredth at least.

    Parameters
    ----------
    per_s : requests per second, > 0
    first_visits_per_s : that are to be made, and compete by their worth
    discovery_share : what they get instead; None: as many as they are worth
    """
    if discovery_share is not None:
        return per_s * max(1.0 - discovery_share, 0.01)
    return max(per_s - first_visits_per_s, _LEAST_FOR_REVISITS * per_s)
