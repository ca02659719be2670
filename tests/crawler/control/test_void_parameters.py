"""Parameters that mean nothing, as first visits show them."""

import pytest

from recrawl.crawler.control import void_parameters
from recrawl.crawler.control.void_parameters import VoidParameters

A = "http://a.test"


def test_a_parameter_is_void_once_twenty_pages_said_what_another_said_without_it() -> None:
    void, known = VoidParameters(), []
    for number in range(22):
        void.observe(f"{A}/?of={number}", 7)
        known.append(void.repeats(f"{A}/?of=x") is not None)

    assert known == [False] * 20 + [True] * 2


def test_names_that_a_host_makes_up_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of those that came first the counts go on; no other is ever void."""
    monkeypatch.setattr(void_parameters, "_MOST_KEPT", 1)
    void = VoidParameters()
    known = []
    for name in ("first", "later"):
        for number in range(40):
            void.observe(f"{A}/{name}?{name}={number}", 7)
        known.append(void.repeats(f"{A}/{name}?{name}=x"))

    assert known == [(A, "first"), None]
