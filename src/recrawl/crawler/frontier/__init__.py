"""Adapters of the frontier port: in memory, and in SQLite."""
