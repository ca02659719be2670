"""The verb ``robots`` for classes of robots, a changing environment and Erlang indexing."""

from dataclasses import asdict, dataclass

import numpy as np

from recrawl.cli.output import console, print_json, print_table
from recrawl.cli.robots.options import FleetOptions
from recrawl.cli.robots.rates import Rates
from recrawl.cli.robots.report import print_simulated
from recrawl.errors import InputError
from recrawl.fleet import (
    PhasedFleet,
    PhasedOptimum,
    PhasedStatic,
    RobotClass,
    erlang_service,
    solve_phased,
    solve_phased_static,
)
from recrawl.simulation.controlled_queue import SimulatedFleet, simulate_phased_fleet


@dataclass(frozen=True, slots=True)
class PhasedRequest:
    """Rates, given or measured, and the other options of the command line."""

    rates: Rates
    options: FleetOptions

    def fleet(self) -> PhasedFleet:
        """Return the model.

        Raises
        ------
        InputError
            If the text of an option makes no sense.
        """
        asked = self.options
        leave = _numbers("--environment", asked.environment) if asked.environment else []
        phases = max(len(leave), 1)
        switching = np.zeros((phases, phases))
        for phase, rate in enumerate(leave):
            switching[phase, phase] -= rate
            switching[phase, (phase + 1) % phases] += rate
        initial, generator = erlang_service(self.rates.index, asked.index_phases)
        return PhasedFleet(
            classes=self._classes(phases),
            buffer=asked.capacity,
            service_initial=initial,
            service_generator=generator,
            starvation_weight=asked.starvation_weight or 0.0,
            environment=switching,
            loss_weight=asked.loss_weight,
            holding_cost=asked.holding_cost,
        )

    def _classes(self, phases: int) -> tuple[RobotClass, ...]:
        classes, robots = self.options.classes, self.options.robots
        if classes is None:
            if robots is None:
                raise InputError("--robots: give the number of robots, or --classes")
            return (RobotClass(robots, (self.rates.fetch,) * phases),)
        if robots is not None:
            raise InputError("--robots: leave it out, --classes says how many there are")
        return tuple(_robot_class(part, phases) for part in classes.split(","))


def _robot_class(text: str, phases: int) -> RobotClass:
    count, _, rates = text.partition("@")
    try:
        found = RobotClass(int(count), tuple(float(rate) for rate in rates.split("/")))
    except ValueError as error:
        raise InputError(
            f"--classes: {text!r} is not count@rate with a count >= 1 and rates > 0, "
            "such as 8@0.05, or 8@0.05/0.2 with two phases of the environment"
        ) from error
    if len(found.fetch_rates) == 1:
        return RobotClass(found.robots, found.fetch_rates * phases)
    return found


def _numbers(name: str, text: str) -> list[float]:
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) < 2 or not all(0 < number < float("inf") for number in numbers):
        raise InputError(f"{name}: {text!r} is not two or more rates > 0, such as 0.1,0.2")
    return numbers


def advise_phased(request: PhasedRequest, *, as_json: bool) -> None:
    """Solve, and print tables or one JSON object."""
    fleet = request.fleet()
    best, static = solve_phased(fleet), solve_phased_static(fleet)
    simulated = None
    asked = request.options
    if asked.simulate is not None:
        rng = np.random.default_rng(asked.seed)
        simulated = simulate_phased_fleet(fleet, best.policy, rng, events=asked.simulate)
    if as_json:
        print_json(_as_json(best, static, simulated))
    else:
        _print(request, best, static, simulated)


def _as_json(
    best: PhasedOptimum, static: PhasedStatic, simulated: SimulatedFleet | None
) -> dict[str, object]:
    target = best.targets
    is_plain = target is not None and target.shape[:2] == (1, 1)
    return {
        "static": {
            "robots": sum(static.robots),
            "cost": static.cost,
            "robots_by_class": static.robots,
        },
        "dynamic": {
            **asdict(best.measures),
            "target": target[0, 0].tolist() if target is not None and is_plain else None,
            "target_by_phase": target.tolist() if target is not None else None,
            "robots_by_class": best.robots_by_class,
        },
        "gain_percent": 100 * (static.cost / best.measures.cost - 1),
        "policy": {
            "arrival": best.policy.arrival.astype(int).tolist(),
            "departure": best.policy.departure.tolist(),
        }
        if best.policy.arrival.size <= 20_000
        else None,
        "certificate": {
            "residual": best.residual,
            "iterations": best.iterations,
            "is_curve": best.is_curve,
            "multichain_policies_met": best.rerouted,
        },
        **({"simulation": asdict(simulated)} if simulated is not None else {}),
    }


def _print(
    request: PhasedRequest,
    best: PhasedOptimum,
    static: PhasedStatic,
    simulated: SimulatedFleet | None,
) -> None:
    measures, out, unit = best.measures, console(), request.rates.unit
    means = " + ".join(f"{mean:.1f}" for mean in best.robots_by_class)
    print_table(
        ["", "cost", "idle", "lost pages", "robots by class"],
        [
            [
                "best fixed numbers",
                f"{static.cost:.5g}",
                "",
                "",
                " + ".join(map(str, static.robots)),
            ],
            [
                "optimal control",
                f"{measures.cost:.5g}",
                f"{100 * measures.starvation:.4g} %",
                f"{measures.loss_rate:.5g}",
                f"mean {means}",
            ],
        ],
        title=f"A buffer of {request.options.buffer} pages (costs and losses per {unit})",
    )
    gain = 100 * (static.cost / measures.cost - 1)
    out.print(f"The best fixed numbers cost {gain:.4g} % more.")
    if best.targets is None:
        out.print("With several classes there is no curve; --json holds the table of decisions.")
    else:
        columns = [
            (z, i) for z in range(best.targets.shape[0]) for i in range(best.targets.shape[1])
        ]
        print_table(
            ["pages", *(f"environment {z + 1}, indexing {i + 1}" for z, i in columns)],
            [
                [str(q), *(str(best.targets[z, i, q]) for z, i in columns)]
                for q in range(best.targets.shape[2])
            ],
            title="Robots to aim for, by phase",
        )
    if simulated is not None:
        print_simulated(asdict(simulated))
