"""The compiler's instructions for :mod:`recrawl.kernels.lanes`; loaded when a loop is compiled.

Compiled loops are cached by the file that they stand in: after a change here, what is cached of
those that use it (``*revisits*`` in numba's cache) has to go.
"""


# The compiler's own types are not known to the checker.
# mypy: disable-error-code="import-untyped,no-untyped-call,misc,untyped-decorator"

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, models, register_model
from numba.np.arrayobj import make_array

_WIDTH = 8
_PARTS = 3
_VECTOR = ir.VectorType(ir.FloatType(), _WIDTH)
_LOOSE = ("reassoc", "contract", "nsz")  # as in a reordering kernel


class _Lanes(types.Type):
    def __init__(self) -> None:
        super().__init__(name="Lanes")


_lanes = _Lanes()


@register_model(_Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.ArrayType(_VECTOR, _PARTS))


def _join(builder: Any, parts: list[Any]) -> Any:
    joined = ir.Constant(ir.ArrayType(_VECTOR, _PARTS), ir.Undefined)
    for place, part in enumerate(parts):
        joined = builder.insert_value(joined, part, place)
    return joined


def _split(builder: Any, joined: Any) -> list[Any]:
    return [builder.extract_value(joined, place) for place in range(_PARTS)]


def _spread(builder: Any, one: Any) -> Any:
    """The same number eight times."""
    first = builder.insert_element(
        ir.Constant(_VECTOR, ir.Undefined), one, ir.Constant(ir.IntType(32), 0)
    )
    mask = ir.Constant(ir.VectorType(ir.IntType(32), _WIDTH), [0] * _WIDTH)
    return builder.shuffle_vector(first, ir.Constant(_VECTOR, ir.Undefined), mask)


def _places(context: Any, builder: Any, kind: Any, array: Any, offset: Any) -> list[Any]:
    data = make_array(kind)(context, builder, array).data
    return [
        builder.bitcast(
            builder.gep(data, [builder.add(offset, ir.Constant(offset.type, part * _WIDTH))]),
            _VECTOR.as_pointer(),
        )
        for part in range(_PARTS)
    ]


@intrinsic
def _at(_: Any, array: Any, offset: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        places = _places(context, builder, sig.args[0], *args)
        return _join(builder, [builder.load(place, align=4) for place in places])

    return _lanes(array, types.intp), generate


@intrinsic
def _put(_: Any, array: Any, offset: Any, row: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        places = _places(context, builder, sig.args[0], *args[:2])
        for place, part in zip(places, _split(builder, args[2]), strict=True):
            builder.store(part, place, align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, row), generate


@intrinsic
def _fetch(_: Any, array: Any, offset: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = make_array(sig.args[0])(context, builder, args[0]).data
        byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        name = "llvm.prefetch.p0"
        ask = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
        place = builder.bitcast(builder.gep(data, [args[1]]), byte)
        builder.call(ask, [place, *(ir.Constant(flag, one) for one in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


@intrinsic
def _where(_: Any, array: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return make_array(sig.args[0])(context, builder, args[0]).data

    return types.CPointer(array.dtype)(array), generate


@intrinsic
def _hold(_: Any, array: Any) -> Any:
    def generate(context: Any, _: Any, __: Any, ___: Any) -> Any:
        return context.get_dummy_value()

    return types.void(array), generate


@intrinsic
def _total(_: Any, row: Any) -> Any:
    def generate(_: Any, builder: Any, __: Any, args: Any) -> Any:
        first, second, third = _split(builder, args[0])
        both = builder.fadd(first, builder.fadd(second, third, _LOOSE), _LOOSE)
        kind = ir.FunctionType(ir.FloatType(), [ir.FloatType(), _VECTOR])
        name = f"llvm.vector.reduce.fadd.v{_WIDTH}f32"
        add_up = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
        return builder.call(add_up, [ir.Constant(ir.FloatType(), -0.0), both], fastmath=_LOOSE)

    return types.float32(row), generate


def _lower(operation: Any, instruction: str) -> None:
    """Teach the compiler an operation on two rows, or on a row and a number."""
    number = types.float32

    def generate(_: Any, builder: Any, sig: Any, args: Any) -> Any:
        sides = [
            _split(builder, value) if kind == _lanes else [_spread(builder, value)] * _PARTS
            for kind, value in zip(sig.args, args, strict=True)
        ]
        combine = getattr(builder, instruction)
        return _join(builder, [combine(a, b, flags=_LOOSE) for a, b in zip(*sides, strict=True)])

    pairs = ((_lanes, _lanes), (_lanes, number), (number, _lanes))
    for pair in pairs:
        lower_builtin(operation, *pair)(generate)

    class Operation(ConcreteTemplate):
        cases = [signature(_lanes, *pair) for pair in pairs]  # noqa: RUF012

    infer_global(operation)(Operation)


_lower(operator.add, "fadd")
_lower(operator.sub, "fsub")
_lower(operator.mul, "fmul")


# What a loop calls; types are those that arithmetic on rows has in numpy.
at: Any = _at
put: Any = _put
fetch: Any = _fetch
where: Any = _where
hold: Any = _hold
total: Any = _total
