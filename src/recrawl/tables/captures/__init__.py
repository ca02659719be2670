"""Observations of pages by others: archives, crawlers and monitors, each in its own format.

Every reader yields :class:`~recrawl.tables.captures.looks.Look` in any order, in constant memory,
and counts what it cannot read. :mod:`~recrawl.tables.captures.sorted_looks` makes visits of them.
"""
