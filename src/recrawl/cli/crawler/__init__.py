"""The verbs of the crawler: configure, run, watch, ask, search, take away."""
