"""Meilisearch, Typesense and Solr as their manuals have them, in memory."""

import json
from abc import abstractmethod
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.acceptance.servers import Exchange

Answer = tuple[int, str]


class ScriptedEngine:
    """Holds documents by id."""

    def __init__(self) -> None:
        self.documents: dict[str, dict[str, Any]] = {}
        self.is_away = False
        self.refuses: set[str] = set()  # paths of pages that it does not take
        self.most_bytes = 10_000_000
        self.answer: Answer | None = None  # in place of all else
        self.headers: dict[str, str] = {}

    async def __call__(self, exchange: Exchange) -> None:
        self.headers = dict(exchange.headers)
        if self.is_away:
            exchange.reset()
            return
        if self.answer is not None:
            status, body = self.answer
        elif len(exchange.body) > self.most_bytes:
            status, body = 413, "too large"
        else:
            place = urlsplit(exchange.path)
            query = {name: values[-1] for name, values in parse_qs(place.query).items()}
            given = (exchange.method, unquote(place.path), query, exchange.body)
            status, body = self.said(*given)
        await exchange.reply(body, status=status)

    @abstractmethod
    def said(self, method: str, path: str, query: dict[str, str], body: bytes) -> Answer:
        """Answer one request."""

    def is_refused(self, document: dict[str, Any]) -> bool:
        return str(document["url"]).rpartition("/")[2] in self.refuses

    def versions(self) -> dict[str, int]:
        return {one["url"].rpartition("/")[2]: one["version"] for one in self.documents.values()}


class Meilisearch(ScriptedEngine):
    """Writes by tasks, of which each needs two looks."""

    def __init__(self) -> None:
        super().__init__()
        self.exists = False
        self._tasks: list[tuple[int, dict[str, Any]]] = []

    def said(self, method: str, path: str, query: dict[str, str], body: bytes) -> Answer:
        told: Any = json.loads(body) if body else None
        if method == "GET" and path.startswith("/tasks/"):
            number = int(path.rpartition("/")[2])
            looks, task = self._tasks[number]
            self._tasks[number] = (looks + 1, task)
            return 200, json.dumps(task if looks else {"status": "processing"})
        if (method, path) == ("POST", "/indexes/docs/documents/fetch"):
            return self._fetched(told)
        if (method, path) == ("POST", "/indexes/docs/documents/delete-batch"):
            if not self.exists:
                error = {"code": "index_not_found"}
                return self._task({"status": "failed", "error": error})
            for key in told:
                self.documents.pop(key, None)
            return self._task({"status": "succeeded"})
        if (method, path) == ("POST", "/indexes/docs/documents"):
            assert query == {"primaryKey": "id"}
            self.exists = True
            if any(map(self.is_refused, told)):
                error = {"code": "invalid_document_fields"}
                return self._task({"status": "failed", "error": error})
            self.documents |= {one["id"]: one for one in told}
            return self._task({"status": "succeeded"})
        return 404, ""

    def _fetched(self, told: dict[str, Any]) -> Answer:
        if not self.exists:
            return 404, json.dumps({"code": "index_not_found"})
        ids, start = told.get("ids"), told.get("offset", 0)
        rows = [one for key, one in sorted(self.documents.items()) if ids is None or key in ids]
        rows = rows[start : start + told["limit"]]
        cut = [{name: one[name] for name in told["fields"]} for one in rows]
        return 200, json.dumps({"results": cut, "total": len(self.documents)})

    def _task(self, task: dict[str, Any]) -> Answer:
        self._tasks.append((0, task))
        return 202, json.dumps({"taskUid": len(self._tasks) - 1, "status": "enqueued"})


class Typesense(ScriptedEngine):
    """A collection that is not there until it is made."""

    def __init__(self) -> None:
        super().__init__()
        self.made: dict[str, Any] | None = None

    def said(self, method: str, path: str, query: dict[str, str], body: bytes) -> Answer:
        if (method, path) == ("POST", "/collections"):
            self.made = json.loads(body)
            return 201, "{}"
        if self.made is None:
            return 404, '{"message": "Not Found"}'
        assert self.made["name"] == "docs"
        if (method, path) == ("GET", "/collections/docs"):
            return 200, "{}"
        if (method, path) == ("GET", "/collections/docs/documents/export"):
            chosen = query.get("filter_by", "").removeprefix("id:[").removesuffix("]").split(",")
            names = query["include_fields"].split(",")
            rows = [
                {name: one[name] for name in names}
                for key, one in self.documents.items()
                if "filter_by" not in query or key in chosen
            ]
            return 200, "\n".join(map(json.dumps, rows))
        if (method, path) == ("POST", "/collections/docs/documents/import"):
            assert query == {"action": "upsert"}
            return 200, "\n".join(self._one(json.loads(line)) for line in body.splitlines())
        if method == "DELETE":
            gone = self.documents.pop(path.rpartition("/")[2], None)
            return (404, "{}") if gone is None else (200, "{}")
        return 405, ""

    def _one(self, document: dict[str, Any]) -> str:
        if self.is_refused(document):
            return json.dumps({"success": False, "code": 400, "error": "Bad field"})
        self.documents[document["id"]] = document
        return '{"success": true}'


class Solr(ScriptedEngine):
    """A core without a schema: every field is a list of values."""

    def said(self, method: str, path: str, query: dict[str, str], body: bytes) -> Answer:
        if path == "/solr/docs/get":
            chosen = query["ids"].split(",")
            return self._docs([self.documents[key] for key in chosen if key in self.documents], {})
        if path == "/solr/docs/select":
            start = 0 if query["cursorMark"] == "*" else int(query["cursorMark"])
            rows = [one for _, one in sorted(self.documents.items())]
            rows = rows[start : start + int(query["rows"])]
            mark = str(start + len(rows)) if rows else query["cursorMark"]
            return self._docs(rows, {"nextCursorMark": mark})
        if (method, path) == ("POST", "/solr/docs/update"):
            told = json.loads(body)
            if isinstance(told, dict):
                for key in told["delete"]:
                    self.documents.pop(key, None)
                return 200, "{}"
            if any(map(self.is_refused, told)):
                return 400, '{"error": {"msg": "Error adding field"}}'
            assert not any(isinstance(value, dict) for one in told for value in one.values())
            self.documents |= {one["id"]: one for one in told}
            return 200, "{}"
        return 404, ""

    def _docs(self, rows: list[dict[str, Any]], more: dict[str, Any]) -> Answer:
        listed = [
            {"id": one["id"], "url": [one["url"]], "version": [one["version"]]} for one in rows
        ]
        return 200, json.dumps({"response": {"docs": listed}} | more)
