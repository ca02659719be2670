"""Reading: the content of a page, its links, and what it says of itself."""
