"""The statements of the SQLite frontier as PostgreSQL understands them."""

import re
from functools import cache
from typing import Final

from recrawl.crawler.frontier.sql import queries

_PARAMETER: Final = re.compile(r"(?<![:\w]):([a-z]\w*)")
_NUMBERS: Final = "SELECT value::bigint FROM json_array_elements_text(:{}::json)"
_REWRITTEN: Final = (
    ("WHERE url = :url", "WHERE md5(url)::uuid = md5(:url)::uuid AND url = :url"),
    ("SELECT value FROM json_each(:page_ids)", _NUMBERS.format("page_ids")),
    ("SELECT value FROM json_each(:numbers)", _NUMBERS.format("numbers")),
    ("instr(substr(redirect_url, 9), '/')", "strpos(substr(redirect_url, 9), '/')"),
    (" NOT INDEXED", ""),
    ("iif(:edits, edit, NULL)", "CASE WHEN :edits THEN edit END"),
)  # fmt: skip


@cache
def statements() -> dict[str, str]:
    """Return every statement that is asked of the database, by name, with psycopg's parameters."""
    own = queries("recrawl.crawler.frontier.postgres")
    return {name: _translated(text) for name, text in (queries() | own).items()}


def _translated(text: str) -> str:
    for sqlite, postgres in _REWRITTEN:
        text = text.replace(sqlite, postgres)
    return _PARAMETER.sub(r"%(\1)s", text.replace("%", "%%"))
