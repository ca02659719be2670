"""In what order: access sequences that realise the rates, and what no order can beat."""

from recrawl.sequencing.arrivals import loss_costs, obsolescence_costs, preemptive_loss_costs
from recrawl.sequencing.bounds import (
    bound_even_gaps,
    bound_frequencies,
    bound_table_gaps,
    bound_whole_gaps,
)
from recrawl.sequencing.conditions import Conditions, check_conditions
from recrawl.sequencing.costs import AgeingCosts, TabulatedCosts
from recrawl.sequencing.cycles import CycleStream, close_cycle
from recrawl.sequencing.deadlines import DeadlineStream
from recrawl.sequencing.evaluation import (
    OrderCost,
    evaluate_cycle,
    evaluate_random,
    find_distances,
    measure_stream,
)
from recrawl.sequencing.frequencies import check_frequencies, round_to_cycle
from recrawl.sequencing.golden import (
    GoldenStream,
    fibonacci,
    golden_cycle,
    golden_limit,
    golden_ratio,
    golden_second_moment,
)
from recrawl.sequencing.greedy import GreedyStream, bound_greedy, greedy_cycle
from recrawl.sequencing.horizon import solve_horizon
from recrawl.sequencing.index import IndexStream
from recrawl.sequencing.local_search import neighbours, search_word
from recrawl.sequencing.optimum import solve_cycle
from recrawl.sequencing.phases import PhaseStream, deadline_phases, phase_cycle, webster_phases
from recrawl.sequencing.policies import (
    KEEPERS,
    POLICIES,
    Choice,
    are_best,
    best_bound,
    choose_policy,
    cut_cycle,
    judge_policy,
    make_stream,
    restore_stream,
)
from recrawl.sequencing.polite import IDLE, PoliteStream
from recrawl.sequencing.randomised import RandomStream, random_cycle
from recrawl.sequencing.regular import RegularStream, regular_cycle
from recrawl.sequencing.rings import RingStream
from recrawl.sequencing.several import bound_shared_list, complete_shared_list, shared_costs
from recrawl.sequencing.splits import SplitStream, imbalance, split_cycle
from recrawl.sequencing.streams import AccessStream
from recrawl.sequencing.two import density_cost, solve_two, switching_rate
from recrawl.sequencing.whittle import WhittleStream

__all__ = [
    "IDLE",
    "KEEPERS",
    "POLICIES",
    "AccessStream",
    "AgeingCosts",
    "Choice",
    "Conditions",
    "CycleStream",
    "DeadlineStream",
    "GoldenStream",
    "GreedyStream",
    "IndexStream",
    "OrderCost",
    "PhaseStream",
    "PoliteStream",
    "RandomStream",
    "RegularStream",
    "RingStream",
    "SplitStream",
    "TabulatedCosts",
    "WhittleStream",
    "are_best",
    "best_bound",
    "bound_even_gaps",
    "bound_frequencies",
    "bound_greedy",
    "bound_shared_list",
    "bound_table_gaps",
    "bound_whole_gaps",
    "check_conditions",
    "check_frequencies",
    "choose_policy",
    "close_cycle",
    "complete_shared_list",
    "cut_cycle",
    "deadline_phases",
    "density_cost",
    "evaluate_cycle",
    "evaluate_random",
    "fibonacci",
    "find_distances",
    "golden_cycle",
    "golden_limit",
    "golden_ratio",
    "golden_second_moment",
    "greedy_cycle",
    "imbalance",
    "judge_policy",
    "loss_costs",
    "make_stream",
    "measure_stream",
    "neighbours",
    "obsolescence_costs",
    "phase_cycle",
    "preemptive_loss_costs",
    "random_cycle",
    "regular_cycle",
    "restore_stream",
    "round_to_cycle",
    "search_word",
    "shared_costs",
    "solve_cycle",
    "solve_horizon",
    "solve_two",
    "split_cycle",
    "switching_rate",
    "webster_phases",
]
