"""Worlds that we know the truth about, and the decisions in them, event by event.

:mod:`recrawl.simulation.controlled_queue` is imported on its own, because it needs compiled loops.
"""
