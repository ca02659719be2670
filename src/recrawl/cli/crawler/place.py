"""Crawl that a verb means: a configuration file, a state directory, or a shared database."""

from pathlib import Path

from recrawl.crawler.ports import StatePlace
from recrawl.crawler.settings import Settings, load_settings, place_of
from recrawl.errors import InputError

__all__ = ["DEFAULT_CONFIG", "settings_at_hand", "state_place"]

DEFAULT_CONFIG = Path("recrawl.toml")


def state_place(config: Path | None, state: str | None) -> StatePlace:
    """Return the state directory or the database that is meant.

    Raises
    ------
    InputError
        Both are given, or neither is and there is no ``recrawl.toml`` here.
    """
    if config is not None and state is not None:
        raise InputError("give either --config or --state, not both")
    if state is not None:
        place = place_of(state)
        if isinstance(place, Path) and not place.is_dir():
            raise InputError(f"--state: {state} is no directory")
        return place
    path = config or DEFAULT_CONFIG
    if config is None and not path.exists():
        raise InputError(
            "there is no recrawl.toml here; name a configuration with --config FILE "
            "or a state directory with --state DIR"
        )
    return load_settings(path).state


def settings_at_hand(config: Path | None, state: str | None) -> Settings | None:
    """Return what the configuration says, where there is one and no other state is meant."""
    path = config or DEFAULT_CONFIG
    return load_settings(path) if state is None and path.exists() else None
