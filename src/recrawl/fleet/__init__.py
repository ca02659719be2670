"""How many robots run now: the optimal control of a finite indexing buffer."""
