"""HTML out of Python values, in which text cannot become markup.

Every page is built by :func:`element`; whatever is no :class:`Markup` is escaped.
"""

import re
from collections.abc import Iterable
from html import escape
from typing import Final, TypeAlias


class Markup(str):
    """HTML that this module has made."""

    __slots__ = ()


# Strangers' text cannot hold it: a control is replaced wherever text is escaped.
GAP: Final = Markup("\x00")
Child: TypeAlias = "str | int | Markup | Iterable[Child] | None"
_VOID: Final = frozenset({"meta", "link", "input", "br", "hr", "img"})
# Controls, and the marks that turn the direction of text round: names made to deceive.
_MARKS: Final = "\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069"
_DECEIVING: Final = re.compile(f"[{_MARKS}]")
_SPECIAL: Final = re.compile(f"[{_MARKS}&<>\"']")


def plain(text: str) -> str:
    """Return text of strangers without characters that deceive the reader."""
    return _DECEIVING.sub("\ufffd", text)


def joined(children: Child) -> Markup:
    """Return children one after the other, escaped unless they are markup."""
    parts: list[str] = []
    _gather(children, parts)
    return Markup("".join(parts))


def _gather(children: Child, parts: list[str]) -> None:
    if isinstance(children, Markup):
        parts.append(children)
    elif isinstance(children, str | int):
        parts.append(_escaped(str(children)))
    elif children is not None:
        for child in children:
            _gather(child, parts)


def _escaped(text: str) -> str:
    # Most texts need nothing; looking is cheaper than replacing.
    return escape(_DECEIVING.sub("\ufffd", text)) if _SPECIAL.search(text) else text


def element(tag: str, /, *children: Child, **attributes: str | int | float | bool | None) -> Markup:
    """Return one element.

    Parameters
    ----------
    tag : its name
    children : text, markup, or lists of both; None is left out
    attributes : ``class_`` and ``for_`` as people write them in Python, ``data_x`` for ``data-x``;
        True stands alone, False and None are left out
    """
    parts = [f"<{tag}"]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        name = key.strip("_").replace("_", "-")
        shown = value if value is GAP else _escaped(str(value))
        parts.append(f" {name}" if value is True else f' {name}="{shown}"')
    parts.append(">")
    if tag not in _VOID:
        for child in children:
            _gather(child, parts)
        parts.append(f"</{tag}>")
    return Markup("".join(parts))


def link(url: str, *children: Child) -> Markup:
    """Return a link to a stranger's page; an address that is not http or https is only text."""
    if not url.lower().startswith(("http://", "https://")):
        return element("span", *children)
    return element("a", *children, href=url, rel="noopener noreferrer nofollow")


class Pattern:
    """Markup that is made once, with gaps that are filled many times.

    Parameters
    ----------
    markup : in which ``GAP`` stands for a child or for the value of an attribute
    """

    def __init__(self, markup: Markup) -> None:
        self._first, *self._others = markup.split(GAP)

    def fill(self, *values: Child) -> Markup:
        """Return the markup with a value in each gap, escaped as by :func:`element`."""
        parts = [self._first]
        for value, following in zip(values, self._others, strict=True):
            _gather(value, parts)
            parts.append(following)
        return Markup("".join(parts))
