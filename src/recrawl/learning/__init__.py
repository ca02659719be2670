"""From data to models: one estimator per file."""
