"""The exact robot control against general solvers of Markov decision processes, in one run.

Every solver gets the same problem (Talim et al. 2001, states (q, r, s), mu = 1) in a process of
its own; counted are the CPU seconds of building and solving, compilation excluded for those that
compile, and the peak memory of the process. Peers: QuantEcon's DiscreteDP (policy iteration at
discount 1 - 1e-9, sparse; it has no average criterion), mdpsolver (modified policy iteration,
average criterion), and plain relative value iteration, compiled, until the cost is proved to 1e-6
relative. "QuantEcon (q, r)" is given our smaller post-decision states. A general solver that runs
out of its time stays in the table as such.

    python bench/fleet_solvers.py [--limit 60] [--quick]

Bars: at least 80 times faster than QuantEcon at (200, 200) and 150 times at (500, 500), and exact
where it is not; (1000, 1000) in under 1.5 s of CPU and 500 MB at utilisation 0.8, 1 and 2; all 54
rows of the paper's tables under 0.5 s together; (2000, 2000) solved.
"""

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np

from recrawl.kernels import compile as machine_code

SIZES = (  # buffer, robots, fetch rate, weight of starvation
    (5, 16, 0.1, 1.4),
    (15, 143, 0.01, 2.4),
    (50, 50, 1 / 50, 1.0),
    (200, 200, 1 / 200, 1.0),
    (500, 500, 1 / 500, 1.0),
    (1000, 1000, 0.8 / 1000, 1.4),
    (1000, 1000, 1 / 1000, 1.4),
    (1000, 1000, 2 / 1000, 1.4),
    (2000, 2000, 1 / 2000, 1.4),
    (2000, 2000, 2 / 2000, 1.4),
)
PEERS_UP_TO = {"quantecon": 1000, "quantecon (q, r)": 1000, "mdpsolver": 200, "rvi": 200}


def published_form(buffer, robots, rate, weight):
    """Rows of (state, action, next state, probability) and costs of the paper's own process."""
    q, r, s = np.indices((buffer + 1, robots + 1, 3)).reshape(3, -1)
    exists = ~(((s == 0) & (q == 0)) | ((s == 1) & (r == 0)) | ((s == 2) & (q + r == 0)))
    number = np.full(q.size, -1)
    number[exists] = np.arange(exists.sum())
    total = rate * robots + 1.0
    cost = weight * (q == 0) + total * ((q == buffer) & (s == 1))
    pairs = []
    for action in (0, 1):
        allowed = exists & ((s < 2) | (action == 0))
        if action == 0:
            allowed &= ~((q == 1) & (r == 0) & (s == 0))
        pairs.append(np.stack([np.flatnonzero(allowed), np.full(allowed.sum(), action)]))
    at, action = np.concatenate(pairs, axis=1)
    order = np.lexsort((action, at))
    at, action = at[order], action[order]
    qa = np.where(s[at] == 0, q[at] - 1, np.where(s[at] == 1, np.minimum(q[at] + 1, buffer), q[at]))
    ra = np.where(
        s[at] == 0,
        np.minimum(r[at] + action, robots),
        np.where(s[at] == 1, r[at] - 1 + action, r[at]),
    )
    down, up = (qa > 0) / total, rate * ra / total
    base = (qa * (robots + 1) + ra) * 3
    to = number[np.stack([base, base + 1, base + 2], axis=1)]
    probability = np.stack([down, up, 1 - down - up], axis=1)
    return number[at], action, to, probability, cost[at], exists.sum()


