"""TOML that people write, read with messages of our own: the line, and what stands there."""

import re
import tomllib
from pathlib import Path
from typing import Any, Final

from recrawl.errors import InvalidSettings

_MOST_BYTES: Final = 64 << 20
_LINE: Final = re.compile(r"at line (\d+), column \d+")
_MISMATCH: Final = re.compile(r"Expected `([^`]+)`, got `([^`]+)`")
_PLACE: Final = re.compile(r" - at `(?:key in )?\$\.?([^`]*)`$")
_KINDS: Final = {
    "int": "a whole number",
    "float": "a number",
    "str": 'a text in quotes, as "..."',
    "bool": "true or false",
    "array": "a list, as [...]",
    "object": "a table",
    "null": "nothing",
}


def read_toml(path: Path, *, hint: str = "") -> dict[str, Any]:
    """Return what a file holds; a byte order mark at its start means nothing.

    Parameters
    ----------
    hint : what to do where there is no such file

    Raises
    ------
    InvalidSettings
        It cannot be read, is no TOML, or is nested too deeply.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except OSError as error:
        missing = f"; {hint}" if hint and isinstance(error, FileNotFoundError) else ""
        raise InvalidSettings(f"{path}: {error.strerror}{missing}") from error
    if len(content) > _MOST_BYTES:
        raise InvalidSettings(f"{path}: is larger than {_MOST_BYTES >> 20} MiB")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidSettings(
            f"{path}, line {line}: not valid TOML: is not UTF-8; save the file as UTF-8"
        ) from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidSettings(f"{path}{_explain_syntax(text, str(error))}") from None
    except (RecursionError, ValueError):  # of a number with thousands of digits
        raise InvalidSettings(
            f"{path}: not valid TOML: is nested too deeply, or holds a number that is too long"
        ) from None


def _explain_syntax(text: str, said: str) -> str:
    found = _LINE.search(said)
    lines = text.splitlines() or [""]
    number = int(found[1]) if found else len(lines)
    shown = lines[min(number, len(lines)) - 1].strip()[:60]
    twice = "a key or table is given twice" if "overwrite" in said or "twice" in said else ""
    wanted = twice or 'write name = value, with texts in quotes, as name = "value"'
    if found is None and not twice:
        return f": not valid TOML: it ends too early, after {shown!r}; a bracket or quote is open"
    return f", line {number}: not valid TOML: {shown!r}; {wanted}"


def explain_mismatch(said: str) -> str:
    """Return what is wrong with a value of another kind than its key needs, in words of ours.

    ``said`` is what the library that converts values says.
    """
    place = _PLACE.search(said)
    where = (place[1] if place else "").replace("[...]", "").strip(".")
    key = f"key `{where}`: " if where else ""
    if found := _MISMATCH.match(said):
        wanted, got = (
            " or ".join(_KINDS.get(kind.strip(), kind.strip()) for kind in kinds.split("|"))
            for kinds in found.groups()
        )
        return f"{key}must be {wanted}, not {got}"
    if "missing required field" in said:
        return f"{key}{said.split('`')[1]} is missing"
    if "Invalid enum value" in said:
        return (
            f"{key}{said.split(chr(39))[1] if chr(39) in said else 'the value'} is not known there"
        )
    if "unknown field" in said:
        inside = f" in {where}" if where else ""
        return f"unknown key {said.split('`')[1]!r}{inside}"
    return f"{key}holds a value that cannot stand there"
