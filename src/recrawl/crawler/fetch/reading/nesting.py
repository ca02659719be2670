"""Cuts pages that are nested deeper than any page means to be, before the parser builds them.

Building a tree takes time in proportion to its depth at every tag, and formatting elements that
are left open are built again in every paragraph: fifty kilobytes can become gigabytes. Browsers
cut at a depth of 512. The count here is rough, it knows which tags need no end and nothing else:
it ends accidents and plain attacks, not one that was written against it.
"""

import re
from itertools import islice
from typing import Final

MAX_DEPTH: Final = 512
_HARMLESS: Final = 2_000  # so few tags cannot do much
_TAG: Final = re.compile(r"<(/?[a-z][a-z0-9:-]*)", re.IGNORECASE)
EMPTY: Final = frozenset(  # elements of HTML that have no end
    "area base br col embed hr img input link meta param source track wbr".split()
)
_ENDLESS: Final = EMPTY | frozenset(
    "body caption colgroup dd dt head html li optgroup option p rp rt tbody td tfoot th thead tr "
    "a button nobr".split()  # are closed by what follows, or by the next of their kind
)
_RAW: Final = frozenset("script style textarea title".split())  # hold text, whatever it looks like
_SHAPES: Final = frozenset(
    "animate circle ellipse g image line mpath path polygon polyline rect stop use".split()
)
# As most pages write them, sooner told than by name.
_PASSED: Final = frozenset(f"{sign}{name}" for name in _ENDLESS for sign in ("", "/"))


def cut_at_depth(html: str) -> str:
    """Return the page up to where it is nested too deeply; nearly always the whole of it. O(n)."""
    if html.count("<") <= _HARMLESS:
        return html
    opened: dict[str, int] = {}
    depth = 0
    before: tuple[int, dict[str, int]] | None = None  # what was open before raw text began
    tags = enumerate(_TAG.findall(html))
    for number, tag in [one for one in tags if one[1] not in _PASSED]:
        closing = tag[0] == "/"
        name = (tag[1:] if closing else tag).lower()
        if name in _ENDLESS or (name in _SHAPES and opened.get("svg")):
            continue
        if name in _RAW:
            if not closing and before is None:
                before = depth, dict(opened)
            elif closing and before is not None:
                (depth, opened), before = before, None
        elif not closing:
            depth += 1
            opened[name] = opened.get(name, 0) + 1
            if depth > MAX_DEPTH:
                return html[: next(islice(_TAG.finditer(html), number, None)).start()]
        elif opened.get(name):
            depth -= 1
            opened[name] -= 1
    return html
