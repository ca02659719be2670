"""Rows as arrays, one for each column, in the form in which PostgreSQL keeps them.

Nothing is written as text, quoted or parsed.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from struct import Struct
from typing import Any, Final, NamedTuple

from psycopg import postgres, pq
from psycopg.adapt import Dumper, PyFormat
from typing_extensions import override

from recrawl.crawler.database.connections import Connection

_LENGTH: Final = Struct(">i")
_NULL: Final = _LENGTH.pack(-1)
_HEAD: Final = Struct(">iiIii")  # dimensions, whether there is NULL, type, length, first number
_HEAD_OF_NONE: Final = Struct(">iiI")  # of no dimension

_Written = Callable[[Sequence[Any]], list[bytes]]


def _fixed(form: str) -> _Written:
    packed = Struct(f">i{form}")
    pack = partial(packed.pack, packed.size - _LENGTH.size)
    return lambda values: [_NULL if value is None else pack(value) for value in values]


def _texts(values: Sequence[str | None]) -> list[bytes]:
    """Write texts; the sign that the server takes in none is left out."""
    written: dict[str | None, bytes] = {None: _NULL}
    for text in set(values):
        if text is not None:
            said = text.encode().replace(b"\0", b"")
            written[text] = _LENGTH.pack(len(said)) + said
    return [written[text] for text in values]


def _bytes(values: Sequence[bytes | None]) -> list[bytes]:
    return [_NULL if value is None else _LENGTH.pack(len(value)) + value for value in values]


class _Type(NamedTuple):
    """A type of the server."""

    oid: int
    array_oid: int
    written: _Written


def _typed(name: str, written: _Written) -> _Type:
    return _Type(postgres.types[name].oid, postgres.types[name].array_oid, written)


_FLOAT: Final = _typed("float8", _fixed("d"))
# A column has one type in whatever table it is: a floating number, unless it is named here.
_TYPES: Final = {
    column: type_
    for type_, columns in (
        (
            _typed("int4", _fixed("i")),
            """depth hops tier visits changes failures last_status is_lasting robots_status
            is_read_in_full is_signal status changed signalled n_announced
            shard""",
        ),
        (
            _typed("int8", _fixed("q")),
            """id page_id host_id variant_of found_on read_as received_bytes n_pages n_never_visited
            seq version process sending delivered dead""",
        ),
        (
            _typed("text", _texts),
            """host url kind state etag last_modified title redirect_url due_why importance_parts
            blocked_why ip_address outcome note text measure clocks language canonical content_type
            moved_to why topic hub callback secret source sink trouble name""",
        ),
        (
            _typed("bytea", _bytes),
            "robots_body policy_memory signature raw_hash targets edit learned",
        ),
    )
    for column in columns.split()
}


class Array(NamedTuple):
    """A column of some rows.

    Parameters
    ----------
    oid : of its type
    data : as the protocol has it
    """

    oid: int
    data: bytes


class _ArrayDumper(Dumper):
    """Hands an array over as it is."""

    format = pq.Format.BINARY

    @override
    def get_key(self, obj: Array, format: PyFormat) -> Any:
        return (self.cls, obj.oid)

    @override
    def upgrade(self, obj: Array, format: PyFormat) -> Dumper:
        dumper = type(self)(self.cls)
        dumper.oid = obj.oid
        return dumper

    @override
    def dump(self, obj: Array) -> bytes:
        return obj.data


def takes_arrays(connection: Connection) -> None:
    """Have a connection take an :class:`Array` as a parameter."""
    connection.adapters.register_dumper(Array, _ArrayDumper)


def arrays(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[Array]:
    """Return rows as an array for each column.

    Parameters
    ----------
    columns : their names, which say of which type they are
    rows : one or more; a value for each column; None: NULL

    Returns
    -------
    arrays of as many values as there are rows, or of none where all are NULL, but for the first
    """
    found: list[Array] = []
    for name, values in zip(columns, zip(*rows, strict=True), strict=True):
        type_ = _TYPES.get(name, _FLOAT)
        head, first, n = _HEAD.pack(1, 1, type_.oid, len(values), 1), values[0], len(values)
        if found and first is None and values.count(None) == n:
            # Beside the first column a shorter one is filled with NULL, which takes no time.
            head, said = _HEAD_OF_NONE.pack(0, 0, type_.oid), b""
        elif values[-1] == first and values.count(first) == n:  # as most columns are
            said = n * type_.written((first,))[0]
        else:
            said = b"".join(type_.written(values))
        found.append(Array(type_.array_oid, head + said))
    return found


def told(columns: Sequence[str]) -> str:
    """Return what stands for the arrays of columns in a statement: a table of the name ``told``."""
    # As a table, unnest would keep every column for itself before the first row is taken.
    return f"(SELECT {', '.join(f'unnest(%s) AS {name}' for name in columns)}) AS told"