def post_decision_form(buffer, robots, rate, weight):
    """Return the same on (q, r): an action is a pair (restart on arrival, start on departure)."""
    q, r = np.indices((buffer + 1, robots + 1)).reshape(2, -1)
    total = rate * robots + 1.0
    rows = []
    for a in (0, 1):
        for b in (0, 1):
            ok = (q + r > 0) & ((a == 0) | (r > 0)) & ((b == 0) | ((q > 0) & (r < robots)))
            ok &= (b == 1) | ~((q == 1) & (r == 0))
            at = np.flatnonzero(ok)
            up_to = np.minimum(q[at] + 1, buffer) * (robots + 1) + np.maximum(r[at] - 1 + a, 0)
            down_to = np.maximum(q[at] - 1, 0) * (robots + 1) + np.minimum(r[at] + b, robots)
            up, down = rate * r[at] / total, (q[at] > 0) / total
            to = np.stack([down_to, up_to, at], axis=1) - 1
            probability = np.stack([down, up, 1 - up - down], axis=1)
            lost = rate * r[at] * (q[at] == buffer)
            rows.append(
                (at - 1, np.full(at.size, 2 * a + b), to, probability, weight * (q[at] == 0) + lost)
            )
    at, action, to, probability, cost = (np.concatenate(part) for part in zip(*rows, strict=True))
    order = np.lexsort((action, at))
    return at[order], action[order], to[order], probability[order], cost[order], q.size - 1


def sparse_matrix(to, probability, n):
    from scipy import sparse

    keep = (probability > 0) & (to >= 0)
    row = np.broadcast_to(np.arange(len(to))[:, None], to.shape)
    return sparse.csr_matrix((probability[keep], (row[keep], to[keep])), shape=(len(to), n))


def solve_quantecon(form, problem):
    from quantecon.markov import DiscreteDP

    beta = 1 - 1e-9

    def call():
        at, action, to, probability, cost, n = form(*problem)
        process = DiscreteDP(-cost, sparse_matrix(to, probability, n), beta, at, action)
        found = process.solve(method="policy_iteration")
        return float(-np.median(found.v) * (1 - beta))

    return call


def solve_mdpsolver(problem):
    import mdpsolver

    def call():
        at, _, to, probability, cost, n = published_form(*problem)
        rewards, chances, columns = ([[] for _ in range(n)] for _ in range(3))
        for row in range(at.size):
            keep = (probability[row] > 0) & (to[row] >= 0)
            rewards[at[row]].append(-float(cost[row]))
            chances[at[row]].append(probability[row][keep].tolist())
            columns[at[row]].append(to[row][keep].tolist())
        model = mdpsolver.model()
        model.mdp(rewards=rewards, tranMatProbs=chances, tranMatColumns=columns)
        model.solve(algorithm="mpi", criterion="average", tolerance=1e-8, parallel=False)
        return policy_cost(problem, [model.getAction(state) for state in range(n)])

    return call


def policy_cost(problem, picked):
    """Evaluate a policy over (q, r, s) exactly; actions are positions among those allowed."""
    from recrawl.fleet import ControlledBuffer, RobotPolicy, evaluate_policy

    buffer, robots, rate, weight = problem
    at, action, *_ = published_form(*problem)
    first = np.searchsorted(at, np.arange(len(picked)))
    chosen = action[first + np.array(picked)]
    q, r, s = np.indices((buffer + 1, robots + 1, 3)).reshape(3, -1)
    exists = ~(((s == 0) & (q == 0)) | ((s == 1) & (r == 0)) | ((s == 2) & (q + r == 0)))
    grid = np.zeros(q.size, dtype=bool)
    grid[exists] = chosen.astype(bool)
    table = grid.reshape(buffer + 1, robots + 1, 3)
    policy = RobotPolicy(arrival=table[..., 1].copy(), departure=table[..., 0].copy())
    return evaluate_policy(ControlledBuffer(robots, buffer, rate, 1.0, weight), policy)[-1].cost


def solve_ours(problem):
    from recrawl.fleet import ControlledBuffer, solve_robots

    buffer, robots, rate, weight = problem
    return lambda: solve_robots(ControlledBuffer(robots, buffer, rate, 1.0, weight)).cost


def solve_rvi(problem):
    from recrawl.fleet import ControlledBuffer, iterate_to_span, solve_static

    buffer, robots, rate, weight = problem
    model = ControlledBuffer(robots, buffer, rate, 1.0, weight)
    tolerance = 1e-6 * solve_static(model).cost
    return lambda: iterate_to_span(model, tolerance).cost


