"""Online decisions: told the time and what happened, they say what to do."""
