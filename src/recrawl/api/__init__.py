"""What ``import recrawl`` offers: plans, backtests, crawls and their state, in a few calls each."""
