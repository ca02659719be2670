"""`recrawl robots`: how many, from rates or a log."""
