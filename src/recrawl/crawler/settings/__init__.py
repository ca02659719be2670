"""The configuration of a crawl: TOML and environment in, frozen settings out, read nowhere else.

Every value is checked here, once, and a message names the file, the key, the value and what would
be right. ``RECRAWL_CONTACT``, ``RECRAWL_BUDGET`` and ``RECRAWL_STATE`` override the file.
"""

import difflib
import os
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec

from recrawl.crawler.settings.file import (
    Archive,
    Buffer,
    Cluster,
    Deliver,
    Feed,
    Fetch,
    File,
    ImportanceKeys,
    Index,
    Plan,
    Politeness,
    Reading,
    Revisit,
    ScopeKeys,
    Source,
    Weight,
)
from recrawl.crawler.settings.meaning import checked
from recrawl.crawler.settings.toml import explain_mismatch, read_toml
from recrawl.crawler.settings.values import Settings, SinkSettings, SourceSettings
from recrawl.crawler.settings.whole import checked_state as place_of
from recrawl.errors import InputError, InvalidSettings

__all__ = ["Settings", "SinkSettings", "SourceSettings", "load_settings", "place_of", "settings_of"]

_FROM_ENVIRONMENT = ("contact", "budget", "state")


def load_settings(path: str | PathLike[str]) -> Settings:
    """Read a configuration file.

    Parameters
    ----------
    path : of the file; the folder of it is where relative paths are meant from

    Raises
    ------
    InvalidSettings
        The file cannot be read, or says something that cannot be; nothing has been written.
    """
    if not isinstance(path, str | PathLike):
        raise InvalidSettings(f"path: {path!r:.80} is no path of a configuration file")
    path = Path(path)
    values = {name: os.environ.get(f"RECRAWL_{name.upper()}") for name in _FROM_ENVIRONMENT}
    return settings_of(
        path,
        read_toml(path, hint="`recrawl init URL` writes one"),
        {n: v for n, v in values.items() if v is not None},
    )


def settings_of(
    path: Path, given: Mapping[str, Any], instead: Mapping[str, str] | None = None
) -> Settings:
    """Return the settings that the content of a file comes to, some values replaced.

    Parameters
    ----------
    path : of the file, for messages; its folder is where relative paths are meant from
    given : the content, as TOML is read
    instead : values by their keys of the top level; None: none

    Raises
    ------
    InvalidSettings
        It says something that cannot be.
    """
    try:
        file = msgspec.convert(given, File)
    except msgspec.ValidationError as error:
        raise InvalidSettings(f"{path}: {_explained(str(error))}") from error
    file = msgspec.structs.replace(file, **(instead or {}))
    try:
        return checked(file, path.parent)
    except InputError as error:
        raise InvalidSettings(f"{path}: {error}") from error


def _explained(text: str) -> str:
    """Add the nearest known key to a complaint about an unknown one."""
    if "unknown field" not in text:
        return explain_mismatch(text)
    name = text.split("`")[1]
    where = text.split("at `$")[1].strip("`. ") if "at `$" in text else ""
    section: Any = {
        "scope": ScopeKeys, "politeness": Politeness, "fetch": Fetch,
        "reading": Reading, "revisit": Revisit, "buffer": Buffer, "index": Index, "plan": Plan,
        "archive": Archive, "feed": Feed, "deliver": Deliver,
        "cluster": Cluster,
        "importance": ImportanceKeys, "": File, "sources": Source,
    }.get(where.partition("[")[0], Weight)  # fmt: skip
    known = [item.name for item in msgspec.structs.fields(section)]
    near = difflib.get_close_matches(name, known)
    meant = f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(known)}"
    return f"unknown key {name!r}{f' in [{where}]' if where else ''}; {meant}"
