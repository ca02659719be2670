"""House rules that a machine can keep: what the repository may and may not hold."""

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "recrawl"
VAGUE = "base common core data handler helpers impl info manager misc processor service utils util"
# Written in halves, or this file would name them.
REGISTRIES = [f"{name}.{end}" for name, end in (
    ("pypi", "org"), ("pythonhosted", "org"), ("anaconda", "org"), ("conda", "io"),
    ("npmjs", "org"), ("npmjs", "com"), ("crates", "io"), ("rubygems", "org"),
    ("proxy.golang", "org"), ("ghcr", "io"), ("docker", "io"), ("quay", "io"),
    ("artifactory", "com"), ("jfrog", "io"), ("repo.maven", "apache.org"),
)]  # fmt: skip


@cache
def trees() -> dict[str, tuple[str, ast.Module]]:
    """Every module of the package: its text, and that parsed."""
    texts = {
        path.relative_to(SOURCE).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(SOURCE.rglob("*.py"))
    }
    return {name: (text, ast.parse(text)) for name, text in texts.items()}


def repository() -> list[Path]:
    """Every file that is or would be committed."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    files = (ROOT / name for name in listed.stdout.decode().split("\0") if name)
    return [path for path in files if path.is_file() and not path.is_symlink()]


@pytest.mark.parametrize("sign", ["://", " @ ", "--index", "--find-links", "--extra", "file:"])
def test_the_lock_file_names_no_source(sign: str) -> None:
    """Names, versions and hashes: where packages come from is the business of each machine."""
    assert sign not in (ROOT / "requirements.lock").read_text(encoding="utf-8")


def test_every_package_of_the_lock_file_has_a_hash() -> None:
    """Pinned to one version, and checked when it is installed."""
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8").replace("\\\n", " ")
    entries = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    pinned = [line for line in entries if not line.startswith(" ")]

    assert len(pinned) > 20
    for line in pinned:
        assert "==" in line.split()[0] + line.split()[1]
        assert "--hash=sha256:" in line, line[:60]


def test_no_file_names_a_package_registry() -> None:
    """Not in code, settings, documentation or tests."""
    named = [
        f"{path.relative_to(ROOT)}: {host}"
        for path in repository()
        for text in [path.read_bytes().lower()]
        for host in REGISTRIES
        if host.encode() in text
    ]

    assert named == []


def test_modules_are_short_or_say_why_not() -> None:
    """Up to 400 lines; beyond, the docstring says why (STYLE: split by idea, not by count)."""
    silent, long = list[str](), list[str]()
    for name, (text, tree) in trees().items():
        said = (ast.get_docstring(tree) or "").lower()
        if not said:
            silent.append(name)
        if text.count("\n") > 400 and "longer than most" not in said:
            long += [name] * ("is long because" not in said)

    assert silent == []
    assert long == []


def undocumented(tree: ast.Module) -> Iterator[str]:
    """Yield the public classes, functions and methods without a docstring."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _undocumented(node, "")


def _undocumented(
    node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, within: str
) -> Iterator[str]:
    decorators = {d.id for d in node.decorator_list if isinstance(d, ast.Name)}
    # An adapter's method has the docstring of its port.
    if node.name.startswith("_") or "override" in decorators:
        return
    if ast.get_docstring(node) is None:
        yield within + node.name
    if isinstance(node, ast.ClassDef):
        for inner in node.body:
            if isinstance(inner, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                yield from _undocumented(inner, f"{node.name}.")


def test_everything_public_has_a_docstring() -> None:
    """Adapters inherit those of their ports."""
    found = [f"{name}: {one}" for name, (_, tree) in trees().items() for one in undocumented(tree)]

    assert len(trees()) > 600
    assert found == []


def test_no_docstring_begins_with_a_question() -> None:
    """They name the thing: ``Rates of ...``, ``Return ...``."""
    asking = [
        f"{name}: {said.partition(chr(10))[0]}"
        for name, (_, tree) in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        for said in [ast.get_docstring(node) or ""]
        if said.startswith(("What ", "Where ", "When ", "How ", "Which ", "Who "))
    ]

    assert asking == []


def test_no_module_has_a_vague_name() -> None:
    """A name says what is inside; these say that nobody knew."""
    vague = set(VAGUE.split())
    stems = [path for path in repository() if path.suffix == ".py"]

    # A folder of data files beside tests is no module.
    assert [path for path in stems if path.stem.lower() in vague] == []
    assert [path for path in SOURCE.rglob("*") if path.is_dir() and path.name in vague] == []


def test_every_error_is_documented_in_the_tree_of_errors() -> None:
    """The drawing at the top of `errors` is what people read first."""
    from recrawl import errors

    for name in errors.__all__:
        assert name in (errors.__doc__ or "")
