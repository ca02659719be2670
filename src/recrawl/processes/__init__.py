"""Stochastic processes of the web: how pages change and how work arrives."""
