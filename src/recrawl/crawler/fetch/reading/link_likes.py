"""Elements that are no links and lead somewhere all the same, as a browser's reader uses them.

A click that a script answers by going to an address which it names, rows and boxes that carry their
address as ``data-href``, and menus that lead to what is chosen. What a script puts together is not
read, and no form is sent, as a button may do something.
"""

import re
from typing import Final

from selectolax.lexbor import LexborNode

LINK_LIKES: Final = "[onclick], [data-href], select[onchange] > option[value]"
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


def reference_of(node: LexborNode) -> str:
    """Return the address that an element leads to, as it is written; "" if there is none."""
    attributes = node.attributes
    if node.tag == "option":
        chosen = (attributes.get("value") or "").strip()
        return chosen if _ADDRESS.match(chosen) else ""
    reference = (attributes.get("href") or attributes.get("src") or "").strip()
    script = attributes.get("onclick") or ""
    if reference[: len(_SCRIPT)].lower() == _SCRIPT:
        reference, script = "", f"{reference}\n{script}"
    if reference and reference != "#":
        return reference
    gone = _GOES.search(script[:_LONGEST]) if script else None
    return gone["to"] if gone else (attributes.get("data-href") or "").strip()
