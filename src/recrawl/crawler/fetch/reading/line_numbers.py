"""Numbers of lines beside code, which highlighters put there and nobody wrote.

Either a table has them in one cell and the code in the next one, or they are a block of their own
before the code (rustdoc), or each line begins with its own.
"""

import re
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

_CELLS: Final = "table td > pre, table td > div > pre, table td > code, table td > div > code"
_NUMBER: Final = "pre span[class], pre a[class]"
_BLOCKS: Final = "pre:has(+ pre), div:has(> pre:only-child):has(+ pre, + div > pre)"
_NAMED: Final = re.compile(r"(?:^|[\s_-])(?:ln|lnt|nr|line-?(?:no|nos|num|nums|number|numbers))\b")
_MOST: Final = 3_000  # tables that are looked at
_MOST_NUMBERS: Final = 20_000
_LONGEST: Final = 500_000  # characters that are read of cells
_FEWEST: Final = 2  # that a block of them counts
_MOST_ELSE: Final = 1  # lines that the code beside a block has more or fewer
_MOST_ABOVE: Final = 8  # elements between a cell and its table, or a number and its code


def clear_line_numbers(tree: LexborHTMLParser) -> None:
    """Take the numbers of lines away, and the table with which they stand beside the code.

    A cell has them where it holds numbers that count by one and nothing else, set as code is, and
    its only neighbour in the table is code too. A block before code has two of them or more, from
    one on, about as many as the code has lines. Within code they are what calls itself so, one for
    each number from the first on. So many of a page are looked at. O(elements).
    """
    left = _LONGEST
    for node in tree.css(_CELLS)[:_MOST]:
        text = node.text()
        left -= len(text)
        if left < 0:
            break
        if _counts(text.split()):
            _clear_beside(node)
    for node in tree.css(_BLOCKS)[:_MOST]:
        numbers, code = node.text().split(), _after(node)
        if len(numbers) < _FEWEST or numbers[0] != "1" or code is None or not _counts(numbers):
            continue
        if abs(len(code.text().strip("\n").split("\n")) - len(numbers)) <= _MOST_ELSE:
            node.decompose()
    _clear_within(tree)


def _after(node: LexborNode) -> LexborNode | None:
    """Return the element that follows."""
    beside = node.next
    while beside is not None and (beside.tag or "").startswith("-"):
        beside = beside.next
    return beside


def _clear_beside(numbers: LexborNode) -> None:
    cell = _above(numbers, frozenset({"td"}))
    row = None if cell is None else cell.parent
    table = None if row is None else _above(row, frozenset({"table"}))
    if cell is None or row is None or table is None:
        return
    cells = table.css("td")
    if len(cells) != 2 or cells[0].mem_id != cell.mem_id or cells[1].css_first("pre, code") is None:
        return
    cell.decompose()
    if _above(table, frozenset({"pre"})) is not None:  # all of which is the code
        for code in cells[1].css("pre"):
            code.unwrap()
    inner = cells[1]
    while inner.mem_id != table.mem_id:
        outer = inner.parent
        if outer is None:
            return
        inner.unwrap()
        inner = outer
    for head in table.css("tr, th, tbody, thead, colgroup"):
        head.unwrap()
    table.unwrap()


def _clear_within(tree: LexborHTMLParser) -> None:
    """Take away the numbers that lines of code begin with."""
    of_code: dict[int, list[LexborNode]] = {}
    for node in tree.css(_NUMBER)[:_MOST_NUMBERS]:
        if _NAMED.search((node.attributes.get("class") or "").lower()):
            code = _above(node, frozenset({"pre"}))
            if code is not None:
                of_code.setdefault(code.mem_id, []).append(node)
    for nodes in of_code.values():
        if len(nodes) > 1 and _counts([node.text().strip() for node in nodes]):
            for node in nodes:
                node.decompose()


def _above(node: LexborNode, tags: frozenset[str]) -> LexborNode | None:
    above = node.parent
    for _ in range(_MOST_ABOVE):
        if above is None or above.tag in tags:
            return above
        above = above.parent
    return None


def _counts(words: list[str]) -> bool:
    """Tell whether words are numbers that count by one."""
    if not words or not words[0].isdecimal() or len(words[0]) > len(str(_MOST_NUMBERS)) + 1:
        return False
    first = int(words[0])
    return all(word == str(first + n) for n, word in enumerate(words))
