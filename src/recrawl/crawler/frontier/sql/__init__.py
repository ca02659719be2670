"""SQL in files: the schema, its migrations, and every query by its name."""

import re
from functools import cache
from importlib.resources import files
from typing import Final

__all__ = ["migrations", "numbered", "queries"]

_NAME: Final = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
_PARAMETER: Final = re.compile(r"(?<![:\w]):([a-z]\w*)")


@cache
def queries(package: str = __name__) -> dict[str, str]:
    """Return every query of a package's ``queries.sql`` by the name that stands before it."""
    parts = _NAME.split((files(package) / "queries.sql").read_text(encoding="utf-8"))
    found = {name: text.strip() for name, text in zip(parts[1::2], parts[2::2], strict=True)}
    if len(found) < len(parts) // 2:
        raise ValueError("two statements of one name")
    return found


@cache
def numbered(statement: str, names: tuple[str, ...]) -> str:
    """Return a statement that takes its parameters in an order: by name, each is looked up.

    Parameters
    ----------
    statement : of SQLite, with named parameters
    names : of all its parameters, in the order in which their values come
    """
    return _PARAMETER.sub(lambda found: f"?{names.index(found[1]) + 1}", statement)


def migrations() -> list[str]:
    """Return the migration scripts in order; the schema's version is how many there are."""
    folder = files(__name__) / "migrations"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return [(folder / name).read_text(encoding="utf-8") for name in names]
