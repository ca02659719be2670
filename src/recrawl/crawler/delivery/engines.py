"""Meilisearch, Typesense and Solr: engines that know no versions of their own.

What an engine holds of the pages of a batch is asked first, and only what is newer is written. That
is enough, as one process delivers at a time, and each page's changes in their order. What was
removed leaves no trace: what comes again later comes in order.
"""

import base64
import hashlib
import json
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote, urlsplit

from typing_extensions import override

from recrawl.crawler.delivery.bulk import document_of, reason
from recrawl.crawler.delivery.exchange import Exchanges
from recrawl.crawler.ports import Sink
from recrawl.errors import SinkError
from recrawl.terms import Item, Taken, Verdict

_SCANNED: Final = 1_000
_MOST_SCANNED: Final = 10_000_000
_LOOK_S: Final = 0.05  # between two looks at a task

_TOO_LARGE: Final = 413

Verdicts = dict[str, Taken]


class _RefusedError(SinkError):
    """Refusal of what was sent; one page of it may be to blame, or all that is sent there."""

    def __init__(self, why: str, status: int) -> None:
        super().__init__(why)
        self.status = status


class _EngineSink(Sink):
    """One document a page, a hash of its address as the id.

    Parameters
    ----------
    url : of the index: http(s)://host:port/path
    secret : returns what authorises; None: nothing does
    timeout_s : for one exchange
    """

    def __init__(self, url: str, *, secret: Callable[[], bytes] | None, timeout_s: float) -> None:
        self._exchanges = Exchanges(url, timeout_s=timeout_s)
        self._path = quote(urlsplit(url).path.strip("/"), safe="/-._~")
        self._secret = secret
        self._timeout_s = timeout_s

    @override
    def apply(self, items: Sequence[Item], batch: str) -> list[Taken]:
        refusals: list[_RefusedError] = []
        taken = self._applied(items, refusals)
        if len(refusals) == len(items):
            raise refusals[0]  # no page is to blame, it seems: none is put aside
        return taken

    def _applied(self, items: Sequence[Item], refusals: "list[_RefusedError]") -> list[Taken]:
        """Apply; where a batch is refused as a whole, find out which of its changes is to blame."""
        try:
            return self._at_once(items)
        except _RefusedError as error:
            if len(items) == 1:
                if error.status != _TOO_LARGE:
                    refusals.append(error)
                return [Taken(Verdict.REJECT, str(error))]
        middle = len(items) // 2
        first = self._applied(items[:middle], refusals)
        return first + self._applied(items[middle:], refusals)

    def _at_once(self, items: Sequence[Item]) -> list[Taken]:
        held = self._versions([_id(item.change.url) for item in items])
        latest: dict[str, Item] = {}
        verdicts: list[Taken | str] = []
        for item in items:
            key, version = _id(item.change.url), item.change.version
            if version <= held.get(key, 0):
                verdicts.append(Taken(Verdict.STALE))
                continue
            held[key] = version
            latest[key] = item
            verdicts.append(key)
        told = self._write(
            [key for key, item in latest.items() if item.change.is_removal],
            {
                key: {"id": key, **document_of(item)}
                for key, item in latest.items()
                if not item.change.is_removal
            },
        )
        return [
            told.get(one, Taken(Verdict.OK)) if isinstance(one, str) else one for one in verdicts
        ]

    @override
    def close(self) -> None:
        self._exchanges.close()

    @abstractmethod
    def _versions(self, keys: list[str]) -> dict[str, int]:
        """Return the versions of those that are held."""

    @abstractmethod
    def _write(self, removed: list[str], documents: Mapping[str, dict[str, object]]) -> Verdicts:
        """Remove and write; return verdicts of those that were not taken."""

    @abstractmethod
    def _authorization(self, secret: str) -> dict[str, str]:
        """Return the header that carries a secret."""

    def _ask(
        self, method: str, target: str, said: object = None, *, missing_ok: bool = False
    ) -> bytes | None:
        """Return the body of an answer; None where what was asked for is not there, and may be.

        Parameters
        ----------
        said : bytes as they are, else sent as JSON
        """
        body = said if isinstance(said, bytes) else b"" if said is None else _dumped(said)
        headers = {"Content-Type": "application/json"}
        if self._secret is not None:
            headers |= self._authorization(self._secret().decode("latin-1"))
        answer = self._exchanges.ask(method, f"/{target}", body, headers)
        if answer.status == 404 and missing_ok:
            return None
        if not 200 <= answer.status < 300:
            why = f"{self._exchanges.shown} answered {answer.status}: {reason(answer.body)}"
            if answer.status in (400, _TOO_LARGE, 422) and said is not None:
                raise _RefusedError(why, answer.status)
            raise SinkError(why, retry_after_s=answer.retry_after_s)
        return answer.body

    def _told(
        self, method: str, target: str, said: object = None, *, missing_ok: bool = False
    ) -> dict[str, Any]:
        """Return an answer that is a JSON object; an empty one where nothing is there."""
        body = self._ask(method, target, said, missing_ok=missing_ok)
        told = {} if body is None else self._loaded(body)
        if not isinstance(told, dict):
            raise self._nonsense("an answer that is no JSON object")
        return told

    def _loaded(self, body: bytes) -> Any:
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            raise self._nonsense("an answer that is no JSON") from error

    def _nonsense(self, what: str) -> SinkError:
        return SinkError(f"{self._exchanges.shown}: {what}")

    def _rows(self, rows: Any, name: str) -> list[tuple[str, int]]:
        """Return what documents say of themselves: a field, and their version."""
        try:
            return [(str(_single(row[name])), int(_single(row["version"]))) for row in rows]
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise self._nonsense(f"documents without {name} and version") from error


