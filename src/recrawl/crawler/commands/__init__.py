"""Programs that people name in the configuration."""
