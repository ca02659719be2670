"""`recrawl fit`: from data to model."""
