"""What a crawl's state says, for the verbs and the pages that show it: read, never written."""
