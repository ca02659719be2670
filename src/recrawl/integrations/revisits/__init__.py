"""What the integrations share: visits kept in SQLite, and due times by recrawl's own policies."""
