"""Indexes that tests open are closed behind them: newer Pythons complain of files left open."""

from collections.abc import Iterator
from typing import Any

import pytest

from recrawl.crawler.index.tantivy import TantivyIndex


@pytest.fixture(autouse=True)
def _closed_indexes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    opened: list[TantivyIndex] = []
    begin = TantivyIndex.__init__

    def noted(self: TantivyIndex, *arguments: Any, **options: Any) -> None:
        begin(self, *arguments, **options)
        opened.append(self)

    monkeypatch.setattr(TantivyIndex, "__init__", noted)
    yield
    for index in opened:
        index.close()
