"""`recrawl probe`: exactly when, for one source or many."""
