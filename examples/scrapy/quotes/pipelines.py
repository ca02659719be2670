"""Items as lines of JSON, on disk before the visit counts."""

import json
import os
from pathlib import Path
from typing import Any


class ToDisk:
    """Appends to ``quotes.jsonl``."""

    def open_spider(self, spider: Any = None) -> None:
        """Open the file."""
        self._file = Path("quotes.jsonl").open("a", encoding="utf-8")  # noqa: SIM115

    def process_item(self, item: Any, spider: Any = None) -> Any:
        """Write an item down."""
        self._file.write(json.dumps(item, ensure_ascii=False) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        return item

    def close_spider(self, spider: Any = None) -> None:
        """Close the file."""
        self._file.close()
