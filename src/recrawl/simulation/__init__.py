"""The same decisions in virtual time: event by event, against the theory."""

from recrawl.simulation.controlled_queue import (
    Interval,
    SimulatedFleet,
    simulate_fleet,
    simulate_phased_fleet,
)

__all__ = ["Interval", "SimulatedFleet", "simulate_fleet", "simulate_phased_fleet"]
