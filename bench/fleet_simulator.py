"""The simulator of the controlled queue against general simulators, events per CPU second.

The queue of the paper's Figure 3 with its best fixed number of robots (10 of rate 0.1, buffer 5,
index rate 1): an M/M/1/5 queue, which ciw and SimPy can write down. Only ours also runs the
control, where the rate of arrivals changes with the state of the queue.

    python bench/fleet_simulator.py [--events 2000000]

Bar: at least 50 times SimPy's events per CPU second; P(empty) within its own interval.
"""

import argparse
import time

import numpy as np

from recrawl.crawler.control.fleet import FixedRobots, TargetRobots
from recrawl.fleet import ControlledBuffer, solve_robots
from recrawl.simulation.controlled_queue import simulate_fleet

MODEL = ControlledBuffer(16, 5, 0.1, 1.0, 1.4)


def ours(policy, events):
    rng = np.random.default_rng(1)
    simulate_fleet(MODEL, policy, rng, events=10_000)
    began = time.process_time()
    found = simulate_fleet(MODEL, policy, rng, events=events)
    spent = time.process_time() - began
    return events / spent, f"{found.starvation.mean:.5f} ± {found.starvation.half_width:.1g}"


def simpy_queue(customers):
    import simpy

    rng = np.random.default_rng(1)
    env = simpy.Environment()
    state = {"q": 0, "empty": 0.0, "since": 0.0, "events": 0}

    def change(step):
        if state["q"] == 0:
            state["empty"] += env.now - state["since"]
        state["since"] = env.now
        state["q"] += step
        state["events"] += 1

    def serve():
        while state["q"]:
            yield env.timeout(rng.exponential(1.0))
            change(-1)

    def arrive():
        for _ in range(customers):
            yield env.timeout(rng.exponential(1.0))
            if state["q"] == 5:
                state["events"] += 1
                continue
            change(1)
            if state["q"] == 1:
                env.process(serve())

    env.process(arrive())
    began = time.process_time()
    env.run()
    return state["events"] / (time.process_time() - began), f"{state['empty'] / env.now:.5f}"


def ciw_queue(horizon):
    import ciw

    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(1.0)],
        service_distributions=[ciw.dists.Exponential(1.0)],
        number_of_servers=[1],
        queue_capacities=[4],
    )
    ciw.seed(1)
    simulation = ciw.Simulation(network)
    began = time.process_time()
    simulation.simulate_until_max_time(horizon)
    spent = time.process_time() - began
    records = simulation.get_all_records()
    served = [record for record in records if record.record_type == "service"]
    busy = sum(record.service_time for record in served)
    return (2 * len(served) + len(records) - len(served)) / spent, f"{1 - busy / horizon:.5f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=20_000_000)
    events = parser.parse_args().events
    targets = solve_robots(MODEL).targets
    rows = [
        ("ours, fixed 10 robots", *ours(FixedRobots(10), events)),
        ("ours, optimal control", *ours(TargetRobots(targets), events)),
        ("SimPy", *simpy_queue(max(events // 100, 1000))),
        ("ciw", *ciw_queue(max(events // 400, 1000))),
    ]
    print(f"{'simulator':24s} {'events per CPU s':>18s} {'ours is times':>14s}   P(empty)")
    for name, speed, empty in rows:
        print(f"{name:24s} {speed:18,.0f} {rows[0][1] / speed:14.1f}   {empty}")
    print("exact: 1/6 with 10 robots, 0.11617 under control")


if __name__ == "__main__":
    main()
