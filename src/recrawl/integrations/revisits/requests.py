"""Requests that come back when they are due: what the store of a program's own requests answers."""

from dataclasses import dataclass

from recrawl.integrations.revisits.store import PageRow, VisitStore


@dataclass(frozen=True, slots=True)
class Found:
    """Stored state of a request that is made again."""

    due_s: float
    visits: int
    request: bytes


class KeptRequests(VisitStore):
    """Pages with the requests that fetch them. Parameters as of :class:`VisitStore`."""

    def find(self, page_id: int) -> Found | None:
        """Return what is known of a page; None: it is new."""
        added = self._added.get(page_id)
        if added is not None:
            return Found(added["now_s"], 0, added["request"])
        row = self.first("find", id=page_id)
        return None if row is None else Found(*row)

    def reword(
        self, page_id: int, request: bytes, priority: int, due_s: float | None = None
    ) -> None:
        """Keep the request of a known page as its program makes it now.

        Parameters
        ----------
        page_id : of the page
        request, priority : as they are now
        due_s : when it is due; None: as before
        """
        added = self._added.get(page_id)
        if added is not None:
            added.update(request=request, priority=priority)
            return
        self._write(
            "reword", {"id": page_id, "request": request, "priority": priority, "due_s": due_s}
        )

    def due(self, spider: str, due_by_s: float, *, first: bool, limit: int) -> list[PageRow]:
        """Return pages that are due: never visited ones by priority, others as they are late."""
        self.flush()
        name = "first_visits" if first else "revisits"
        return self.rows(name, spider=spider, due_by_s=due_by_s, limit=limit)
