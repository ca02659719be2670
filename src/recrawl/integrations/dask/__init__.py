"""Plans of tables whose files are worked on by many machines, by Dask Distributed."""
