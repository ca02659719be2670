"""`recrawl search`: ask the index."""

import difflib
import sys
import time
from collections.abc import Sequence
from typing import Annotated, Final

from cyclopts import Parameter

from recrawl.cli.crawler.place import HERE, CrawlNamed
from recrawl.cli.options import Json
from recrawl.cli.output import console, print_json, printable
from recrawl.cli.sizes import check_whole
from recrawl.crawler.wiring.indexes import open_index
from recrawl.errors import InputError
from recrawl.quantities import show_duration

_OPTIONS: Final = ("--config", "--state", "--limit", "--offset", "--json")


def search(
    *words: Annotated[str, Parameter(allow_leading_hyphen=True)],
    crawl: CrawlNamed = HERE,
    limit: Annotated[int, Parameter(name=["--limit", "-n"])] = 10,
    offset: int = 0,
    json_: Json = False,
) -> int:
    """Search the index: the best pages, with a highlighted snippet and the age of the copy.

    Most words must occur, and not how they end; what is unknown is read as the beginning of a
    word, or as misspelt. "words in quotes" must stand together, -word must not occur, title:word
    must be in the title; OR between two words finds either, host:name narrows down to a host.
    Options of other programs need no quotes, as in git rebase --onto; after -- nothing is an
    option of this verb.

    Parameters
    ----------
    words
        What to look for.
    limit
        Hits to show.
    offset
        Hits to skip.
    """
    _check_options(words)
    query = " ".join(words).strip()
    if not query:
        raise InputError("search for what? Give at least one word")
    check_whole("--limit", limit, 1000)
    check_whole("--offset", offset, 1_000_000, least=0)
    index = open_index(crawl.place(), read_only=True)
    total, hits = index.search(query, limit=limit, offset=offset)
    notes = index.misread(query)
    if json_:
        print_json(
            {
                "query": query,
                "total": total,
                "notes": notes,
                "hits": [
                    {
                        "url": hit.url,
                        "title": hit.title,
                        "snippet": hit.snippet,
                        "highlights": hit.highlights,
                        "score": hit.score,
                        "fetched_at": hit.fetched_at_s,
                        "copies": hit.copies,
                    }
                    for hit in hits
                ],
            }
        )
        return 0
    from rich.text import Text

    out = console()
    for note in notes:
        out.print(Text(f"{note[:1].upper()}{note[1:]}.", style="dim"))
    if not hits:
        out.print(f"Nothing among {index.n_documents():,} pages matches {query!r}.")
        return 0
    for number, hit in enumerate(hits, start=offset + 1):
        age = show_duration(max(0.0, time.time() - hit.fetched_at_s))
        out.print(Text.assemble(f"{number}. ", (printable(hit.title or hit.url), "bold")))
        out.print(Text.assemble("   ", (printable(hit.url), "cyan"), f"  (copy is {age} old)"))
        if hit.copies:
            also = ", ".join(map(printable, hit.copies[:3]))
            more = f" and {len(hit.copies) - 3:,} more" if len(hit.copies) > 3 else ""
            out.print(Text(f"   the same at {also}{more}", style="dim"))
        snippet = Text(printable(hit.snippet).replace("\n", " "))
        for start, end in hit.highlights:
            snippet.stylize("bold yellow", start, end)
        out.print(Text("   ") + snippet)
        out.print()
    out.print(f"{offset + 1} to {offset + len(hits)} of {total:,} pages", style="dim")
    return 0


def _check_options(words: Sequence[str]) -> None:
    """Refuse what looks like an option of this verb, but is none; after -- everything is a word."""
    if "--" in sys.argv:
        return
    for word in words:
        near = difflib.get_close_matches(word.partition("=")[0], _OPTIONS, n=1, cutoff=0.8)
        if word.startswith("--") and near:
            raise InputError(
                f"{word[:80]} is no option of search; did you mean {near[0]}? To look for it as it "
                "stands, write it after --"
            )
