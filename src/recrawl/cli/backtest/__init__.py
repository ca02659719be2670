"""The verb ``backtest``: policies replayed on a recorded history of changes."""
