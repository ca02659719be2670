"""Title and text of a PDF, as far as a second of reading goes.

Only for a process that may be ended at any moment: a page of a PDF is a program.
"""

import io
import logging
import time
from typing import Final

from pypdf import PdfReader

_MOST_PAGES: Final = 300
_MOST_BEFORE: Final = 1_024  # bytes before the sign of a PDF, as readers allow
_ENOUGH_S: Final = 1.0  # of processor time, after which no further page is begun

logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # what is wrong with a file is not our news


class UnreadablePdf(Exception):
    """A document says nothing; in words, why."""


def read_pdf(body: bytes, most: int) -> tuple[str, str]:
    """Return title and text of a document.

    Parameters
    ----------
    body : all of it
    most : characters of text; the page that passes them is the last

    Raises
    ------
    UnreadablePdf
        It is no PDF, or a damaged or an encrypted one, or has neither text nor title.
    """
    try:
        title, text = _read(body, most)
    except (MemoryError, UnreadablePdf):
        raise
    except Exception as error:  # whatever is wrong with it: pypdf has no one name for that
        is_pdf = b"%PDF-" in body[:_MOST_BEFORE]
        why = "the PDF is damaged" if is_pdf else "it is called a PDF, and is none"
        raise UnreadablePdf(why) from error
    if not title.strip() and not text.strip():
        raise UnreadablePdf("the PDF has no text, as where it was scanned")
    return title, text


def _read(body: bytes, most: int) -> tuple[str, str]:
    began_s = time.process_time()
    document = PdfReader(io.BytesIO(body))
    if document.is_encrypted and not _is_open(document):
        raise UnreadablePdf("the PDF is encrypted")
    title = str((document.metadata and document.metadata.title) or "")
    parts: list[str] = []
    n = 0
    for page in document.pages[:_MOST_PAGES]:
        parts.append(page.extract_text())
        n += len(parts[-1])
        if n > most or time.process_time() - began_s > _ENOUGH_S:
            break
    return title, "\n".join(parts)


def _is_open(document: PdfReader) -> bool:
    """Tell whether an encrypted document can be read without a password."""
    try:
        return bool(document.decrypt(""))
    except MemoryError:
        raise
    except Exception:  # damaged, or by a cipher that is not here
        return False
