"""Plans of tables in many files, and replays of histories, by the workers of a Dask cluster."""
