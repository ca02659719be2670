"""The fields of the index, opening one, and the copies that one of another version holds."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import tantivy

from recrawl.crawler.index.files import is_of_tantivy
from recrawl.crawler.index.trouble import translated
from recrawl.errors import DamagedState, OtherVersion


def opened(directory: Path, *, read_only: bool) -> tantivy.Index:
    """Open an index; whoever may write puts one of another version aside and begins a new one.

    Parameters
    ----------
    directory : of the index; must be there
    read_only : raise :class:`OtherVersion` instead of beginning anew
    """
    aside = aside_of(directory)
    if index_exists(directory):
        held = tantivy.Index.open(str(directory))
        for name in ("url", "host", "title", "text"):  # a damaged schema is found out here
            tantivy.Query.term_query(held.schema, name, "")
        if held.schema == _schema():
            return held
        if read_only:
            raise OtherVersion(
                f"index {directory} was written by another version; `recrawl run` brings it over"
            )
        del held
        if not aside.exists():  # or it is what a third version had begun to bring over
            os.replace(directory, aside)
    if not read_only and aside.exists():
        _begin_beside(aside, directory)
    return tantivy.Index(_schema(), path=str(directory))


def aside_of(directory: Path) -> Path:
    """Return where an index of another version is put until its copies are brought over."""
    return directory.with_name(f"{directory.name}.before")


def held_copies(directory: Path) -> Iterator[tantivy.Document]:
    """Yield the stored fields of the copies of an index of any version; what is damaged is not.

    Raises
    ------
    StateError
        The index cannot be opened now, and is no damaged one.
    """
    try:
        with translated(directory):
            searcher = tantivy.Index.open(str(directory)).searcher()
            n = max(searcher.num_docs, 1)
            found = searcher.search(tantivy.Query.all_query(), limit=n, count=False).hits
    except DamagedState:
        return
    for _, address in found:
        with contextlib.suppress(OSError, ValueError):
            held = searcher.doc(address)
            if held.get_first("url"):
                yield held


def _begin_beside(aside: Path, directory: Path) -> None:
    """Make a directory of what an index has learned, without its copies and their language."""
    clear(directory)
    directory.mkdir(mode=0o700)
    for path in aside.iterdir():
        if path.is_file() and path.name != "language" and not is_of_tantivy(path.name):
            shutil.copy2(path, directory / path.name)


def index_exists(directory: Path) -> bool:
    """Tell whether a directory holds an index."""
    return directory.is_dir() and bool(tantivy.Index.exists(str(directory)))


def clear(directory: Path) -> None:
    """Remove an index."""
    shutil.rmtree(directory, ignore_errors=True)


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("url", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("host", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("name", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("sections", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("title", stored=True, tokenizer_name="words")
    builder.add_text_field("headings", stored=True, tokenizer_name="words")
    builder.add_text_field("anchors", tokenizer_name="words", index_option="freq")
    builder.add_text_field("address", tokenizer_name="words", index_option="freq")
    builder.add_text_field("text", stored=True, tokenizer_name="words")
    builder.add_text_field("left_out", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field("content", indexed=True, fast=True)
    builder.add_text_field("terms", tokenizer_name="typed", index_option="freq")
    builder.add_text_field("declared", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("language", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("stems", tokenizer_name="typed", index_option="freq")
    builder.add_text_field("codes", tokenizer_name="typed", index_option="freq")
    builder.add_float_field("fetched_at_s", stored=True, indexed=True, fast=True)
    builder.add_bytes_field("signature", stored=True, indexed=False)
    builder.add_bytes_field("more", stored=True, indexed=False)  # Markdown, where that is kept
    return builder.build()
