"""The verb ``history``: histories of changes from where they are recorded."""
