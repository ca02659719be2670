"""Addresses: which belong to a crawl, and which of them are worth a try."""
