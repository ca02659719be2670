"""What a PDF says: its title and the text of its pages, as far as a second of reading goes.

Only for a process that may be ended at any moment: a page of a PDF is a program.
"""

import io
import logging
import time
from typing import Final

from pypdf import PdfReader

__all__ = ["read_pdf"]

_MOST_PAGES: Final = 300
_ENOUGH_S: Final = 1.0  # of processor time, after which no further page is begun

logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # what is wrong with a file is not our news


def read_pdf(body: bytes, most: int) -> tuple[str, str] | None:
    """Return title and text of a document, of ``most`` characters or a little more.

    None: it is no PDF, or a damaged or an encrypted one.
    """
    try:
        return _read(body, most)
    except MemoryError:
        raise
    except Exception:  # whatever is wrong with the document: pypdf has no one name for it
        return None


def _read(body: bytes, most: int) -> tuple[str, str] | None:
    began_s = time.process_time()
    document = PdfReader(io.BytesIO(body))
    if document.is_encrypted and not document.decrypt(""):
        return None
    title = str((document.metadata and document.metadata.title) or "")
    parts: list[str] = []
    n = 0
    for page in document.pages[:_MOST_PAGES]:
        parts.append(page.extract_text())
        n += len(parts[-1])
        if n > most or time.process_time() - began_s > _ENOUGH_S:
            break
    return title, "\n".join(parts)
