"""SQL of the Scrapy store."""
