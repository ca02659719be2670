"""The shard of a host, to which its pages belong, too."""

import xxhash

__all__ = ["shard_of"]


def shard_of(host: str, shards: int) -> int:
    """Return the shard of a host, given as scheme, name and port; the same everywhere."""
    return xxhash.xxh64_intdigest(host.encode()) % shards
