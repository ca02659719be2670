"""Adapters of the event sink: counters for the screen, lines for a log."""
