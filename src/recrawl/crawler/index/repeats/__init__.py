"""Repeats: what hosts say on many pages, pages by chance, and several pages alike."""
