"""The crawler: the engine and what it is made of, from decisions to adapters and settings."""
