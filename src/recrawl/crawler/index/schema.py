"""The fields of the index, and opening one: of this version, or begun anew."""

import shutil
from pathlib import Path

import tantivy

from recrawl.errors import OtherVersion

__all__ = ["clear", "index_exists", "opened"]


def opened(directory: Path, *, read_only: bool) -> tantivy.Index:
    """Open an index; one of another version is begun anew by who may write.

    State and index are compared at every start: the pages are due at once.

    Parameters
    ----------
    directory : of the index; must be there
    read_only : raise :class:`OtherVersion` instead of beginning anew
    """
    if index_exists(directory):
        held = tantivy.Index.open(str(directory))
        for name in ("url", "host", "title", "text"):  # a damaged schema is found out here
            tantivy.Query.term_query(held.schema, name, "")
        if held.schema == _schema():
            return held
        if read_only:
            raise OtherVersion(
                f"index {directory} was written by another version; `recrawl run` makes it anew"
            )
        del held
        clear(directory)
        directory.mkdir(mode=0o700)
    return tantivy.Index(_schema(), path=str(directory))


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
