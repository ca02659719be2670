"""Observations of pages by others: archives, crawlers and monitors, each in its own format.

Every reader takes a file, which may be compressed by gzip, and a tally of counts and complaints,
which it writes. It yields :class:`~recrawl.tables.captures.looks.Look` in any order, in constant
memory, and counts what it cannot read. :mod:`~recrawl.tables.captures.sorted_looks` makes visits of
them.
"""
