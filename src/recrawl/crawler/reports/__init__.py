"""Reports on a crawl's state, for the verbs and the pages that show it: read, never written."""
