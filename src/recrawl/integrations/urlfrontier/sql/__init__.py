"""SQL of the service's store."""
