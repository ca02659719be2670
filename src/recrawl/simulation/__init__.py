"""Worlds that we know the truth about."""
