"""One module per page: plain values in, markup out."""
