"""URLFrontier's interface, version 2: the published messages, field numbers and methods as data.

The classes of the messages are made from it on import, in a pool of their own: a program that has
the classes of another copy of the interface can import both. Field names that begin with a capital
are the interface's.
"""

from dataclasses import dataclass
from typing import Any, Final

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

SERVICE: Final = "urlfrontier.URLFrontier"
OK: Final = 0
SKIPPED: Final = (
    1  # there is something wrong with the address, or it is known: not to be sent again
)
FAIL: Final = 2  # may be sent again

# A message a line: its fields as number, name, type. `*` repeated, `[]` map from string, `|` in
# the message's one choice. An enumeration is an int32 on the wire, and is one here.
_MESSAGES: Final = """
Empty:
Boolean: 1 state bool
Long: 1 value uint64
Local: 1 local bool
Active: 1 state bool, 2 local bool
StringList: 1 values string*
AnyCrawlID:
Stats: 1 size uint64, 2 inProcess uint32, 3 counts uint64[], 4 numberOfQueues uint64, 5 crawlID string
Pagination: 1 start uint32, 2 size uint32, 3 include_inactive bool, 4 crawlID string, 5 local bool
DeleteCrawlMessage: 1 value string, 2 local bool
QueueList: 1 values string*, 2 total uint64, 3 start uint32, 4 size uint32, 5 crawlID string
QueueWithinCrawlParams: 1 key string, 2 crawlID string, 3 local bool
QueueDelayParams: 1 key string, 2 delay_requestable uint32, 3 crawlID string, 4 local bool
BlockQueueParams: 1 key string, 2 time uint64, 3 crawlID string, 4 local bool
CrawlLimitParams: 1 key string, 2 limit uint32, 3 crawlID string, 4 local bool
GetParams: 1 max_urls_per_queue uint32, 2 max_queues uint32, 3 key string, 4 delay_requestable uint32, 5 anyCrawlID AnyCrawlID|, 6 crawlID string|
URLInfo: 1 url string, 2 key string, 3 metadata StringList[], 4 crawlID string
KnownURLItem: 1 info URLInfo, 2 refetchable_from_date uint64
DiscoveredURLItem: 1 info URLInfo
URLItem: 1 discovered DiscoveredURLItem|, 2 known KnownURLItem|, 3 ID string, 4 creation_date uint64
AckMessage: 1 ID string, 2 status int32
DiscoveredBatch: 1 ID string, 2 items URLInfo*
BatchAck: 1 ID string, 2 statuses int32*
LogLevelParams: 1 package string, 2 level int32, 3 local bool
URLStatusRequest: 1 url string, 2 key string, 3 crawlID string
ListUrlParams: 1 start uint32, 2 size uint32, 3 key string, 4 crawlID string, 5 local bool, 6 filter string, 7 ignoreCase bool
CountUrlParams: 1 key string, 2 crawlID string, 3 filter string, 4 ignoreCase bool, 5 local bool
PurgeUrlParams: 1 key string, 2 crawlID string, 3 days uint32
"""  # noqa: E501 - one message a line

# What is asked and what is answered; `*` is a stream.
_METHODS: Final = """
ListNodes: Empty StringList
ListCrawls: Local StringList
DeleteCrawl: DeleteCrawlMessage Long
ListQueues: Pagination QueueList
GetURLs: GetParams URLInfo*
PutURLs: URLItem* AckMessage*
PutDiscovered: DiscoveredBatch* BatchAck*
GetStats: QueueWithinCrawlParams Stats
DeleteQueue: QueueWithinCrawlParams Long
BlockQueueUntil: BlockQueueParams Empty
SetActive: Active Empty
GetActive: Local Boolean
SetDelay: QueueDelayParams Empty
SetLogLevel: LogLevelParams Empty
SetCrawlLimit: CrawlLimitParams Empty
GetURLStatus: URLStatusRequest URLItem
ListURLs: ListUrlParams URLItem*
CountURLs: CountUrlParams Long
PurgeURLs: PurgeUrlParams Long
"""

_PACKAGE: Final = "urlfrontier"
_SCALARS: Final = {
    "bool": FieldDescriptorProto.TYPE_BOOL,
    "int32": FieldDescriptorProto.TYPE_INT32,
    "string": FieldDescriptorProto.TYPE_STRING,
    "uint32": FieldDescriptorProto.TYPE_UINT32,
    "uint64": FieldDescriptorProto.TYPE_UINT64,
}


@dataclass(frozen=True, slots=True)
class Method:
    """A method of the service: names of its messages, and which of the two are streams."""

    name: str
    asked: str
    answered: str
    streams_in: bool
    streams_out: bool


def _lines(text: str) -> list[tuple[str, str]]:
    parts = (line.partition(":") for line in text.strip().splitlines())
    return [(name, rest.strip()) for name, _, rest in parts]


def _typed(field: FieldDescriptorProto, kind: str) -> None:
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
    else:
        field.type = FieldDescriptorProto.TYPE_MESSAGE
        field.type_name = f".{_PACKAGE}.{kind}"


def _add_map(field: FieldDescriptorProto, within: DescriptorProto, kind: str) -> None:
    entry = within.nested_type.add(name=f"{field.name.capitalize()}Entry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, label=1, type=_SCALARS["string"])
    _typed(entry.field.add(name="value", number=2, label=1), kind)
    field.type = FieldDescriptorProto.TYPE_MESSAGE
    field.type_name = f".{_PACKAGE}.{within.name}.{entry.name}"
    field.label = FieldDescriptorProto.LABEL_REPEATED


def _described() -> FileDescriptorProto:
    file = FileDescriptorProto(name="urlfrontier.proto", package=_PACKAGE, syntax="proto3")
    for name, fields in _lines(_MESSAGES):
        described = file.message_type.add(name=name)
        for number, field_name, kind in (part.split() for part in fields.split(",") if part):
            field = described.field.add(
                name=field_name, number=int(number), label=FieldDescriptorProto.LABEL_OPTIONAL
            )
            if kind.endswith("[]"):
                _add_map(field, described, kind[:-2])
                continue
            if kind.endswith("*"):
                field.label = FieldDescriptorProto.LABEL_REPEATED
            elif kind.endswith("|"):
                field.oneof_index = 0
                if not described.oneof_decl:
                    described.oneof_decl.add(name="item")
            _typed(field, kind.rstrip("*|"))
    return file


_pool: Final = DescriptorPool()
_pool.Add(_described())
_classes: Final[dict[str, Any]] = {
    name: GetMessageClass(_pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))
    for name, _ in _lines(_MESSAGES)
}
METHODS: Final = tuple(
    Method(name, asked.rstrip("*"), answered.rstrip("*"), asked[-1] == "*", answered[-1] == "*")
    for name, (asked, answered) in ((name, rest.split()) for name, rest in _lines(_METHODS))
)


def message(name: str) -> Any:
    """Return the class of a message."""
    return _classes[name]
