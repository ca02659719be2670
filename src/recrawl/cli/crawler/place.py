"""Which crawl a verb means: a configuration file, or a state directory."""

from pathlib import Path

from recrawl.crawler.settings import load_settings
from recrawl.errors import InputError

__all__ = ["DEFAULT_CONFIG", "state_directory"]

DEFAULT_CONFIG = Path("recrawl.toml")


def state_directory(config: Path | None, state: Path | None) -> Path:
    """Return the state directory that is meant.

    Raises
    ------
    InputError
        Both are given, or neither is and there is no ``recrawl.toml`` here.
    """
    if config is not None and state is not None:
        raise InputError("give either --config or --state, not both")
    if state is not None:
        if not state.is_dir():
            raise InputError(f"--state: {state} is no directory")
        return state
    path = config or DEFAULT_CONFIG
    if config is None and not path.exists():
        raise InputError(
            "there is no recrawl.toml here; name a configuration with --config FILE "
            "or a state directory with --state DIR"
        )
    return load_settings(path).state
