"""Run the command line with ``python -m recrawl``."""

from recrawl.cli import main

main()
