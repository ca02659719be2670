"""Revisits: what is believed of pages, and when each is due again."""
