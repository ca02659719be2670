"""Texts of pages: cut, compared, and in small letters."""
