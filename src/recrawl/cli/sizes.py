"""Sizes and seeds that people ask for, checked before anything of that size is built."""

import os
from typing import Final

from recrawl.errors import InputError
from recrawl.quantities import show_bytes

_LARGEST_SEED: Final = 2**63 - 1


def check_whole(name: str, value: int, most: int, *, least: int = 1) -> int:
    """Return a whole number within bounds.

    Raises
    ------
    InputError
        It is outside; the message names ``name`` and both bounds.
    """
    if not least <= value <= most:
        raise InputError(f"{name}: {_short(value)} must be between {least} and {most}")
    return value


def check_seed(seed: int) -> int:
    """Return a seed that every generator takes: 0 to 2**63 - 1."""
    return check_whole("--seed", seed, _LARGEST_SEED, least=0)


def check_memory(name: str, n_bytes: float) -> None:
    """Refuse what would not fit into half of this machine's memory.

    Raises
    ------
    InputError
        It would not; the message says how much it would take.
    """
    most = 0.5 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if not n_bytes <= most:
        raise InputError(
            f"{name}: this would take {show_bytes(n_bytes)} of memory, and no more than "
            f"{show_bytes(most)} of this machine's may be used; ask for less"
        )


def _short(value: int) -> str:
    text = str(value)
    return text if len(text) <= 24 else f"{text[:20]}... ({len(text)} digits)"
