"""Whether more robots bring more, or get in each other's way.

Every model of robots has each of them take as long however many others are active. Robots that
share a processor with each other and the indexer, or wait for the same few hosts, bring no more
when there are more of them: a control that is solved from their rate then keeps robots active whose
pages find the buffer full, and the rate, measured anew, calls for even more.
"""

import math
from dataclasses import dataclass
from typing import Final

_HALF: Final = 0.5  # of a robot's time
_LEAST_SEEN: Final = 100.0  # pages


@dataclass(slots=True)
class Crowding:
    """Growth of a robot's time for a page with the number of robots, where old pages fade.

    Parameters
    ----------
    memory : how many of the latest pages count, > 1

    Notes
    -----
    The work of robots up to each page (a unit is one robot active for one unit of time) is held
    against the number active when the page before it came. Where robots keep out of each other's
    way the one tells nothing of the other. By least squares, ``work = a + b * robots``; the share
    is ``b`` times the mean number over the mean work: 0 where each robot brings what it always
    does, 1 where all together bring the same however many they are. O(1) time.
    """

    memory: float
    _count: float = 0.0
    _robots: float = 0.0
    _work: float = 0.0
    _robots_squared: float = 0.0
    _work_squared: float = 0.0
    _products: float = 0.0

    def observe(self, robots: int, work: float) -> None:
        """Take one page into account: robots active as the one before came, and their work."""
        if not (math.isfinite(work) and work >= 0):
            return
        keep = 1 - 1 / self.memory
        self._count = keep * self._count + 1
        self._robots = keep * self._robots + robots
        self._work = keep * self._work + work
        self._robots_squared = keep * self._robots_squared + robots**2
        self._work_squared = keep * self._work_squared + work**2
        self._products = keep * self._products + robots * work

    @property
    def share(self) -> tuple[float, float]:
        """Share of a robot's time that the others take, and its standard error; 0, inf if unknown.

        Chance may take it below 0 and beyond 1.
        """
        n = self._count
        spread = n * self._robots_squared - self._robots**2
        scatter = n * self._work_squared - self._work**2
        if n <= 0 or self._work <= 0 or spread <= 1e-9 * self._robots**2:
            return 0.0, math.inf
        ratio = self._robots / self._work
        slope = (n * self._products - self._robots * self._work) / spread
        left = max(scatter - slope**2 * spread, 0.0)  # that the number of robots does not explain
        return slope * ratio, ratio * math.sqrt(left / spread / n)

    @property
    def is_shown(self) -> bool:
        """Whether, by far more than chance, the others take most of a robot's time."""
        share, error = self.share
        return self._count >= _LEAST_SEEN and share - 2.0 * error > _HALF
