"""Where tests write: in memory where there is room, as waiting for a disk shows nothing."""

import shutil
from pathlib import Path

__all__ = ["memory"]

_MEMORY = Path("/dev/shm")
_ROOM_BYTES = 8 * 2**30


def memory() -> Path | None:
    """Return a folder that files are written to, and removed from, in no time; None: no room."""
    is_roomy = _MEMORY.is_mount() and shutil.disk_usage(_MEMORY).free > _ROOM_BYTES
    return _MEMORY if is_roomy else None
