"""Whether search finds: 200 judged queries over Python's, PostgreSQL's and git's manuals.

The manuals are Debian's (python3-doc, postgresql-doc, git-doc); the queries, with the pages that
answer them, are in ``search_queries.txt``. Peers hold the same titles and texts: SQLite's FTS5 with
its defaults, the same with the last word as a prefix, and tantivy with its defaults and its own
query language. Every second query was looked at while ranking was made; the others, "held out",
once, for mistakes: until then 90 of 100 of them were found (0.826), since then 96 (0.891).

Bar: a right page in the first three for 95 of 100, mean reciprocal rank 0.85, and both above every
peer; under 10 ms of processor time a query, snippets included. On PostgreSQL the first of these;
the server's own processor time is not counted there.

    python bench/search_quality.py [--missed] [--only recrawl]
"""

import argparse
import re
import sqlite3
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import tantivy
from tests.databases import Server
from tests.postgres import postgres

from recrawl.crawler.database.membership import Membership
from recrawl.crawler.fetch.reading.extract import PageExtractor
from recrawl.crawler.index.postgres import PostgresIndex
from recrawl.crawler.index.tantivy import TantivyIndex
from recrawl.terms import Document, FetchResponse

DOC = Path("/usr/share/doc")
MANUALS = {
    "py": (DOC / "python3-doc/html",),
    "pg": tuple(sorted(DOC.glob("postgresql-doc-*/html"))),
    "git": (DOC / "git/html", DOC / "git-doc"),
}
QUERIES = Path(__file__).with_name("search_queries.txt")
DEEP = 10  # places that are looked at
Search = Callable[[str], list[str]]


@dataclass(frozen=True)
class Judged:
    """A query, and the addresses of pages that answer it."""

    kind: str
    query: str
    right: frozenset[str]
    held_out: bool


def address(manual: str, page: str) -> str:
    return f"http://{manual}.test/{page}.html"


def judged() -> list[Judged]:
    read, of_kind = [], defaultdict(int)
    for line in QUERIES.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        kind, query, pages = (part.strip() for part in line.split(" | "))
        right = frozenset(address(*page.split("/", 1)) for page in pages.split())
        of_kind[kind] += 1
        read.append(Judged(kind, query, right, of_kind[kind] % 2 == 0))
    return read


def pages() -> Iterator[tuple[str, bytes]]:
    for manual, places in MANUALS.items():
        root = next((place for place in places if place.is_dir()), None)
        if root is None:
            sys.exit(
                f"{places[0] if places else manual} is missing: apt-get install python3-doc "
                "postgresql-doc git-doc"
            )
        for path in sorted(root.resolve().rglob("*.html")):
            name = path.relative_to(root.resolve()).with_suffix("")
            yield address(manual, str(name)), path.read_bytes()


def documents() -> list[Document]:
    extractor, made = PageExtractor("recrawl"), []
    for url, body in pages():
        found = extractor.page(FetchResponse(url, 200, body, "text/html"))
        made.append(Document.of(url, found, 1.0))
    return made


def recrawl(held: list[Document], place: Path) -> Search:
    began_s = time.process_time()
    index = TantivyIndex(place, language="auto")
    for number, document in enumerate(held, start=1):
        index.replace(document)
        if number % 200 == 0:
            index.commit()
    index.commit()
    took_s = time.process_time() - began_s
    print(f"{len(held)} pages; {1000 * took_s / len(held):.2f} ms of indexing a page")
    return lambda query: [hit.url for hit in index.search(query, limit=DEEP)[1]]


@contextmanager
def on_postgres(held: list[Document]) -> Iterator[Search]:
    with postgres() as server:
        database = Server(server).made(4)
        member = Membership(database, shards=4)
        member.join(held[0].url)
        member.take(4)
        index = PostgresIndex(database, member)
        for document in held:
            index.replace(document)
        index.commit()
        yield lambda query: [hit.url for hit in index.search(query, limit=DEEP)[1]]
        index.close()
        member.close()


def words(query: str) -> list[str]:
    return re.findall(r'(?<=")[^"]+(?=")|\w+', re.sub(r"\bOR\b", " ", query))


