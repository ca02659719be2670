"""Files that people have written: there in full, or as they were."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from recrawl.errors import RecrawlError, StateError


@contextmanager
def whole_file(
    out: Path, *, option: str = "", raises: type[RecrawlError] = StateError
) -> Iterator[Path]:
    """Have a file written beside its place, and only when it is whole put there.

    A link stays one, and what is no file, such as /dev/stdout, is written as it comes.

    Parameters
    ----------
    out : where it is to be
    option : by which somebody named it, for messages
    raises : what it is that a file cannot be written

    Yields
    ------
    Path
        What is to be written.

    Raises
    ------
    RecrawlError
        The file cannot be written; of the kind that was asked for.
    """
    # What is no file, or named as a device that may have been led to a file, is written in place.
    is_file = out.parent != Path("/dev") and (os.path.isfile(out) or not os.path.exists(out))
    target = Path(os.path.realpath(out)) if is_file else out
    part = target.with_name(f"{target.name}.part") if is_file else target
    try:
        yield part
        if is_file:
            if target.exists():
                shutil.copymode(target, part)
            os.replace(part, target)
    except OSError as error:
        named = f"{option}: {out}" if option else str(out)
        raise raises(
            f"{named}: cannot be written: {error.strerror or error}; nothing was changed"
        ) from error
    finally:
        if is_file:
            with suppress(OSError):
                part.unlink(missing_ok=True)
