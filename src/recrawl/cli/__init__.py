"""The command line: one file per verb, each loaded only when it is called."""

import gc

# Nothing that an import makes is garbage; looking for some takes a tenth of the start.
gc.set_threshold(50_000)

try:
    from recrawl.cli.app import main
except KeyboardInterrupt:  # Ctrl-C before anything has begun
    raise SystemExit(130) from None

__all__ = ["main"]
