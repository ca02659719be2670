"""The shard of a host, to which its pages belong, too."""

import xxhash


def shard_of(host: str, shards: int) -> int:
    """Return the shard of a host; the same everywhere.

    Parameters
    ----------
    host : scheme, name and port
    shards : number of shards, >= 1; those of hosts are 0 to ``shards`` - 1
    """
    return xxhash.xxh64_intdigest(host.encode()) % shards
