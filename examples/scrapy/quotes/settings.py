"""Settings of the project; the last three lines make its spiders recrawlers."""

BOT_NAME = "quotes"
SPIDER_MODULES = ["quotes.spiders"]
ROBOTSTXT_OBEY = True
ITEM_PIPELINES = {"quotes.pipelines.ToDisk": 300}

ADDONS = {"recrawl.integrations.scrapy.RecrawlAddon": 300}
RECRAWL_STATE = "recrawl-state"
RECRAWL_BUDGET = "5000/d"