class MeilisearchSink(_EngineSink):
    """Meilisearch 1.14 or later: writing makes tasks, whose ends are waited for.

    The secret is an API key. The index is made by the first document.
    """

    @override
    def scan(self) -> Iterable[tuple[str, int]]:
        for start in range(0, _MOST_SCANNED, _SCANNED):
            asked = {"offset": start, "limit": _SCANNED, "fields": ["url", "version"]}
            rows = self._rows(self._fetched(asked), "url")
            yield from rows
            if len(rows) < _SCANNED:
                return

    def _fetched(self, asked: dict[str, object]) -> Any:
        target = f"indexes/{self._path}/documents/fetch"
        told = self._told("POST", target, asked, missing_ok=True)
        return told.get("results", [])

    @override
    def _versions(self, keys: list[str]) -> dict[str, int]:
        asked = {"ids": keys, "limit": len(keys), "fields": ["id", "version"]}
        return dict(self._rows(self._fetched(asked), "id"))

    @override
    def _write(self, removed: list[str], documents: Mapping[str, dict[str, object]]) -> Verdicts:
        place = f"indexes/{self._path}/documents"
        if removed:
            self._done(self._told("POST", f"{place}/delete-batch", removed), is_removal=True)
        if documents:
            told = self._told("POST", f"{place}?primaryKey=id", list(documents.values()))
            self._done(told, is_removal=False)
        return {}

    def _done(self, task: dict[str, Any], *, is_removal: bool) -> None:
        """Wait until a task has ended well."""
        number, until_s = task.get("taskUid"), time.monotonic() + self._timeout_s
        if not isinstance(number, int):
            raise self._nonsense("an answer without a task")
        while True:
            told = self._told("GET", f"tasks/{number}")
            if told.get("status") == "succeeded":
                return
            if told.get("status") in ("failed", "canceled"):
                error = told.get("error")
                if is_removal and isinstance(error, dict) and error.get("code") == _NO_INDEX:
                    return  # then what was to go is not there
                why = f"{self._exchanges.shown}: a task that failed: {reason(_dumped(error))}"
                raise SinkError(why) if is_removal else _RefusedError(why, 400)
            if time.monotonic() > until_s:
                raise self._nonsense(f"a task that did not end within {self._timeout_s:g} s")
            time.sleep(_LOOK_S)

    @override
    def _authorization(self, secret: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {secret}"}


_NO_INDEX: Final = "index_not_found"


class TypesenseSink(_EngineSink):
    """Typesense: a collection, which is made with fields of any name where it is missing.

    The secret is an API key.
    """

    @override
    def scan(self) -> Iterable[tuple[str, int]]:
        yield from self._exported("include_fields=url,version", "url")

    def _exported(self, asked: str, name: str) -> list[tuple[str, int]]:
        """Return documents of the collection; the whole answer is bounded."""
        target = f"collections/{self._path}/documents/export?{asked}"
        body = self._ask("GET", target, missing_ok=True)
        lines = [] if body is None else body.splitlines()
        return self._rows([self._loaded(line) for line in lines if line.strip()], name)

    @override
    def _versions(self, keys: list[str]) -> dict[str, int]:
        found: dict[str, int] = {}
        for start in range(0, len(keys), _AT_ONCE):
            chosen = quote(f"id:[{','.join(keys[start : start + _AT_ONCE])}]")
            found |= self._exported(f"include_fields=id,version&filter_by={chosen}", "id")
        return found

    @override
    def _write(self, removed: list[str], documents: Mapping[str, dict[str, object]]) -> Verdicts:
        place = f"collections/{self._path}"
        if documents and self._ask("GET", place, missing_ok=True) is None:
            fields = [
                {"name": "url", "type": "string"},
                {"name": "version", "type": "int64"},
                {"name": ".*", "type": "auto"},
            ]
            made = {"name": urlsplit(self._path).path, "fields": fields}
            self._ask("POST", "collections", made | {"enable_nested_fields": True})
        for key in removed:
            self._ask("DELETE", f"{place}/documents/{key}", missing_ok=True)
        if not documents:
            return {}
        lines = b"\n".join(map(_dumped, documents.values()))
        body = self._ask("POST", f"{place}/documents/import?action=upsert", lines) or b""
        results = [self._loaded(line) for line in body.splitlines() if line.strip()]
        if len(results) != len(documents) or not all(isinstance(one, dict) for one in results):
            raise self._nonsense("an answer without a result for each change")
        return {
            key: _refused(one)
            for key, one in zip(documents, results, strict=True)
            if one.get("success") is not True
        }

    @override
    def _authorization(self, secret: str) -> dict[str, str]:
        return {"X-TYPESENSE-API-KEY": secret}


_AT_ONCE: Final = 40  # ids in one address


class SolrSink(_EngineSink):
    """Solr with its update log, as is the default; its fields are for the schema to know.

    The secret is ``user:password``, or a header's value such as ``Bearer ...``.
    """

    @override
    def scan(self) -> Iterable[tuple[str, int]]:
        mark, seen = "*", 0
        while True:
            asked = f"q=*:*&sort=id%20asc&rows={_SCANNED}&fl=id,url,version&wt=json"
            told = self._told("GET", f"{self._path}/select?{asked}&cursorMark={quote(mark, '')}")
            rows = self._rows(_docs(told), "url")
            yield from rows
            seen += len(rows)
            following = told.get("nextCursorMark")
            if following == mark or not rows:
                return
            if not isinstance(following, str) or seen > _MOST_SCANNED:
                raise self._nonsense("a search that does not end")
            mark = following

    @override
    def _versions(self, keys: list[str]) -> dict[str, int]:
        found: dict[str, int] = {}
        for start in range(0, len(keys), _AT_ONCE):
            chosen = ",".join(keys[start : start + _AT_ONCE])
            told = self._told("GET", f"{self._path}/get?ids={chosen}&fl=id,version&wt=json")
            found |= self._rows(_docs(told), "id")
        return found

    @override
    def _write(self, removed: list[str], documents: Mapping[str, dict[str, object]]) -> Verdicts:
        place = f"{self._path}/update?commitWithin=1000&wt=json"
        if removed:
            self._ask("POST", place, {"delete": removed})
        if documents:
            self._ask("POST", place, [_flat(one) for one in documents.values()])
        return {}

    @override
    def _authorization(self, secret: str) -> dict[str, str]:
        if " " not in secret:
            secret = f"Basic {base64.b64encode(secret.encode('latin-1')).decode()}"
        return {"Authorization": secret}


def _docs(told: dict[str, Any]) -> Any:
    response = told.get("response")
    return response.get("docs") if isinstance(response, dict) else None


def _flat(document: dict[str, object]) -> dict[str, object]:
    """Return a document without nested ones, which are children to Solr; those become JSON."""

    def plain(value: object) -> object:
        if isinstance(value, dict):
            return json.dumps(value)
        if isinstance(value, list):
            return [plain(one) for one in value]
        return value

    return {name: plain(value) for name, value in document.items() if value is not None}


def _refused(result: dict[str, Any]) -> Taken:
    code = result.get("code")
    is_passing = isinstance(code, int) and (code == 429 or code >= 500)
    why = f"{code}: {reason(_dumped(result.get('error', '')))}"
    return Taken(Verdict.RETRY if is_passing else Verdict.REJECT, why)


def _single(value: Any) -> Any:
    """Return a value that an engine may hold as a list of one."""
    return value[0] if isinstance(value, list) else value


def _id(url: str) -> str:
    return hashlib.sha256(url.encode()).hexdigest()


def _dumped(said: object) -> bytes:
    return json.dumps(said).encode()


ENGINES: Final[Mapping[str, type[MeilisearchSink | TypesenseSink | SolrSink]]] = {
    "meilisearch": MeilisearchSink,
    "typesense": TypesenseSink,
    "solr": SolrSink,
}
