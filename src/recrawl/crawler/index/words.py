"""Words as an index counts them: of language, code and addresses; and what a page is called.

A text is indexed twice. Once by its words, which a stemmer brings to their stems: ``vacuuming``
finds ``vacuum``, and ``max_connections`` consists of two of them. And what no stemmer should see,
because there are marks in it, as it is typed: ``max_connections``, ``--onto``, ``.gitignore``,
``C++`` and ``%s`` are one code each; of Chinese and Japanese, each two neighbours are one, and of
scripts in which words run on and vowels are signs of their own, Thai to Khmer, each three. Korean,
which writes particles onto its words, is read as Chinese is; and a word of another script that no
space parts from these is found by itself.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import filterfalse, islice
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import tantivy

from recrawl.crawler.control.texts.letters import SIGNS, VOWELS_APART, lower, may_run_on

LANGUAGES: Final = (
    "arabic", "danish", "dutch", "english", "finnish", "french", "german", "greek", "hungarian",
    "italian", "norwegian", "portuguese", "romanian", "russian", "spanish", "swedish", "tamil",
    "turkish", "none",
)  # fmt: skip
_LONGEST: Final = 60  # characters of a word; what is longer was not written by people
# A mark before, words joined by marks, marks after.
_TYPED: Final = re.compile(r"(?:--?|[.@%$#\\])?\w+(?:(?:[-.:@]|::|->)\w+)*(?:\+\+|#)?")
_UNSPACED: Final = re.compile(f"[{SIGNS}]+")
_ANY: Final = re.compile(f"[{SIGNS}{VOWELS_APART}]")  # soon found, or not there
_RUN_ON: Final = re.compile(f"[{VOWELS_APART}]{{3,}}")
SPACED: Final = rf"[^\W{SIGNS}{VOWELS_APART}]"  # a letter of words that spaces part
_BESIDE: Final = re.compile(
    f"(?<=[{SIGNS}{VOWELS_APART}]){SPACED}++|(?<!{SPACED}){SPACED}++(?=[{SIGNS}{VOWELS_APART}])"
)
_BORDER: Final = re.compile(
    f"(?<=[{SIGNS}{VOWELS_APART}])(?={SPACED})|(?<={SPACED})(?=[{SIGNS}{VOWELS_APART}])"
)
_BEGINNING: Final = re.compile("(?<![\uac00-\ud7a3])[\uac00-\ud7a3](?=[\uac00-\ud7a3])")
# What Korean writes onto nouns, and what makes verbs of them.
_PARTICLE: Final = re.compile(
    "(?<=[\uac00-\ud7a3]{2})(?:은|는|이|가|을|를|에|의|도|로|와|과|만|에서|에는|에게|으로|까지|부터|"
    "하기|하는|하다|합니다)$"
)
_NUMBERING: Final = re.compile(
    r"^(?:(?:chapter|part|appendix|section)\s+)?(?:(?:[0-9]+(?:\.[0-9]+)*|[A-Z](?:\.[0-9]+)+|[IVX]+)\."
    r"|(?:[0-9]+|[A-Z])(?:\.[0-9]+)+(?:-[0-9]+)?(?=\s+[^\W\d_]))\s+",  # or without a point behind
    re.IGNORECASE,
)
_SEPARATOR: Final = re.compile(r"\s+[-\u2013\u2014|\u00b7\u00bb:/]+\s+|\s*[|\uff5c\u00bb]\s*|:\s+")
_ENDING: Final = re.compile(r"\s*\([^()]{0,30}\)[^()]{0,30}$")
_NO_WORD: Final = re.compile(r"[\W_]+")
_EXPLAINED: Final = re.compile(r"(?<![\w.:$-])([\w.:$-]+)\s*\(")  # before its arguments
_TOLD: Final = re.compile(r"\s+(?:[=-]>|:?=|\u21d2|\u2192)|:\s|=$")  # before a type or value
# Before arguments in capitals or brackets: ``splice LIST,OFFSET``, ``--onto <base>``.
_WITH_ARGUMENTS: Final = re.compile(
    r"([a-z_%$@&-][\w.:-]*+)(?:[\s,=|.…]++|<[^<>]*+>|\[[^][]*+\]|[A-Z][A-Z0-9_]*+)*+$"
)
_WITHIN: Final = re.compile(r"[.:]+")
_PATH: Final = re.compile(r"(?:[^\W\d]\w*(?:\.|::))+(?=[^\W\d]\w*(?:\(\))?$)")  # to a name in code
_NAME_CHARACTERS: Final = 100
_MOST_NAMES: Final = 12
_MOST_SECTIONS: Final = 1_000
_EMPTY_NAMES: Final = frozenset({"", "index", "default", "home"})


@lru_cache(maxsize=32)
def stems(language: str) -> Any:
    """Return the analyzer of words for a language: lower case, no accents, stems."""
    builder = (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        .filter(tantivy.Filter.remove_long(_LONGEST))
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.ascii_fold())
    )
    if language != "none":
        builder = builder.filter(tantivy.Filter.stemmer(language))
    return builder.build()


def as_typed() -> Any:
    """Return the analyzer of codes, which :func:`codes` has found."""
    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()


def codes(text: str) -> list[str]:
    """Return the codes of a text, in lower case, as often as they occur."""
    runs_on = _runs_on(text)
    marked = filterfalse(str.isalpha, lower(_BORDER.sub(" ", text) if runs_on else text).split())
    found = [token for token in _TYPED.findall(" ".join(marked)) if is_code(token)]
    return found + pairs(text) + _BEGINNING.findall(text) if runs_on else found


def apart(text: str) -> str:
    """Return the words that no space parts from Chinese, Japanese, Korean, Thai and the like."""
    return " ".join(_BESIDE.findall(text)) if _runs_on(text) else ""


def _runs_on(text: str) -> bool:
    return may_run_on(text) and _ANY.search(text) is not None


def bare(text: str) -> str:
    """Return a word of Korean without the particle that is written onto it; any other as it is."""
    return _PARTICLE.sub("", text)


def pairs(text: str) -> list[str]:
    """Return every two neighbours in Chinese and Japanese, which put no space between words.

    So too in Korean, of whose words of one sign :func:`codes` has what begins so. And every three
    in Thai, Lao, Burmese and Khmer, where two are too few to tell pages apart.
    """
    found = [
        run[at : at + 2] for run in _UNSPACED.findall(text) for at in range(max(len(run) - 1, 1))
    ]
    runs = _RUN_ON.findall(text.replace("\u200b", ""))  # which some put between words
    return found + [run[at : at + 3] for run in runs for at in range(len(run) - 2)]


def tokens(text: str) -> list[str]:
    """Return words and codes of a query as they were typed, in lower case."""
    return [token[:_LONGEST] for token in _TYPED.findall(text.lower())]


def is_code(token: str) -> bool:
    """Tell a token with marks in it from a plain word."""
    return not token.isalnum() and len(token) <= _LONGEST


def address_words(url: str) -> str:
    """Return the words of an address, but for its host and the ending of a file."""
    path = unquote(urlsplit(url).path)
    head, dot, ending = path.rpartition(".")
    if dot and ending.isalnum() and len(ending) <= 5:
        path = head
    return _NO_WORD.sub(" ", path).strip()


def as_name(text: str) -> str:
    """Return a name as it is compared: words in lower case, nothing between them but a space."""
    return _NO_WORD.sub(" ", text.lower()).strip()[:_NAME_CHARACTERS]


def names(title: str, headings: Iterable[str], url: str) -> list[str]:
    """Return what a page may be called: its title and the parts of it, heading, end of address.

    Without the numbers of chapters, and without what stands in brackets at the end. A name in code
    also without the beginning of its path: ``std::vector`` is ``vector`` to who looks for it.

    Parameters
    ----------
    title, url : of the page
    headings : of which the first counts
    """
    end = address_words(urlsplit(url).path.rstrip("/").rpartition("/")[2])
    wholes = dict.fromkeys((title, *islice(headings, 1), end))
    parts = dict.fromkeys(part for whole in wholes for part in (whole, *_SEPARATOR.split(whole)))
    found: dict[str, None] = {}
    for part in parts:
        bare = _NUMBERING.sub("", part.strip())
        found.update(dict.fromkeys((part, bare, _ENDING.sub("", bare) if "(" in bare else bare)))
    called = [name for name in map(as_name, found) if name not in _EMPTY_NAMES]
    called += [as_name(shorter) for name in found for shorter in _without_path(name)]
    return list(dict.fromkeys(called))[:_MOST_NAMES]


def _without_path(name: str) -> list[str]:
    """Return a name in code without one, two and more parts of the path before it."""
    path = _PATH.match(name)
    if path is None:
        return []
    return [name[part.end() :] for part in _WITHIN.finditer(name[: path.end()])]


def sections(headings: Iterable[str]) -> list[str]:
    """Return what parts of a page are called: headings, and what is explained there by its name.

    Of ``int Point::move(int by)`` these are ``point move`` and ``move`` besides, of ``move BY`` the
    latter; of ``-m, --move=BY`` each option.
    """
    found: dict[str, None] = {}
    for heading in headings:
        bare = _NUMBERING.sub("", heading)
        found[as_name(bare)] = None
        found[as_name(_TOLD.split(bare, maxsplit=1)[0])] = None
        for part in bare.split(", ") if bare.startswith("-") else (bare,):
            called = _WITH_ARGUMENTS.match(part)
            if called is not None:
                found[as_name(called[1])] = None
        explained = _EXPLAINED.search(heading)
        if explained is not None:
            found[as_name(explained[1])] = None
            found[as_name(_WITHIN.split(explained[1])[-1])] = None
    return [name for name in found if name][:_MOST_SECTIONS]
