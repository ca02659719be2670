"""The language of code: where pages name it, and where its name stands above the code once more."""

import re
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

_LANGUAGE: Final = re.compile(
    r"(?:^|\s)(?:language|lang|highlight(?:-source)?|brush:?)(?:-|\s+)([a-z0-9+#_.-]{1,30})",
    re.IGNORECASE,
)
_OF_CODE: Final = re.compile(r"^code (?:file )?([a-z0-9+#_.-]{1,30})(?: literal-block)?$")
_NO_LANGUAGE: Final = frozenset(
    "default file literal-block none notranslate text plain plaintext".split()
)
_NAME: Final = re.compile(r"[a-z0-9+#_.-]{1,30}")
_ATTRIBUTES: Final = ("data-language", "data-lang")  # as of Shiki and Rouge, who have no class
_ALONE: Final = frozenset(  # as of rustdoc, Pandoc and highlight.js: it is a word of its own
    "bash c cpp csharp css diff elixir erlang go haskell html java javascript js json kotlin lua "
    "makefile ocaml perl php python r ruby rust scala sh shell sql swift toml ts typescript xml "
    "yaml".split()
)
_BLOCKS: Final = frozenset({"pre", "code"})
_FIRST: Final = 4  # words of a class that may be one
_AROUND: Final = 3  # elements that may name it: the code, and what highlighters put around it
_MOST_BETWEEN: Final = 8  # blanks and buttons between the name and the code
_MOST: Final = 3_000  # blocks of code that are looked at
_LONGEST: Final = 100  # characters of what may be a name, with the blanks around it


def language_of(pre: LexborNode) -> str:
    """Return the language that a block of code is in, in lower case; "" where nothing says it."""
    named = _OF_CODE.match(" ".join((pre.attributes.get("class") or "").lower().split()))
    if named and named[1] not in _NO_LANGUAGE:  # as of DokuWiki and docutils
        return named[1]
    node: LexborNode | None = pre
    for _ in range(_AROUND):
        if node is None:
            break
        attributes = node.attributes
        found = _LANGUAGE.search(attributes.get("class") or "")
        if found and found[1].lower() not in _NO_LANGUAGE:
            return found[1].lower()
        if node.tag in _BLOCKS:
            for word in (attributes.get("class") or "").lower().split()[:_FIRST]:
                if word in _ALONE:
                    return word
        for name in _ATTRIBUTES:
            said = (attributes.get(name) or "").lower()
            if _NAME.fullmatch(said) and said not in _NO_LANGUAGE:
                return said
        node = node.parent
    return ""


def language_within(pre: LexborNode) -> str:
    """Return the language that the code in a block says it is in; "" where there is none."""
    code = pre.css_first("code")
    return "" if code is None else language_of(code)


def clear_language_names(tree: LexborHTMLParser) -> None:
    """Take away what says above a block of code what its class says: the label of a highlighter.

    It is the element right before the code, or before what holds nothing else, and has the name of
    the language as its whole text. So many blocks of a page are looked at. O(elements).
    """
    for pre in tree.css("pre")[:_MOST]:
        language = language_within(pre) or language_of(pre)
        node: LexborNode | None = pre if language else None
        for _ in range(_AROUND - 1):
            if node is None:
                break
            before = _before(node)
            if before is not None:
                if before.tag != "pre" and _says(before, language):
                    before.decompose()
                break
            node = node.parent


def _before(node: LexborNode) -> LexborNode | None:
    """Return what stands before an element, but for blanks and buttons."""
    before = node.prev
    for _ in range(_MOST_BETWEEN):
        if before is None or not (before.tag == "button" or _says(before, "")):
            return before
        before = before.prev
    return None


def _says(node: LexborNode, words: str) -> bool:
    text = node.text()
    return len(text) <= _LONGEST and text.strip().lower() == words
