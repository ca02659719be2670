"""The pages that people look at: search, a live view of the crawl, one page explained, what-if.

It reads a state directory beside the crawl that writes it; nothing else knows that it exists.
"""
