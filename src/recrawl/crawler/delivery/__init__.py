"""Sinks: where changes are delivered to."""
