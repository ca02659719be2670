"""`recrawl plan`: how often, from a table of pages."""
