"""The verb ``simulate``."""
