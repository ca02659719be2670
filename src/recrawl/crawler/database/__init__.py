"""The PostgreSQL database that processes of one crawl share: its schema, and who owns what."""
