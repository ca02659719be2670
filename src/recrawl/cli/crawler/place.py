"""Crawl that a verb means: a configuration file, a state directory, or a shared database."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cyclopts import Parameter

from recrawl.crawler.ports import StatePlace
from recrawl.crawler.settings import Settings, load_settings, place_of
from recrawl.errors import InputError

DEFAULT_CONFIG = Path("recrawl.toml")


@Parameter(name="*")  # its options are those of the verb
@dataclass(frozen=True, slots=True)
class CrawlNamed:
    """Crawl as the command line names it.

    Parameters
    ----------
    config
        Configuration of the crawl.  [default: recrawl.toml]
    state
        State directory of the crawl, instead of a configuration.
    """

    config: Path | None = None
    state: str | None = None

    @property
    def path(self) -> Path:
        """Configuration that is meant, whether it is there or not."""
        return self.config or DEFAULT_CONFIG

    def place(self) -> StatePlace:
        """Return the state directory or the database that is meant.

        Raises
        ------
        InputError
            Both are given, or neither is and there is no ``recrawl.toml`` here.
        """
        if self.config is not None and self.state is not None:
            raise InputError("give either --config or --state, not both")
        if self.state is not None:
            place = place_of(self.state)
            if isinstance(place, Path) and not place.is_dir():
                raise InputError(f"--state: {self.state} is no directory")
            return place
        if self.config is None and not self.path.exists():
            raise InputError(
                "there is no recrawl.toml here; name a configuration with --config FILE "
                "or a state directory with --state DIR"
            )
        return load_settings(self.path).state

    def settings(self) -> Settings | None:
        """Return what the configuration says, where there is one and no other state is meant."""
        is_told = self.state is None and self.path.exists()
        return load_settings(self.path) if is_told else None


HERE: Final = CrawlNamed()
