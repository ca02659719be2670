"""Integrations with other people's programs; each needs an extra of its own."""
