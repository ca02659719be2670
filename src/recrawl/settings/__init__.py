"""The configuration of a crawl: TOML and environment in, frozen settings out, read nowhere else.

Every value is checked here, once, and a message names the file, the key, the value and what would
be right. ``RECRAWL_CONTACT``, ``RECRAWL_BUDGET`` and ``RECRAWL_STATE`` override the file.
"""

import difflib
import os
import tomllib
from pathlib import Path
from typing import Any

import msgspec

from recrawl.errors import InputError, InvalidSettings
from recrawl.settings.file import (
    Archive,
    Buffer,
    Fetch,
    File,
    Index,
    Plan,
    Politeness,
    Revisit,
    ScopeKeys,
    Source,
    Weight,
)
from recrawl.settings.meaning import checked
from recrawl.settings.values import Settings, SourceSettings

__all__ = ["Settings", "SourceSettings", "load_settings"]


def load_settings(path: Path) -> Settings:
    """Read a configuration file.

    Raises
    ------
    InvalidSettings
        The file cannot be read, or says something that cannot be; nothing has been written.
    """
    try:
        text = path.read_bytes()
        parsed = tomllib.loads(text.decode("utf-8"))
    except OSError as error:
        hint = "; `recrawl init URL` writes one" if isinstance(error, FileNotFoundError) else ""
        raise InvalidSettings(f"{path}: {error.strerror}{hint}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidSettings(f"{path}: not valid TOML: {error}") from error
    try:
        file = msgspec.convert(parsed, File)
    except msgspec.ValidationError as error:
        raise InvalidSettings(f"{path}: {_explained(str(error))}") from error
    for variable in ("contact", "budget", "state"):
        value = os.environ.get(f"RECRAWL_{variable.upper()}")
        if value is not None:
            file = msgspec.structs.replace(file, **{variable: value})
    try:
        return checked(file, path.parent)
    except InputError as error:
        raise InvalidSettings(f"{path}: {error}") from error


def _explained(text: str) -> str:
    """Add the nearest known key to a complaint about an unknown one."""
    if "unknown field" not in text:
        return text.replace(" - at `$.", ": key `").replace("$.", "")
    name = text.split("`")[1]
    where = text.split("at `$")[1].strip("`. ") if "at `$" in text else ""
    section: Any = {
        "scope": ScopeKeys, "politeness": Politeness, "fetch": Fetch, "revisit": Revisit,
        "buffer": Buffer, "index": Index, "plan": Plan, "archive": Archive, "": File,
        "sources": Source,
    }.get(where.partition("[")[0], Weight)  # fmt: skip
    known = [item.name for item in msgspec.structs.fields(section)]
    near = difflib.get_close_matches(name, known, n=1)
    meant = f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(known)}"
    return f"unknown key {name!r}{f' in [{where}]' if where else ''}; {meant}"
