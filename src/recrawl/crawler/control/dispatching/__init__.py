"""Dispatching: which request is made next, and when its host may be asked."""
