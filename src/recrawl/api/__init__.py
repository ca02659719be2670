"""Public API of recrawl: plans, backtests, crawls and their state, in a few calls each."""
