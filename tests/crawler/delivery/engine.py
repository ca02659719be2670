"""The bulk API of OpenSearch and Elasticsearch as their manuals have it, in memory."""

import json
from typing import Any
from urllib.parse import unquote

from tests.acceptance.servers import Exchange


class Engine:
    """Holds documents by id with external versions; remembers those of what was deleted."""

    def __init__(self) -> None:
        self.documents: dict[str, tuple[int, dict[str, Any]]] = {}
        self.deleted: dict[str, int] = {}
        self.is_away = False
        self.refuses: dict[str, int] = {}  # path of a page: status
        self.most_bytes = 10_000_000
        self.authorization: str | None = None
        self.answer: tuple[int, str] | None = None  # in place of all else
        self._scrolled: list[dict[str, Any]] = []

    async def __call__(self, exchange: Exchange) -> None:
        self.authorization = exchange.headers.get("authorization")
        if self.is_away:
            exchange.reset()
            return
        path = unquote(exchange.path)
        if self.answer is not None:
            await exchange.reply(self.answer[1], status=self.answer[0])
        elif len(exchange.body) > self.most_bytes:
            await exchange.reply(status=413)
        elif path == "/docs/_bulk":
            assert exchange.headers["content-type"] == "application/x-ndjson"
            assert exchange.body.endswith(b"\n")
            items = self._bulk(exchange.body.decode().split("\n")[:-1])
            await exchange.reply(json.dumps({"errors": False, "items": items}))
        elif path == "/docs/_search?scroll=1m":
            self._scrolled = [
                {"_id": key, "_version": version, "_source": {"url": document["url"]}}
                for key, (version, document) in self.documents.items()
            ]
            await self._page(exchange, json.loads(exchange.body)["size"])
        elif path == "/_search/scroll":
            assert json.loads(exchange.body)["scroll_id"] == "s"
            await self._page(exchange, 1_000)
        else:
            await exchange.reply(status=404)

    async def _page(self, exchange: Exchange, size: int) -> None:
        hits, self._scrolled = self._scrolled[:size], self._scrolled[size:]
        await exchange.reply(json.dumps({"_scroll_id": "s", "hits": {"hits": hits}}))

    def _bulk(self, lines: list[str]) -> list[dict[str, Any]]:
        results, rest = [], iter(lines)
        for line in rest:
            ((action, head),) = json.loads(line).items()
            document = json.loads(next(rest)) if action == "index" else None
            assert head["version_type"] == "external"
            results.append({action: {"_id": head["_id"], "status": self._one(head, document)}})
        return results

    def _one(self, head: dict[str, Any], document: dict[str, Any] | None) -> int:
        key, version = head["_id"], head["version"]
        refused = self.refuses.get(key.rpartition("/")[2])
        if refused is not None:
            return refused
        before = self.documents.get(key, (0, {}))[0] or self.deleted.get(key, 0)
        if version <= before:
            return 409
        if document is None:
            self.deleted[key] = version
            return 404 if self.documents.pop(key, None) is None else 200
        is_new = key not in self.documents
        self.documents[key] = (version, document)
        return 201 if is_new else 200
