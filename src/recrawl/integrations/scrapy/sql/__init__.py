"""What spiders ask the store."""
