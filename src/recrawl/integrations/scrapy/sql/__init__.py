"""The schema of the add-on's store, and its queries by name."""

import re
from functools import cache
from importlib.resources import files
from typing import Final

__all__ = ["queries", "schema"]

_NAME: Final = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


@cache
def queries() -> dict[str, str]:
    """Return every query of ``queries.sql`` by name."""
    parts = _NAME.split((files(__name__) / "queries.sql").read_text(encoding="utf-8"))
    return {name: text.strip() for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def schema() -> str:
    """Return the statements that make an empty store."""
    return (files(__name__) / "schema.sql").read_text(encoding="utf-8")
