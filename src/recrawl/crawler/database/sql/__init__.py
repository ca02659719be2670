"""The schema in files."""

from importlib.resources import files

__all__ = ["migrations"]


def migrations() -> list[str]:
    """Return the migration scripts in order; the schema's version is how many there are."""
    folder = files(__name__) / "migrations"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return [(folder / name).read_text(encoding="utf-8") for name in names]
