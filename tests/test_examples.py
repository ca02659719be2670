"""Examples are the same in every run."""

import importlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

CONSTANTS = "\n".join(f"N{n} = {7_000_000 + 7919 * n}" for n in range(200))


def drawn() -> list[int]:
    """Return the examples of a test."""
    found = list[int]()

    @given(st.integers())
    def test(n: int) -> None:
        found.append(n)

    test()
    return found


def test_examples_do_not_depend_on_the_modules_that_are_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor on the tests that ran before: what passes in one order passes in every order."""
    if settings.get_current_profile_name() != "recrawl":
        pytest.skip("other profiles look for examples that nobody has seen yet")
    before = drawn()
    (tmp_path / "constants_of_a_module.py").write_text(CONSTANTS)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("constants_of_a_module")

    assert len(before) == 100
    assert drawn() == before
