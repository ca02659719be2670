"""Which language a page is in: as it says itself, or as its words look.

Only pages in another language than the index's own need more than its stemmer.
"""

import importlib.util
from functools import lru_cache
from typing import Any, Final

from recrawl.terms import Document

__all__ = ["AUTO", "language_of"]

AUTO: Final = "auto"
_NAMES: Final = {
    "ar": "arabic", "da": "danish", "nl": "dutch", "en": "english", "fi": "finnish",
    "fr": "french", "de": "german", "el": "greek", "hu": "hungarian", "it": "italian",
    "no": "norwegian", "nb": "norwegian", "nn": "norwegian", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "es": "spanish", "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
_FEWEST: Final = 200  # characters of a text that tells its language
_MOST: Final = 2_000  # characters that are looked at
_SURE: Final = 0.95


def language_of(document: Document) -> str | None:
    """Return the language that a page declares, else the one it is detected to be in, if sure.

    None where it is another one than there are stemmers for, or not known; always where nothing is
    declared and the package ``py3langid`` is not there. A millisecond where it is.
    """
    declared = document.language.strip().lower().replace("_", "-").partition("-")[0]
    if declared:
        return _NAMES.get(declared)
    if len(document.text) < _FEWEST:
        return None
    detector = _detector()
    if detector is None:
        return None
    code, likely = detector.classify(document.text[:_MOST])
    return _NAMES.get(code) if likely >= _SURE else None


@lru_cache(maxsize=1)
def _detector() -> Any:
    """Load the detector, which takes a second and 120 MB: only where a page needs it."""
    if importlib.util.find_spec("py3langid") is None:
        return None
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