def fts5(held: list[Document], *, prefix: bool) -> Search:
    base = sqlite3.connect(":memory:")
    base.execute("create virtual table page using fts5(url unindexed, title, text)")
    rows = [(document.url, document.title, document.text) for document in held]
    base.executemany("insert into page values (?, ?, ?)", rows)

    def search(query: str) -> list[str]:
        asked = [f'"{word}"' for word in words(query)]
        asked[-1:] = [asked[-1] + " *"] if prefix and asked else asked[-1:]
        found = base.execute(
            "select url, snippet(page, 2, '', '', '', 30) from page where page match ? "
            "order by rank limit ?", (" ".join(asked), DEEP)
        )  # fmt: skip
        return [url for url, _ in found]

    return search


def plain_tantivy(held: list[Document]) -> Search:
    builder = tantivy.SchemaBuilder()
    for name in ("url", "title", "text"):
        builder.add_text_field(name, stored=True)
    index = tantivy.Index(builder.build())
    writer = index.writer()
    for document in held:
        writer.add_document(
            tantivy.Document(url=document.url, title=document.title, text=document.text)
        )
    writer.commit()
    writer.wait_merging_threads()
    index.reload()

    def search(query: str) -> list[str]:
        asked, _ = index.parse_query_lenient(query, ["title", "text"])
        searcher = index.searcher()
        show = tantivy.SnippetGenerator.create(searcher, asked, index.schema, "text")
        found = [searcher.doc(place) for _, place in searcher.search(asked, DEEP).hits]
        for document in found:
            show.snippet_from_doc(document)
        return [document["url"][0] for document in found]

    return search


def measure(name: str, search: Search, queries: list[Judged], *, missed: bool) -> tuple:
    rows = defaultdict(list)
    for asked in queries:
        began_s = time.process_time()
        found = search(asked.query)
        cpu_ms = 1000.0 * (time.process_time() - began_s)
        rank = next((n for n, url in enumerate(found, start=1) if url in asked.right), 0)
        row = (0 < rank <= 3, 1.0 / rank if rank else 0.0, cpu_ms)
        half = "held out" if asked.held_out else "developed on"
        for group in (asked.kind, half, "all"):
            rows[group].append(row)
        if missed and rank != 1 and not asked.held_out:
            print(f"  {rank or '-'} {asked.kind}: {asked.query}  ->  {' '.join(found[:4])}")
    print(f"\n{name:32} in 3     MRR   ms a query")
    right = reciprocal = 0.0
    for group in sorted(rows, key=lambda name: name == "all"):
        told = rows[group]
        right, reciprocal, cpu_ms = (sum(column) / len(told) for column in zip(*told, strict=True))
        print(f"  {group:30} {right:4.0%}  {reciprocal:6.3f}  {cpu_ms:6.1f}")
    return right, reciprocal


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--missed", action="store_true", help="print what was not found first")
    parser.add_argument("--only", help="only this one")
    options = parser.parse_args()
    held, queries = documents(), judged()
    known = {document.url for document in held}
    assert all(asked.right & known for asked in queries), "a query without an answer"
    with tempfile.TemporaryDirectory() as place:
        engines = {
            "FTS5": lambda: fts5(held, prefix=False),
            "FTS5, last word as prefix": lambda: fts5(held, prefix=True),
            "tantivy": lambda: plain_tantivy(held),
            "recrawl": lambda: recrawl(held, Path(place)),
        }
        results = {
            name: measure(name, make(), queries, missed=options.missed)
            for name, make in engines.items()
            if options.only in (None, name)
        }
        if options.only in (None, "postgres"):
            with on_postgres(held) as search:
                shared = measure("recrawl on PostgreSQL", search, queries, missed=options.missed)
            print(f"  {'held' if shared[0] >= 0.95 else 'MISSED'}: 95 of 100 in the first three")
    ours = results.pop("recrawl", None)
    if ours is None:
        return
    met = ours[0] >= 0.95 and ours[1] >= 0.85
    met = met and all(ours[0] >= peer[0] and ours[1] >= peer[1] for peer in results.values())
    print("\nthe bar is met" if met else "\nthe bar is NOT met")
    sys.exit(not met)


if __name__ == "__main__":
    main()
