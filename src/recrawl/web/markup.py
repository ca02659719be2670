"""HTML out of Python values, in which text cannot become markup.

Every page is built by :func:`element`; whatever is no :class:`Markup` is escaped.
"""

import re
from collections.abc import Iterable
from html import escape
from typing import Final, TypeAlias

__all__ = ["Child", "Markup", "element", "joined", "link", "plain"]


class Markup(str):
    """HTML that this module has made."""

    __slots__ = ()


Child: TypeAlias = "str | int | Markup | Iterable[Child] | None"
_VOID: Final = frozenset({"meta", "link", "input", "br", "hr", "img"})
# Controls, and the marks that turn the direction of text round: names made to deceive.
_DECEIVING: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)


def plain(text: str) -> str:
    """Return text of strangers without characters that deceive the reader."""
    return _DECEIVING.sub("\ufffd", text)


def joined(children: Child) -> Markup:
    """Return children one after the other, escaped unless they are markup."""
    if children is None:
        return Markup()
    if isinstance(children, Markup):
        return children
    if isinstance(children, str | int):
        return Markup(escape(plain(str(children)), quote=True))
    return Markup("".join(joined(child) for child in children))


def element(tag: str, /, *children: Child, **attributes: str | int | float | bool | None) -> Markup:
    """Return one element.

    Parameters
    ----------
    tag : its name
    children : text, markup, or lists of both; None is left out
    attributes : ``class_`` and ``for_`` as people write them in Python, ``data_x`` for ``data-x``;
        True stands alone, False and None are left out
    """
    told = []
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        attribute = key.strip("_").replace("_", "-")
        text = "" if value is True else f'="{escape(plain(str(value)), quote=True)}"'
        told.append(f" {attribute}{text}")
    opened = f"<{tag}{''.join(told)}>"
    if tag in _VOID:
        return Markup(opened)
    return Markup(f"{opened}{joined(children)}</{tag}>")


def link(url: str, *children: Child, class_: str | None = None) -> Markup:
    """Return a link to a stranger's page; an address that is not http or https is only text."""
    if not url.lower().startswith(("http://", "https://")):
        return element("span", *children, class_=class_)
    return element("a", *children, href=url, rel="noopener noreferrer nofollow", class_=class_)
