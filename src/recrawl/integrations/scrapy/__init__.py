"""An add-on for Scrapy: any spider visits its pages again when that is worth a fetch.

One line in a project's settings, ``ADDONS = {"recrawl.integrations.scrapy.RecrawlAddon": 300}``.
The scheduler keeps requests on disk and gives them back when they are due, the middlewares tell
what came of each visit, and the due times are those of recrawl's own revisit policies.
"""

from recrawl.integrations.scrapy.addon import RecrawlAddon

__all__ = ["RecrawlAddon"]
