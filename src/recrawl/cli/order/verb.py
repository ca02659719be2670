"""The verb ``order``: what comes next, from a plan or a table of frequencies."""

from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from recrawl.cli.figures import check_picture
from recrawl.cli.options import JsonForTables
from recrawl.cli.order.access_law import access_law
from recrawl.cli.order.pictures import draw_order
from recrawl.cli.order.report import OrderAnswer, order_json, print_order
from recrawl.cli.order.resume import resume_order, save_order
from recrawl.cli.order.table import OrderTable, read_order_table, read_sequence, write_sequence
from recrawl.cli.output import print_json, progress_console
from recrawl.cli.sizes import check_seed, check_whole
from recrawl.errors import InputError
from recrawl.quantities import UNIT_S, parse_duration_s
from recrawl.sequencing import (
    AccessStream,
    Choice,
    CycleStream,
    OrderCost,
    PoliteStream,
    are_best,
    best_bound,
    choose_policy,
    cut_cycle,
    evaluate_cycle,
    judge_policy,
    make_stream,
    measure_stream,
    round_to_cycle,
)
from recrawl.tables.writing import check_out

Policy = Literal[
    "auto",
    "index",
    "golden",
    "regular",
    "random",
    "optimal",
    "rings",
    "deadline",
    "webster",
    "whittle",
    "splits",
    "greedy",
]
_COMPARED = (
    *("index", "regular", "splits", "rings", "deadline", "webster", "whittle", "greedy"),
    *("golden", "random"),
)
_BLOCK = 1 << 18
_KEPT = 1_000_000  # slots kept in memory to be shown and drawn


_LONGEST = 10_000_000_000


def main(  # noqa: PLR0913 - the options of the verb
    plan: Path,
    /,
    *,
    policy: Policy = "auto",
    length: int | None = None,
    cycle: bool = False,
    host_gap: str | None = None,
    unit: str = "d",
    seed: int = 0,
    access_time: str = "constant",
    sequence: Path | None = None,
    state: Path | None = None,
    out: Path | None = None,
    compare: bool = False,
    plot: Path | None = None,
    json_: JsonForTables = False,
) -> None:
    """Decide which page comes next, so that visits realise their rates as evenly as can be.

    The table has a column crawl_rate (as recrawl plan --out writes it) or frequency, and, if you
    like, change_rate, weight, url, host; Parquet, CSV or JSON Lines.

    Parameters
    ----------
    plan
        Table of pages with their crawl rates or frequencies.
    policy
        auto takes the best for these pages and says which; index (most urgent lateness),
        regular (even words for two pages, golden phases for more), splits (even words, one in
        the other), rings, deadline, webster, whittle or greedy (up to thousands of pages),
        golden (the golden ratio policy), random, or optimal (exact, for up to six pages or so;
        it may change the frequencies).
    length
        Accesses to decide. [default: 100; for a cycle 10 a page, or the optimal period]
    cycle
        Make them a cycle to be repeated, with every page in it at least once.
    host_gap
        Shortest time between two accesses to one host, as 10s; for the policies auto and index.
    unit
        Unit of time of the table's rates: s, min, h, d, w.
    seed
        Of the policy random.
    access_time
        Law of the time from one access to the next: constant, exponential, erlang:4 (stages),
        hyper:3 (squared coefficient of variation), or a table with a column access_time. Its mean
        follows from the rates.
    sequence
        Judge this cyclic sequence (a table with a column page, numbers from 0, or url) instead.
    state
        Go on where the last call with this file stopped, and keep the place in it (made anew
        where there is none).
    out
        Write slots and pages: .parquet, .csv or .jsonl.
    compare
        Put all policies beside it: cost, gap to the bound, spacing.
    plot
        Draw the spacing and the first accesses: .svg, .png or .pdf.
    """
    check_out(out)
    check_picture(plot)
    check_seed(seed)
    closed = cycle or sequence is not None
    _check_options(policy, length, host_gap, unit, with_sequence=sequence is not None)
    if state is not None and closed:
        raise InputError("--state keeps an endless order; leave out --cycle and --sequence")
    table = read_order_table(plan, with_hosts=host_gap is not None, law=access_law(access_time))
    resumed = None
    if state is not None and state.exists():
        resumed = resume_order(state, table)
        policy = cast("Policy", resumed[0]) if policy == "auto" and not host_gap else policy
    with progress_console().status(f"ordering {table.frequencies.size:,} pages"):
        free = are_best(table.costs, table.frequencies)
        found, stream, judged = _decide(table, policy, host_gap, unit, seed, sequence, free)
        if resumed is not None:
            stream = _resumed(resumed, found[0], stream, state)
        slots, shown = _accesses(table, stream, length, closed=cycle, cycle_of=sequence)
        if closed and shown is not None:
            judged = evaluate_cycle(table.costs, shown)
        compared = _compare(table, seed, free, found, judged) if compare else {}
        blocks = _blocks(stream, slots, shown)
        if out is not None:
            write_sequence(out, table, blocks)
        if state is not None:
            deque(blocks, maxlen=0)  # what was not written is passed over all the same
            save_order(state, found[0], stream, table)
        if plot is not None:
            more = stream.take(min(30 * table.frequencies.size + 1000, _KEPT))
            seen = more if shown is None else shown if closed else np.concatenate([shown, more])
            draw_order(plot, table, seen, found[0])
    bounds = {name: _bound(table, name, judged) for name in dict.fromkeys([found[0], *compared])}
    answer = OrderAnswer(found[0], found[1], judged, bounds, shown, closed, compared)
    if json_:
        print_json(order_json(answer, table))
        return
    written = (("order", out), ("picture", plot), ("place to go on", state))
    notes = [f"{what} in {path}" for what, path in written if path]
    if table.assumed:
        notes.insert(0, "no change rates with crawl rates: one change a visit is assumed")
    print_order(answer, table, notes)


