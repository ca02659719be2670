"""SQL of the Crawlee store."""
