"""The schema of the store, and its queries by name; integrations have files of their own."""

import re
from functools import cache
from importlib.resources import files
from typing import Final

__all__ = ["queries", "schema"]

_NAME: Final = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


@cache
def queries(package: str) -> dict[str, str]:
    """Return every query of a package's ``queries.sql`` by name."""
    parts = _NAME.split((files(package) / "queries.sql").read_text(encoding="utf-8"))
    return {name: text.strip() for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def schema(package: str, name: str = "schema") -> list[str]:
    """Return the statements of a file of SQL.

    Parameters
    ----------
    package : name of the package, with dots
    name : of its file, without the ending
    """
    return (files(package) / f"{name}.sql").read_text(encoding="utf-8").split(";\n")
