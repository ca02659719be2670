"""Crawlee for Python: a crawler that asks again for the pages that are worth it now."""

from recrawl.integrations.crawlee.client import RecrawlHttpClient
from recrawl.integrations.crawlee.requests import RecrawlRequests

__all__ = ["RecrawlHttpClient", "RecrawlRequests"]
