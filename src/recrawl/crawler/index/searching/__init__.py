"""Searches: what people type, how results are ranked, and what of each is shown."""
