"""What a crawler of Crawlee asks the store."""
