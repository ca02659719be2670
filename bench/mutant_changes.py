"""The changes that `bench/mutants.py` makes to a module, one at a time.

A comparison, an operator, a number, a truth, a sign or a condition is turned, a value or a
statement left out. Types, texts, messages, decorators and assertions stay as they are.
"""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SWAPS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "is": "is not",
    "in": "not in", "is not": "is", "not in": "in", "+": "-", "-": "+", "*": "/", "/": "*",
    "//": "*", "%": "*", "**": "*", "and": "or", "or": "and",
    "min": "max", "max": "min", "any": "all", "all": "any",
}  # fmt: skip
SIGNS = {
    "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "Eq": "==", "NotEq": "!=", "Is": "is",
    "In": "in", "IsNot": "is not", "NotIn": "not in", "Add": "+", "Sub": "-", "Mult": "*",
    "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "**", "And": "and", "Or": "or",
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change: ``text`` for the bytes from ``start`` to ``end`` of the file at ``path``."""

    path: str
    lines: range  # of its statement, or of its function, where it runs when that is defined
    bound: str  # the names, with | between, that a statement binds at import; else nothing
    start: int
    end: int
    text: str

    def source(self) -> bytes:
        """Return the module with the change."""
        code = (ROOT / self.path).read_bytes()
        return code[: self.start] + self.text.encode() + code[self.end :]

    def shown(self) -> str:
        """Return file and line, what stands there, and what would stand there."""
        code, new = (ROOT / self.path).read_bytes(), self.source()
        first, last = code.rfind(b"\n", 0, self.start) + 1, code.find(b"\n", self.end)
        parts = code[first:last], new[first : last + len(new) - len(code)]
        old, now = (" ".join(part.decode().split()) for part in parts)
        return f"{self.path}:{code[: self.start].count(10) + 1}: {old}  ->  {now}"


def mutants_of(path: Path) -> list[Mutant]:
    """Return every mutant of a module."""
    module = _Module(path)
    for part in ast.parse(module.code).body:
        module.visit(part)
    return module.found


def _others(value: object) -> list[str]:
    """Return what a constant is changed to."""
    if isinstance(value, bool):
        return [str(not value)]
    if isinstance(value, int):
        return [str(value + 1 if abs(value) < 10 else 2 * value)]
    if isinstance(value, float):
        return [repr(2.0 * value), repr(value / 3.0)] if value else ["1.0"]
    return []


class _Module:
    """Finds the mutants of a module in its syntax tree."""

    def __init__(self, path: Path) -> None:
        self.path, self.code = str(path.relative_to(ROOT)), path.read_bytes()
        self.found: list[Mutant] = []
        self._starts = [0, *(found.end() for found in re.finditer(rb"\n", self.code))]
        self._lines, self._bound, self._inside = range(0), "", False

    def visit(self, node: ast.AST) -> None:
        """Find the mutants of a node and of all below it."""
        kept = self._lines, self._bound, self._inside
        if isinstance(node, ast.stmt):
            self._statement(node)
        else:
            self._expression(node)
        for test in [getattr(node, "test", None), *getattr(node, "ifs", [])]:
            if isinstance(test, ast.expr) and not isinstance(node, ast.Assert):
                start, end = self._span(test)
                self._add(start, end, f"(not ({self.code[start:end].decode()}))")
        for part in ast.iter_child_nodes(node):
            if part not in self._left_out(node):
                self.visit(part)
        self._lines, self._bound, self._inside = kept

    def _left_out(self, node: ast.AST) -> list[ast.AST]:
        """Return the parts of a node that stay as they are."""
        exported = isinstance(node, ast.Assign) and self._bound == "__all__"
        if exported or isinstance(node, ast.JoinedStr | ast.Raise | ast.Assert):
            return list(ast.iter_child_nodes(node))
        types = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        return [*filter(None, types), *getattr(node, "decorator_list", [])]

    def _span(self, node: ast.AST) -> tuple[int, int]:
        """Return where a node begins and ends, in bytes."""
        at = [getattr(node, name) for name in ("lineno", "end_lineno")]
        columns = [getattr(node, name) for name in ("col_offset", "end_col_offset")]
        start, end = (
            self._starts[line - 1] + column for line, column in zip(at, columns, strict=True)
        )
        return start, end

    def _add(self, start: int, end: int, text: str) -> None:
        """Note a mutant."""
        bound = "" if self._inside else self._bound
        self.found.append(Mutant(self.path, self._lines, bound, start, end, text))

    def _statement(self, node: ast.stmt) -> None:
        """Leave out a statement or its value."""
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self._lines, self._inside = range(node.lineno, (node.end_lineno or 0) + 1), True
            return
        body: list[ast.stmt] = getattr(node, "body", [])
        last = body[0].lineno - 1 if body else node.end_lineno or 0
        self._lines = range(node.lineno, max(last, node.lineno) + 1)
        target = next(iter(getattr(node, "targets", [])), getattr(node, "target", node))
        names = [getattr(part, "id", "") for part in getattr(target, "elts", [target])]
        self._bound = "|".join(filter(None, names)) or getattr(target, "name", self._bound)
        effect = isinstance(node, ast.Assign) and not isinstance(target, ast.Name | ast.Tuple)
        said = isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)
        if effect or said or isinstance(node, ast.Raise | ast.AugAssign | ast.Delete | ast.Break):
            self._add(*self._span(node), "pass")
        elif isinstance(node, ast.Continue):
            self._add(*self._span(node), "break")
        elif isinstance(node, ast.Return) and ast.unparse(node) not in {"return", "return None"}:
            self._add(*self._span(node), "return None")

    def _expression(self, node: ast.AST) -> None:
        """Turn an operator, a constant, a sign or the name of an extreme."""
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for left, sign, right in zip(sides, node.ops, node.comparators, strict=False):
                self._between(left, sign, right)
        elif isinstance(node, ast.BinOp):
            self._between(node.left, node.op, node.right)
        elif isinstance(node, ast.BoolOp):
            for left, right in zip(node.values, node.values[1:], strict=False):
                self._between(left, node.op, right)
        elif isinstance(node, ast.Constant):
            for text in _others(node.value):
                self._add(*self._span(node), text)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
            start = self._span(node)[0]
            self._add(start, start + (3 if isinstance(node.op, ast.Not) else 1), "")
        elif isinstance(node, ast.Name) and node.id in {"min", "max", "any", "all"}:
            self._add(*self._span(node), SWAPS[node.id])

    def _between(self, left: ast.AST, sign: ast.AST, right: ast.AST) -> None:
        """Swap the operator that stands between two nodes, unless they are texts."""
        start, old = self._span(left)[1], SIGNS.get(type(sign).__name__, "")
        where = self.code[start : self._span(right)[0]].find(old.encode())
        texts = any(
            isinstance(part, ast.JoinedStr)
            or (isinstance(part, ast.Constant) and isinstance(part.value, str))
            for part in (left, right)
        )
        if old and where >= 0 and not (texts and isinstance(sign, ast.operator)):
            self._add(start + where, start + where + len(old), SWAPS[old])
