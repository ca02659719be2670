"""All policies by name, and the choice among them for the pages at hand."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from numpy.typing import ArrayLike

from recrawl.errors import InvalidModel
from recrawl.kernels.arrays import Integers, Vector
from recrawl.sequencing.bounds import bound_even_gaps, bound_frequencies, bound_whole_gaps
from recrawl.sequencing.costs import AgeingCosts
from recrawl.sequencing.cycles import CycleStream, close_cycle
from recrawl.sequencing.deadlines import DeadlineStream
from recrawl.sequencing.evaluation import OrderCost, evaluate_cycle, evaluate_random, measure_stream
from recrawl.sequencing.frequencies import check_frequencies
from recrawl.sequencing.golden import GoldenStream
from recrawl.sequencing.greedy import GreedyStream
from recrawl.sequencing.index import IndexStream
from recrawl.sequencing.optimum import solve_cycle
from recrawl.sequencing.phases import PhaseStream, phase_cycle, webster_phases
from recrawl.sequencing.randomised import RandomStream
from recrawl.sequencing.regular import RegularStream
from recrawl.sequencing.rings import RingStream
from recrawl.sequencing.splits import SplitStream
from recrawl.sequencing.streams import AccessStream, State
from recrawl.sequencing.whittle import WhittleStream

Maker: TypeAlias = Callable[[AgeingCosts, Vector, int], AccessStream]

# Those whose visits come as often as the frequencies say, to 0.3 %.
KEEPERS: Final = frozenset({"regular", "splits", "deadline", "webster", "golden", "random"})
_OWN: Final = frozenset({"whittle", "greedy"})  # of frequencies of their own, O(n) a step
SMALL_GRAPH: Final = 400_000  # states of an exact solution that takes about a second
_SMALL_WORK: Final = 3e8  # moves, some two seconds
FEW: Final = 2000  # pages up to which O(n) a step can be tried


def _regular(costs: AgeingCosts, shares: Vector, seed: int) -> AccessStream:
    return RegularStream(shares) if shares.size == 2 else PhaseStream(shares)


def _optimal(costs: AgeingCosts, shares: Vector, seed: int) -> AccessStream:
    return CycleStream(solve_cycle(costs).sequence)


POLICIES: Final[Mapping[str, Maker]] = {
    "index": lambda costs, shares, seed: IndexStream(shares, costs.urgencies(shares)),
    "regular": _regular,
    "splits": lambda costs, shares, seed: SplitStream(shares),
    "rings": lambda costs, shares, seed: RingStream(shares),
    "deadline": lambda costs, shares, seed: DeadlineStream(shares),
    "webster": lambda costs, shares, seed: PhaseStream(shares, webster_phases(shares)),
    "whittle": lambda costs, shares, seed: WhittleStream(costs),
    "greedy": lambda costs, shares, seed: GreedyStream(costs),
    "golden": lambda costs, shares, seed: GoldenStream(shares),
    "random": lambda costs, shares, seed: RandomStream(shares, seed),
    "optimal": _optimal,
}


@dataclass(frozen=True, eq=False)
class Choice:
    """The policy that was chosen, and what each candidate cost.

    Parameters
    ----------
    name : a key of :data:`POLICIES`
    stream : from its first slot
    found : name to measured cost
    """

    name: str
    stream: AccessStream
    found: Mapping[str, OrderCost]


def make_stream(
    name: str, costs: AgeingCosts, frequencies: ArrayLike, *, seed: int = 0
) -> AccessStream:
    """Start the stream of a policy.

    Parameters
    ----------
    name : a key of :data:`POLICIES`
    costs : of n pages
    frequencies : shape (n,); ``whittle``, ``greedy`` and ``optimal`` find their own
    seed : of ``random``

    Raises
    ------
    InvalidModel
        When there is no such policy, or it cannot order so many pages.
    """
    if name not in POLICIES:
        raise InvalidModel(f"policy {name!r} is unknown; choose from {', '.join(POLICIES)}")
    shares = check_frequencies(frequencies)
    if shares.size != costs.n_pages:
        raise InvalidModel(f"{shares.size} frequencies for the costs of {costs.n_pages} pages")
    return POLICIES[name](costs, shares, seed)


_CLASSES: Final[Mapping[str, type[AccessStream]]] = {
    "index": IndexStream,
    "splits": SplitStream,
    "rings": RingStream,
    "deadline": DeadlineStream,
    "webster": PhaseStream,
    "whittle": WhittleStream,
    "greedy": GreedyStream,
    "golden": GoldenStream,
    "random": RandomStream,
    "optimal": CycleStream,
}


def restore_stream(name: str, state: State, n_pages: int) -> AccessStream:
    """Let the stream of a policy go on where its checkpoint was made.

    Parameters
    ----------
    name : a key of :data:`POLICIES`
    state : what :meth:`AccessStream.checkpoint` gave
    n_pages : pages that :func:`make_stream` was given
    """
    if name not in POLICIES:
        raise InvalidModel(f"policy {name!r} is unknown; choose from {', '.join(POLICIES)}")
    regular: type[AccessStream] = RegularStream if n_pages == 2 else PhaseStream
    return _CLASSES.get(name, regular).restore(state)


def best_bound(
    costs: AgeingCosts, frequencies: ArrayLike, policy: str | None = None
) -> tuple[float, bool]:
    """Return the best lower bound for a policy, and whether it holds for all frequencies.

    Parameters
    ----------
    policy : a key of :data:`POLICIES`; None for any order whatever

    Notes
    -----
    Policies of :data:`KEEPERS` visit pages as often as the frequencies say, and no order of these
    frequencies beats the bound for them: what frequencies lose is not the order's fault. The others
    move frequencies where that is better, so only C** is a bound for them. Where the frequencies
    are the best there are (to 1e-6 of the cost) it is C** for all.
    """
    shares = check_frequencies(frequencies)
    free = bound_whole_gaps(costs).cost
    if policy not in KEEPERS or are_best(costs, shares):
        return free, True
    return max(bound_frequencies(costs, shares), free), False


def are_best(costs: AgeingCosts, frequencies: ArrayLike) -> bool:
    """Tell whether no other frequencies would cost less, to 1e-6 of the cost.

    Parameters
    ----------
    costs : of n pages
    frequencies : shape (n,), >= 0, of positive sum
    """
    even = bound_even_gaps(costs).cost
    return costs.even_cost(check_frequencies(frequencies)) <= even + 1e-6 * abs(even)


def judge_policy(
    name: str,
    costs: AgeingCosts,
    frequencies: ArrayLike,
    *,
    slots: int | None = None,
    seed: int = 0,
) -> OrderCost:
    """Return what a policy costs in the long run: exactly where it has a short cycle or is random.

    Parameters
    ----------
    slots : window of measurement for the others; None for 30 a page, at least 20,000 and at most 3
        million. It begins after 300 slots a page or 3 million: orders are better at their start
    """
    shares = check_frequencies(frequencies)
    if name == "random":
        return evaluate_random(costs, shares)
    if name == "optimal":
        return evaluate_cycle(costs, solve_cycle(costs).sequence)
    stream = make_stream(name, costs, shares, seed=seed)
    window = min(max(30 * shares.size, 20_000), 3_000_000) if slots is None else slots
    if name in _OWN:
        window = min(window, 60_000_000 // shares.size)
    aim = bound_even_gaps(costs).frequencies if name in _OWN else shares
    settled = min(max(window, 300 * shares.size), max(window, 3_000_000))  # the start is too good
    warm_up = window if name in _OWN else settled
    return measure_stream(stream, costs, aim, slots=window, warm_up=warm_up)


def choose_policy(
    costs: AgeingCosts,
    frequencies: ArrayLike,
    *,
    free: bool = True,
    slots: int | None = None,
) -> Choice:
    """Choose the policy of least cost by trial.

    Parameters
    ----------
    costs, frequencies : of n pages
    free : whether the order may have other frequencies than those given, where that is better
    slots : as for :func:`judge_policy`

    Returns
    -------
    Choice
        The exact optimum where the graph of ages is small (up to four pages or so), otherwise the
        best of the index, golden phases, rings, deadlines, and for up to 2,000 pages Whittle's
        index. Where the frequencies are to be kept: golden phases, deadlines, Webster.

    Notes
    -----
    Trials of 330 slots a page at most, and 6 million: up to ten seconds for many pages.
    """
    shares = check_frequencies(frequencies)
    if free and 2 <= shares.size <= 6:
        try:
            best = solve_cycle(costs, max_states=SMALL_GRAPH, max_moves=_SMALL_WORK)
        except InvalidModel:  # too many states
            best = None
        if best is not None and best.is_exact:
            judged = evaluate_cycle(costs, best.sequence)
            return Choice("optimal", CycleStream(best.sequence), {"optimal": judged})
    names = (
        ["index", "regular", "rings", "deadline"] if free else ["regular", "deadline", "webster"]
    )
    if free and shares.size <= FEW:
        names.append("whittle")
    found = {name: judge_policy(name, costs, shares, slots=slots) for name in names}
    name = min(found, key=lambda one: found[one].cost)
    if free and found["index"].cost <= found[name].cost + 1e-12 * abs(found[name].cost):
        name = "index"
    return Choice(name, make_stream(name, costs, shares), found)


def cut_cycle(
    stream: AccessStream, costs: AgeingCosts, frequencies: ArrayLike, length: int
) -> Integers:
    """Return the best cycle of a length that a stream or phases make.

    Parameters
    ----------
    stream : is moved on by ``length`` slots
    costs, frequencies : of n pages
    length : slots of the cycle; long enough for every page once

    Notes
    -----
    The end of a stream's window does not know of its beginning; phases of rounded frequencies
    close by themselves. O(length log length).
    """
    shares = check_frequencies(frequencies)
    cycles = [
        close_cycle(stream, shares, length),
        phase_cycle(shares, length),
        phase_cycle(shares, length, webster_phases(shares)),
    ]
    return min(cycles, key=lambda cycle: evaluate_cycle(costs, cycle).cost)
