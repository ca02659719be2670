"""The real engine in bad weather: faults, kills and restarts from a seed, invariants all along.

A storm runs the crawler as it is, in virtual time, against a small web that changes, throttles,
breaks off and disappears, over a disk that is slow, full or failing, through kills at any step and
clocks that jump between two lives. The same seed is the same storm, event by event::

    from recrawl.testing.storms import run_storm
    print(run_storm(4711))

The weather alone can be put over any fetcher: :func:`in_weather`.
"""

from recrawl.testing.storms.storm import Storm, StormReport, run_storm
from recrawl.testing.storms.weather import Broken, Manners, in_weather

__all__ = ["Broken", "Manners", "Storm", "StormReport", "in_weather", "run_storm"]
