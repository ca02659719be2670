"""The worth of a request, whatever it is for: what all kinds of them are compared by."""
