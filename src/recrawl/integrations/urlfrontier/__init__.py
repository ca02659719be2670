"""URLFrontier's interface over gRPC: crawlers that speak it get their schedule from recrawl."""
