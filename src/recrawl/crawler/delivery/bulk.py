"""OpenSearch and Elasticsearch, by their bulk API with external versions."""

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final
from urllib.parse import quote, urlsplit

from typing_extensions import override

from recrawl.crawler.delivery.exchange import Exchanges, SinkAnswer
from recrawl.crawler.ports import Sink
from recrawl.errors import SinkError
from recrawl.terms import Item, Taken, Verdict

_LEFT_OUT: Final = ("seq", "kind", "overtaken", "diff", "diff_html")
_LONGEST_ID: Final = 512  # bytes, by both engines
_SCANNED: Final = 1_000
_MOST_SCANNED: Final = 10_000_000


class BulkSink(Sink):
    """One document a page in one index, its address as the id.

    Index and delete name an external version, so that what is older than what is held is refused
    by the engine (409), and repeating has no effect. Engines forget the versions of what was
    deleted after a while (``index.gc_deletes``); what comes again later comes in order.

    Parameters
    ----------
    url : of the index: http(s)://host:port/index
    secret : returns ``user:password``, or a header's value such as ``ApiKey ...``; None: neither
    timeout_s : for one exchange
    """

    def __init__(self, url: str, *, secret: Callable[[], bytes] | None, timeout_s: float) -> None:
        self._exchanges = Exchanges(url, timeout_s=timeout_s)
        self._path = urlsplit(url).path.rstrip("/")
        self._secret = secret

    @override
    def apply(self, items: Sequence[Item], batch: str) -> list[Taken]:
        body = b"".join(map(_lines, items))
        answer = self._ask("POST", f"{self._path}/_bulk", body, "application/x-ndjson")
        if answer.status == 413:
            if len(items) == 1:
                return [Taken(Verdict.REJECT, "larger than the engine takes (413)")]
            middle = len(items) // 2
            return [*self.apply(items[:middle], batch), *self.apply(items[middle:], batch)]
        told = self._json(answer)
        results = told.get("items")
        if not isinstance(results, list) or len(results) != len(items):
            raise SinkError(f"{self._exchanges.shown}: an answer without a result for each change")
        return [_taken(one) for one in results]

    @override
    def scan(self) -> Iterable[tuple[str, int]]:
        asked = {"size": _SCANNED, "_source": ["url"], "version": True, "sort": ["_doc"]}
        body = json.dumps(asked).encode()
        told = self._json(self._ask("POST", f"{self._path}/_search?scroll=1m", body))
        seen = 0
        while hits := _hits(told):
            yield from hits
            seen += len(hits)
            scroll = told.get("_scroll_id")
            if not isinstance(scroll, str) or seen > _MOST_SCANNED:
                raise SinkError(f"{self._exchanges.shown}: a search that does not end")
            body = json.dumps({"scroll": "1m", "scroll_id": scroll}).encode()
            told = self._json(self._ask("POST", "/_search/scroll", body))

    @override
    def close(self) -> None:
        self._exchanges.close()

    def _ask(
        self, method: str, target: str, body: bytes, kind: str = "application/json"
    ) -> SinkAnswer:
        headers = {"Content-Type": kind}
        if self._secret is not None:
            secret = self._secret().decode("latin-1")
            if " " not in secret:
                secret = f"Basic {base64.b64encode(secret.encode('latin-1')).decode()}"
            headers["Authorization"] = secret
        return self._exchanges.ask(method, quote(target, safe="/?=&%,.*-_~"), body, headers)

    def _json(self, answer: SinkAnswer) -> dict[str, Any]:
        shown = self._exchanges.shown
        if answer.status != 200:
            raise SinkError(
                f"{shown} answered {answer.status}: {reason(answer.body)}",
                retry_after_s=answer.retry_after_s,
            )
        try:
            told = json.loads(answer.body)
        except (ValueError, RecursionError) as error:
            raise SinkError(f"{shown}: an answer that is no JSON") from error
        if not isinstance(told, dict):
            raise SinkError(f"{shown}: an answer that is no JSON object")
        return told


def _id(url: str) -> str:
    is_short = len(url.encode()) <= _LONGEST_ID
    return url if is_short else f"sha256:{hashlib.sha256(url.encode()).hexdigest()}"


def _lines(item: Item) -> bytes:
    change = item.change
    head = {"_id": _id(change.url), "version": change.version, "version_type": "external"}
    if change.is_removal:
        return json.dumps({"delete": head}).encode() + b"\n"
    return (json.dumps({"index": head}) + "\n" + json.dumps(document_of(item)) + "\n").encode()


def document_of(item: Item) -> dict[str, object]:
    """Return what an engine holds of a page."""
    return {name: value for name, value in item.record.items() if name not in _LEFT_OUT}


def _taken(result: Any) -> Taken:
    """Return the verdict that one result of a bulk request is."""
    told = next(iter(result.values()), None) if isinstance(result, dict) else None
    status = told.get("status") if isinstance(told, dict) else None
    if not isinstance(told, dict) or not isinstance(status, int):
        raise SinkError("an answer with a result that has no status")
    if status in (200, 201) or (status == 404 and "delete" in result):
        return Taken(Verdict.OK)
    if status == 409:
        return Taken(Verdict.STALE)
    why = f"{status}: {reason(json.dumps(told.get('error', '')).encode())}"
    is_passing = status == 429 or status >= 500
    return Taken(Verdict.RETRY if is_passing else Verdict.REJECT, why)


def _hits(told: dict[str, Any]) -> list[tuple[str, int]]:
    try:
        hits = told["hits"]["hits"]
        return [(str(hit["_source"]["url"]), int(hit["_version"])) for hit in hits]
    except (KeyError, TypeError, ValueError) as error:
        raise SinkError("an answer to a search without addresses and versions") from error


def reason(body: bytes) -> str:
    """Return what an error says, in a line."""
    text = body[:2_000].decode("utf-8", "replace")
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())[:200]
