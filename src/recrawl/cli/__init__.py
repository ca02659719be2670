"""The command line: one file per verb, each loaded only when it is called."""

from recrawl.cli.app import main

__all__ = ["main"]
