"""What the processes of one crawl share: a PostgreSQL database, its schema, and who owns what."""
