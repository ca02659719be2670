"""Which crawl a verb means: a configuration file, a state directory, or a shared database."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from cyclopts import Parameter

from recrawl.crawler.ports import StatePlace
from recrawl.crawler.settings import load_settings, place_of
from recrawl.errors import InputError

__all__ = ["DEFAULT_CONFIG", "StateOption", "state_place"]

DEFAULT_CONFIG = Path("recrawl.toml")


def _read(_: Any, tokens: Sequence[Any]) -> StatePlace:
    return place_of(tokens[0].value)


StateOption: TypeAlias = Annotated[StatePlace | None, Parameter(converter=_read, n_tokens=1)]


def state_place(config: Path | None, state: StatePlace | None) -> StatePlace:
    """Return the state directory or the database that is meant.

    Raises
    ------
    InputError
        Both are given, or neither is and there is no ``recrawl.toml`` here.
    """
    if config is not None and state is not None:
        raise InputError("give either --config or --state, not both")
    if state is not None:
        if isinstance(state, Path) and not state.is_dir():
            raise InputError(f"--state: {state} is no directory")
        return state
    path = config or DEFAULT_CONFIG
    if config is None and not path.exists():
        raise InputError(
            "there is no recrawl.toml here; name a configuration with --config FILE "
            "or a state directory with --state DIR"
        )
    return load_settings(path).state
