"""Adapters of the index port: tantivy on disk, and a small one in memory."""
