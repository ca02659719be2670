"""Adapters of the fetcher and extractor ports: HTTP over aiohttp, HTML over lexbor."""
