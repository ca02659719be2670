"""Shared parts of the integrations: visits in SQLite, and due times by recrawl's own policies."""
