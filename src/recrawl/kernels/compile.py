"""Loops that run as they stand while there is little to do, and as machine code where that pays.

Compiling a loop takes seconds, and the compiler alone half a second and 70 MB. A table of a
thousand pages needs neither: the interpreter is through before the compiler is loaded. So every
loop says how many steps a call takes, and is compiled at the first call that takes many. Where no
compiler is installed every loop runs as it stands: the same numbers, later.
"""

import contextlib
import importlib.util
import types
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import cached_property
from typing import Any, Final, TypeVar, cast

import numpy as np

from recrawl.errors import MissingPart

Function = TypeVar("Function", bound=Callable[..., Any])
Steps = Callable[..., float]

HAS_COMPILER: Final = importlib.util.find_spec("numba") is not None
MANY_STEPS: Final = 500_000.0  # about half a second of the interpreter's time
_IN_ALL: Final = 4.0  # times as many, over all calls of one loop, pay for the compiler too
_REORDERED: Final = {"reassoc", "contract", "nsz"}
_ALL: Final = ContextVar("_ALL", default=False)
_SELDOM: Final = ContextVar("_SELDOM", default=False)


def require_compiler() -> None:
    """Refuse work that is hours for the interpreter, where no compiler is installed.

    Raises
    ------
    MissingPart
        numba is not installed.
    """
    if not HAS_COMPILER:
        raise MissingPart(
            "this needs numba, which is not installed: pip install 'recrawl[decisions]'"
        )


@contextlib.contextmanager
def machine_code() -> Iterator[None]:
    """Have every loop compiled that this thread calls meanwhile, where there is a compiler.

    For what must find the same numbers to the last bit whatever the program did before.
    """
    before = _ALL.set(True)
    try:
        yield
    finally:
        _ALL.reset(before)


@contextlib.contextmanager
def seldom() -> Iterator[None]:
    """Have each call that this thread makes meanwhile count by itself.

    For what is asked every few minutes as long as a program runs: that it was asked often does not
    pay for a compiler, which stays in memory for good.
    """
    before = _SELDOM.set(True)
    try:
        yield
    finally:
        _SELDOM.reset(before)


class Loop:
    """A function of arrays in two forms: as written, and compiled.

    Parameters
    ----------
    function : as written
    steps : how often the innermost loop runs about, from the arguments of a call; None: always
        compiled
    options : for the compiler

    Notes
    -----
    Which form answers follows from the calls alone, never from time or from what is cached, so a
    program finds the same numbers wherever it runs. In each form the loops that a loop calls have
    the same form.
    """

    def __init__(
        self, function: Callable[..., Any], steps: Steps | None, options: dict[str, Any]
    ) -> None:
        self.__wrapped__ = function
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self._steps = steps
        self._options = options
        self._taken = 0.0
        self._fast: Callable[..., Any] | None = None

    def __call__(self, *given: Any) -> Any:
        """Run the form that pays."""
        if self._fast is not None:
            return self._fast(*given)
        if self._steps is not None and not _ALL.get():
            steps = float(self._steps(*given))
            self._taken += 0.0 if _SELDOM.get() else steps
            if steps <= MANY_STEPS and self._taken <= _IN_ALL * MANY_STEPS:
                with np.errstate(all="ignore"):  # as machine code does
                    return self.plain(*given)
        if not HAS_COMPILER:
            with np.errstate(all="ignore"):
                return self.plain(*given)
        self._fast = self.compiled
        return self._fast(*given)

    @cached_property
    def plain(self) -> Callable[..., Any]:
        """The loop for the interpreter."""
        return _bind(self.__wrapped__, "plain")

    @cached_property
    def compiled(self) -> Callable[..., Any]:
        """The loop as machine code, that runs without the interpreter's lock.

        The compiled code is cached on disk where that is possible; where neither the package's
        folder nor the user's cache folder can be written the loop is compiled at each start
        instead. Loops that call each other must stand in one file: the cache is keyed by the
        file, and would keep stale code otherwise.
        """
        import numba

        function = _bind(self.__wrapped__, "compiled")
        options = {"nogil": True, "error_model": "numpy", **self._options}
        try:
            return cast("Callable[..., Any]", numba.njit(cache=True, **options)(function))
        except RuntimeError:  # "cannot cache function: no locator available"
            return cast("Callable[..., Any]", numba.njit(**options)(function))


def _names(code: types.CodeType) -> set[str]:
    """Names that a function and those inside it look up outside themselves."""
    inside = (one for one in code.co_consts if isinstance(one, types.CodeType))
    return set(code.co_names).union(*map(_names, inside))


def _bind(function: Callable[..., Any], form: str) -> Callable[..., Any]:
    """Return the function with every loop that it calls in the same form."""
    own = cast("types.FunctionType", function)
    seen = dict(own.__globals__)
    for name in _names(own.__code__):
        if hasattr(type(seen.get(name)), form):
            seen[name] = getattr(seen[name], form)
    bound = types.FunctionType(own.__code__, seen, own.__name__, own.__defaults__, own.__closure__)
    bound.__qualname__, bound.__module__ = own.__qualname__, own.__module__
    return bound


def interpreted(loop: Function) -> Function:
    """Return a loop as it stands, for calls of few steps by who knows that they are few."""
    return cast("Function", cast("Loop", loop).plain)


def kernel(loop: Function) -> Function:
    """Make a loop that is always compiled, or follows the loop that calls it."""
    return cast("Function", Loop(loop, None, {}))


def sized_kernel(steps: Steps) -> Callable[[Function], Function]:
    """Make a loop that is compiled where it takes many steps, see :class:`Loop`.

    Parameters
    ----------
    steps : how often the innermost loop runs about, from the arguments of a call; one step takes
        the interpreter about a microsecond
    """

    def make(loop: Function) -> Function:
        return cast("Function", Loop(loop, steps, {}))

    return make


def reordering_kernel(loop: Function) -> Function:
    """Make a loop as :func:`kernel` does that is free to add up in another order.

    Sums then run four at a time; the last bits of a result depend on the machine. Not-a-number
    and infinity keep their meaning.
    """
    return cast("Function", Loop(loop, None, {"fastmath": _REORDERED, "forceinline": True}))
