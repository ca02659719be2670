"""Elements that are no links and lead somewhere all the same, as a browser's reader uses them.

A click that a script answers by going to an address which it names, rows and boxes that carry their
address as ``data-href``, menus that lead to what is chosen, and forms without a field: a button to
another page. What a script puts together is not read.
"""

import re
from typing import Final

from selectolax.lexbor import LexborNode

__all__ = ["LINK_LIKES", "reference_of"]

LINK_LIKES: Final = "[onclick], [data-href], select[onchange] > option[value], form[action]"
_SCRIPT: Final = "javascript:"
_GOES: Final = re.compile(
    r"""(?:\blocation(?:\.href)?\s*=|\blocation\.(?:assign|replace)\s*\(|\bopen\s*\()\s*
    (?P<quote>['"])(?P<to>[^'"\s<>{}$]+)(?P=quote)\s*(?!\s*\+)""",
    re.VERBOSE,
)
_ADDRESS: Final = re.compile(
    r"(?:https?://|\.{0,2}/|\?)\S|[^\s:]+\.(?:html?|php|aspx?|jsp)\b", re.I
)
_LONGEST: Final = 4_000  # characters of a script
_FIELDS: Final = "input[name], select[name], textarea[name], button[name]"


def reference_of(node: LexborNode) -> str:
    """Return the address that an element leads to, as it is written; "" if there is none."""
    attributes, tag = node.attributes, node.tag
    if tag == "option":
        chosen = (attributes.get("value") or "").strip()
        return chosen if _ADDRESS.match(chosen) else ""
    if tag == "form":
        is_get = (attributes.get("method") or "get").lower() == "get"
        is_button = is_get and not node.css_first(_FIELDS) and node.css_first("button, input")
        return (attributes.get("action") or "").strip() if is_button else ""
    reference = (attributes.get("href") or attributes.get("src") or "").strip()
    script = attributes.get("onclick") or ""
    if reference[: len(_SCRIPT)].lower() == _SCRIPT:
        reference, script = "", f"{reference}\n{script}"
    if reference and reference != "#":
        return reference
    gone = _GOES.search(script[:_LONGEST]) if script else None
    return gone["to"] if gone else (attributes.get("data-href") or "").strip()
