"""The files that pages load, all from here: read once, named by their content."""

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

_FOLDER: Final = Path(__file__).parent / "static"
_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file as it is sent."""

    body: bytes
    content_type: str
    version: str


@lru_cache(maxsize=1)
def _files() -> dict[str, StaticFile]:
    found = {}
    for path in sorted(_FOLDER.rglob("*")):
        if path.suffix in _TYPES:
            body = path.read_bytes()
            version = hashlib.sha256(body).hexdigest()[:12]
            name = path.relative_to(_FOLDER).as_posix()
            found[name] = StaticFile(body, _TYPES[path.suffix], version)
    return found


def static_file(name: str) -> StaticFile | None:
    """Return a file by its name; only names that were found in the folder lead anywhere."""
    return _files().get(name)


def static_url(name: str) -> str:
    """Return the address of a file, which changes when the file does."""
    return f"/static/{name}?v={_files()[name].version}"