def _check_options(
    policy: Policy, length: int | None, host_gap: str | None, unit: str, *, with_sequence: bool
) -> None:
    if length is not None:
        check_whole("--length", length, _LONGEST)
    if unit not in UNIT_S:
        raise InputError(f"--unit: {unit!r} is no unit of time; choose from {', '.join(UNIT_S)}")
    if host_gap is not None and (policy not in ("auto", "index") or with_sequence):
        raise InputError("--host-gap goes with the policies auto and index only")
    if with_sequence and length is not None:
        raise InputError("--length does not go with --sequence, which has its own")


def _decide(
    table: OrderTable,
    policy: Policy,
    host_gap: str | None,
    unit: str,
    seed: int,
    sequence: Path | None,
    free: bool,
) -> tuple[tuple[str, tuple[str, ...]], AccessStream, OrderCost]:
    """Return the policy's name with those it was chosen from, its stream, its cost."""
    costs, shares = table.costs, table.frequencies
    if sequence is not None:
        order = read_sequence(sequence, table)
        if not order.size:
            raise InputError(f"--sequence: {sequence} holds no access")
        return ("given", ()), CycleStream(order), evaluate_cycle(costs, order)
    if host_gap is not None:
        gap = _gap_in_slots(table, host_gap, unit)

        def polite() -> PoliteStream:
            assert table.hosts is not None
            return PoliteStream(shares, table.hosts, gap, costs.urgencies(shares))

        slots = min(max(30 * shares.size, 20_000), 3_000_000)
        judged = measure_stream(polite(), costs, shares, slots=slots, warm_up=slots)
        return ("index", ()), polite(), judged
    if policy == "auto":
        choice: Choice = choose_policy(costs, shares, free=free)
        name = choice.name
        return (name, tuple(choice.found)), choice.stream, choice.found[name]
    judged = judge_policy(policy, costs, shares, seed=seed)
    return (policy, ()), make_stream(policy, costs, shares, seed=seed), judged


def _resumed(
    resumed: tuple[str, AccessStream], policy: str, fresh: AccessStream, state: Path | None
) -> AccessStream:
    kept, stream = resumed
    if kept != policy or isinstance(stream, PoliteStream) != isinstance(fresh, PoliteStream):
        gaps = " with --host-gap" if isinstance(stream, PoliteStream) else ""
        raise InputError(f"--state: {state} holds an order by --policy {kept}{gaps}; say so too")
    return stream


def _gap_in_slots(table: OrderTable, host_gap: str, unit: str) -> float:
    seconds = parse_duration_s(host_gap, name="--host-gap")
    if not seconds > 0:
        raise InputError(f"--host-gap: {host_gap} must be > 0")
    if table.rate is None:
        raise InputError(f"--host-gap needs a column crawl_rate in {table.path}, to know the pace")
    return max(1.0, float(np.ceil(seconds * table.rate / UNIT_S[unit] - 1e-9)))


def _accesses(
    table: OrderTable,
    stream: AccessStream,
    length: int | None,
    *,
    closed: bool,
    cycle_of: Path | None,
) -> tuple[int, NDArray[np.int64] | None]:
    """Return how many accesses there are, and the accesses where they are few or a cycle."""
    if isinstance(stream, CycleStream) and (cycle_of is not None or (closed and length is None)):
        return stream.length, stream.take(stream.length)
    if not closed:
        slots = 100 if length is None else length
        return slots, stream.take(slots) if slots <= _KEPT else None
    used = int(np.count_nonzero(table.frequencies))
    slots = max(100, 10 * used) if length is None else length
    round_to_cycle(table.frequencies, slots)  # too short is said before any work
    return slots, cut_cycle(stream, table.costs, table.frequencies, slots)


def _blocks(
    stream: AccessStream, slots: int, shown: NDArray[np.int64] | None
) -> Iterator[NDArray[np.int64]]:
    if shown is not None:
        yield shown
        return
    for start in range(0, slots, _BLOCK):
        yield stream.take(min(_BLOCK, slots - start))


def _bound(table: OrderTable, policy: str, judged: OrderCost) -> tuple[float, bool]:
    """Return what cannot be beaten by a policy, or by a sequence with the frequencies it has."""
    if policy == "given" and np.all(judged.frequencies[table.frequencies > 0] > 0):
        return best_bound(table.costs, judged.frequencies, "regular")
    return best_bound(table.costs, table.frequencies, policy)


def _compare(
    table: OrderTable, seed: int, free: bool, found: tuple[str, tuple[str, ...]], judged: OrderCost
) -> dict[str, OrderCost]:
    """Judge all policies; those that choose their frequencies only where ours are the best."""
    compared = {found[0]: judged}
    for name in _COMPARED:
        slow = name in ("whittle", "greedy") and (not free or table.frequencies.size > 3000)
        if name not in compared and not slow:
            compared[name] = judge_policy(name, table.costs, table.frequencies, seed=seed)
    return compared
