"""What makes other people's programs recrawl; each needs an extra of its own."""
