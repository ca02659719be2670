"""Webs that really changed: what was recorded of them, served again as it was at each instant."""
