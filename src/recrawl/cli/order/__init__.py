"""`recrawl order`: in what order, from frequencies."""
