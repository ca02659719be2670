"""The only package that names concrete adapters: plain constructor calls.

Its modules are imported on their own, so that a search does not wait for an HTTP client.
"""