def solve_tables():
    from recrawl.fleet import ControlledBuffer, solve_robots, solve_robots_unrestricted
    from recrawl.reproductions.talim_printed import TABLE_1, TABLE_2

    def call():
        for row in TABLE_1:
            solve_robots(
                ControlledBuffer(row.static_robots, row.buffer, row.fetch_rate, 1.0, row.weight)
            )
        for row in TABLE_2:
            solve_robots_unrestricted(
                ControlledBuffer(row.static_robots, row.buffer, row.fetch_rate, 1.0, row.weight)
            )
        return 0.0

    return call


def make(solver, problem):
    if solver == "ours":
        return solve_ours(problem)
    if solver == "quantecon":
        return solve_quantecon(published_form, problem)
    if solver == "quantecon (q, r)":
        return solve_quantecon(post_decision_form, problem)
    if solver == "mdpsolver":
        return solve_mdpsolver(problem)
    if solver == "tables":
        return solve_tables()
    return solve_rvi(problem)


def child(solver, problem):
    """Run one measurement and print it as JSON."""
    machine_code.MANY_STEPS = 0.0  # in a program that goes on, small problems get there as well
    small = (3, 4, 0.3, 1.0)
    make(solver, small)()  # imports and compilation
    call = make(solver, problem)
    began = time.process_time()
    cost = call()
    spent = time.process_time() - began
    if spent < 0.3 and solver in {"ours", "tables"}:  # too short to trust one reading
        times = []
        for _ in range(5):
            began = time.process_time()
            call()
            times.append(time.process_time() - began)
        spent = float(np.median(times))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": spent, "megabytes": peak, "cost": cost}))


def measure(solver, problem, limit):
    command = [sys.executable, __file__, "--child", solver, json.dumps(problem)]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=True)
    except subprocess.TimeoutExpired:
        return None
    except subprocess.CalledProcessError as error:
        print(f"   {solver}: {(error.stderr.strip().splitlines() or ['killed'])[-1]}")
        return None
    return json.loads(ended.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=60, help="seconds for each peer and size")
    parser.add_argument("--quick", action="store_true", help="only up to (200, 200)")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child[0], tuple(json.loads(options.child[1])))
        return
    form = "{:18s} {:>12s} {:>6s} {:>11s} {:>8s} {:>24s} {:>10s} {:>9s}"
    print(form.format("solver", "(K, N)", "load", "CPU s", "MB", "cost", "rel. error", "ratio"))
    for problem in SIZES:
        buffer, robots, rate, _ = problem
        if options.quick and buffer > 200:
            continue
        label, load = f"({buffer}, {robots})", f"{rate * robots:.3g}"
        ours = measure("ours", problem, 600)
        print(
            form.format(
                "ours",
                label,
                load,
                f"{ours['seconds']:.4f}",
                f"{ours['megabytes']:.0f}",
                f"{ours['cost']:.15g}",
                "",
                "1",
            ),
            flush=True,
        )
        for solver, most in PEERS_UP_TO.items():
            if buffer > most or (buffer == 1000 and load != "1"):
                continue
            found = measure(solver, problem, options.limit)
            if found is None:
                print(form.format(solver, label, load, f"> {options.limit:g}", "", "", "", ""))
                continue
            error = abs(found["cost"] / ours["cost"] - 1)
            print(
                form.format(
                    solver,
                    label,
                    load,
                    f"{found['seconds']:.4f}",
                    f"{found['megabytes']:.0f}",
                    f"{found['cost']:.15g}",
                    f"{error:.1e}",
                    f"{found['seconds'] / ours['seconds']:.0f}",
                ),
                flush=True,
            )
    tables = measure("tables", (5, 16, 0.1, 1.4), 600)
    print(f"all 54 rows of Tables 1 and 2: {tables['seconds']:.3f} s of CPU")


if __name__ == "__main__":
    main()
