"""The command line: one file per verb, each loaded only when it is called."""

import gc

# Nothing that an import makes is garbage; looking for some takes a tenth of the start.
gc.set_threshold(50_000)

from recrawl.cli.app import main  # noqa: E402 - after what makes importing it quick

__all__ = ["main"]
