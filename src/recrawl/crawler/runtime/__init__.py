"""The engine: asks the policies what to do, and does it."""
