"""Titles of results that tell one from another."""

from collections.abc import Iterable
from dataclasses import replace

from recrawl.crawler.control.urls import host_of
from recrawl.terms import Hit


def told_apart(found: Iterable[tuple[Hit, str]]) -> list[Hit]:
    """Return results, those that share their title with another of their host by their headings.

    Some sites give all of their pages one title. O(results).

    Parameters
    ----------
    found : results, each with the first heading of its page; "": it has none
    """
    results = list(found)
    headings: dict[tuple[str, str], set[str]] = {}
    for hit, heading in results:
        headings.setdefault((host_of(hit.url), hit.title), set()).add(heading)
    return [
        replace(hit, title=" - ".join(filter(None, (heading, hit.title))))
        if heading not in hit.title and len(headings[host_of(hit.url), hit.title]) > 1
        else hit
        for hit, heading in results
    ]
