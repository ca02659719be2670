"""Language of a page: as it says itself, or as its words look.

Only pages in another language than the index's own need more than its stemmer.
"""

import importlib.util
from functools import lru_cache
from typing import Any, Final

import tantivy

from recrawl.terms import Document

AUTO: Final = "auto"
_NAMES: Final = {
    "ar": "arabic", "da": "danish", "nl": "dutch", "en": "english", "fi": "finnish",
    "fr": "french", "de": "german", "el": "greek", "hu": "hungarian", "it": "italian",
    "no": "norwegian", "nb": "norwegian", "nn": "norwegian", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "es": "spanish", "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
_LISTED: Final = (
    "english", "danish", "dutch", "finnish", "french", "german", "hungarian", "italian",
    "norwegian", "portuguese", "russian", "spanish", "swedish",
)  # fmt: skip
_SCRIPTS: Final = {"greek": (0x370, 0x400), "tamil": (0xB80, 0xC00), None: (0x3040, 0xD7B0)}
_FEWEST: Final = 200  # characters of a text that tells its language
_MOST: Final = 2_000  # characters that are looked at
_TOLD: Final = 0.12  # of all words are words that a language cannot do without
_PLAINLY: Final = 0.2
_NEXT: Final = 0.5  # as many of another language at most
_UNMARKED: Final = 0.003  # of all letters are other ones than a to z
_HARDLY_MARKED: Final = 0.02
_DOUBTFUL: Final = 4  # pages that are let pass, and
_SELDOM: Final = 0.02  # of all pages
_SURE: Final = 0.95


class Languages:
    """Tells the language of one page after the other.

    What is written in a to z is English, unless words that another language cannot do without say
    otherwise: so are tables, code and names. What neither words nor letters tell is detected where
    the package ``py3langid`` is there, which takes 80 MB: not for a page or two of a site.
    """

    def __init__(self) -> None:
        self._n_pages = 0
        self._n_doubtful = 0

    def of(self, document: Document) -> str | None:
        """Return the language that a page declares, else the one that its words are of.

        None where it is another language than there are stemmers for, or not known. A millisecond.
        """
        declared = document.language.strip().lower().replace("_", "-").partition("-")[0]
        if declared:
            return _NAMES.get(declared)
        text = document.text[:_MOST]
        letters = [letter for letter in text if letter.isalpha()]
        if len(text) < _FEWEST or not letters:
            return None
        self._n_pages += 1
        others = [ord(letter) for letter in letters if letter > "\x7f"]
        for language, (first, end) in _SCRIPTS.items():
            if sum(first <= code < end for code in others) > len(letters) / 2:
                return language
        marked = len(others) / len(letters)
        told = _by_stop_words(text)
        if told is not None and (told != "english" or marked <= _HARDLY_MARKED):
            return told
        if marked <= _UNMARKED:
            return "english"
        if marked <= _HARDLY_MARKED:
            self._n_doubtful += 1
            if self._n_doubtful <= max(_DOUBTFUL, _SELDOM * self._n_pages):
                return None
        return _detected(text)


def _by_stop_words(text: str) -> str | None:
    """Return the language that a text has many words of that mean little, and of no other."""
    analyzers = _stop_words()
    n_words = max(len(analyzers[""].analyze(text)), 1)
    best, most, second = None, 0.0, 0.0
    for language in _LISTED:
        share = 1.0 - len(analyzers[language].analyze(text)) / n_words
        if share > most:
            best, most, second = language, share, most
        else:
            second = max(second, share)
        if best == "english" and most >= _PLAINLY:
            return best  # nine pages of ten on many sites: spared twelve lists
    return best if most >= _TOLD and second <= _NEXT * most else None


@lru_cache(maxsize=1)
def _stop_words() -> dict[str, Any]:
    """Return analyzers that leave out each language's stop words, and one that leaves out none."""

    def builder() -> Any:
        simple = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        return simple.filter(tantivy.Filter.lowercase())

    made = {name: builder().filter(tantivy.Filter.stopword(name)).build() for name in _LISTED}
    return made | {"": builder().build()}


def _detected(text: str) -> str | None:
    detector = _detector()
    if detector is None:
        return None
    code, likely = detector.classify(text)
    return _NAMES.get(code) if likely >= _SURE else None


@lru_cache(maxsize=1)
def _detector() -> Any:
    """Load the detector, which takes a second and 80 MB: only where a page needs it."""
    if importlib.util.find_spec("py3langid") is None:
        return None
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
