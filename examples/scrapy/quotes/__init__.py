"""A Scrapy project whose spider keeps its items fresh."""
