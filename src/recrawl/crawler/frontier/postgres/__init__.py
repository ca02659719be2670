"""The frontier over PostgreSQL: whoever owns shards writes them, whoever looks reads them."""
