"""Answers of servers: what they mean, and what becomes of the page."""
