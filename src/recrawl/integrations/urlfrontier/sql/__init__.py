"""What the service asks the store."""
