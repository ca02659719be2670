"""In what order: access sequences that realise the rates."""
