"""The bursty buffer event by event: arrivals in batches, one server, pages that go stale.

Nothing here knows the levels and blocks of the exact solutions. Pages are kept in the order of
arrival, each with the time it came and the phase of its own obsolescence clock, so the time that
a page spends in the system is measured.
"""

import numpy as np

from recrawl.kernels.arrays import Counts, Floats
from recrawl.kernels.compile import kernel


@kernel
def pick(limits: Floats, x: float) -> int:
    """Return the first place whose limit exceeds ``x``; the last if none does."""
    k = 0
    while k < limits.shape[0] - 1 and limits[k] <= x:
        k += 1
    return k


@kernel
def run_buffer(
    arrivals: tuple[Floats, Floats],
    service: tuple[Floats, Floats, Floats],
    clock: tuple[Floats, Floats, Floats],
    robots: Floats,
    modes: Counts,
    rule: tuple[int, int],
    grid: Floats,
    state: tuple[Counts, Counts, Floats],
    events: int,
    rng: "np.random.Generator",
) -> Floats:
    """Simulate so many events from ``state``, which is left where the simulation ended.

    Returns time, time empty, page-time, robot-time, pages brought, lost, stale, served, total stay
    of the served and of the stale, and for each time of ``grid`` how many served and how many
    stale pages stayed no longer.

    Parameters
    ----------
    arrivals : rates of leaving, shape (modes, w), 1/time, and cumulated shares, shape
        (modes, w, (K + 1) w); share k w + j is a batch of k pages and phase j next
    service, clock : of m phases each: initial law cumulated, shape (m,); rates of leaving, shape
        (m,), 1/time; cumulated shares of moves, shape (m, m + 1), the last being the end
    robots : shape (modes,), active robots in each mode
    modes : shape (levels,), the mode at each number of pages
    rule : capacity, and 0 partial, 1 reject or 2 complete
    grid : shape (points,), times, increasing
    state : (n, arrival phase, service phase); phases of pages by place in the ring and its head
        last, shape (levels + 1,); times they came and the present time last, shape (levels + 1,)
    events : how many
    rng : source of chance
    """
    leave, share = arrivals
    begin, work_rate, work_moves = service
    start, age_rate, age_moves = clock
    numbers, ring, times = state
    w = leave.shape[1]
    stages = work_rate.shape[0]
    phases = age_rate.shape[0]
    capacity, admission = rule
    places = ring.shape[0] - 1
    n, phase, work, head = numbers[0], numbers[1], numbers[2], ring[places]
    now = times[places]
    points = grid.shape[0]
    sums = np.zeros(10 + 2 * points)
    total_age = 0.0
    for i in range(1, n):
        total_age += age_rate[ring[(head + i) % places]]
    one_clock = phases == 1
    idle, pages, active = 0.0, 0.0, 0.0
    began = now
    for _ in range(events):
        mode = modes[n]
        come = leave[mode, phase]
        busy = work_rate[work] if n > 0 else 0.0
        if one_clock:
            total_age = age_rate[0] * (n - 1) if n > 1 else 0.0
        total = come + busy + total_age
        stay = rng.standard_exponential() / total
        now += stay
        if n == 0:
            idle += stay
        pages += stay * n
        active += stay * robots[mode]
        x = rng.random() * total
        if x < come:
            k, phase = divmod(pick(share[mode, phase], x / come), w)
            if k > 0:
                room = capacity - n
                if admission == 0:
                    taken = min(k, room)
                elif admission == 1:
                    taken = k if k <= room else 0
                else:
                    taken = k if room > 0 else 0
                sums[4] += k
                sums[5] += k - taken
                for _page in range(taken):
                    at = head + n
                    if at >= places:
                        at -= places
                    times[at] = now
                    if n == 0:
                        work = pick(begin, rng.random()) if stages > 1 else 0
                    elif not one_clock:
                        ring[at] = pick(start, rng.random())
                        total_age += age_rate[ring[at]]
                    n += 1
        elif x < come + busy:
            move = pick(work_moves[work], (x - come) / busy)
            if move < stages:
                work = move
                continue
            stayed = now - times[head]
            sums[7] += 1.0
            sums[8] += stayed
            for point in range(points - 1, -1, -1):
                if grid[point] < stayed:
                    break
                sums[10 + point] += 1.0
            head += 1
            if head == places:
                head = 0
            n -= 1
            if n > 0:
                work = pick(begin, rng.random()) if stages > 1 else 0
                if not one_clock:
                    total_age -= age_rate[ring[head]]
            if n < 2:
                total_age = 0.0
        else:
            left = x - come - busy
            if one_clock:
                place = 1 + min(int(left / age_rate[0]), n - 2)
                at = (head + place) % places
                move = 1
            else:
                place = 1
                at = (head + 1) % places
                while place < n - 1 and left >= age_rate[ring[at]]:
                    left -= age_rate[ring[at]]
                    place += 1
                    at = (head + place) % places
                age = ring[at]
                move = pick(age_moves[age], min(left / age_rate[age], 1.0))
                total_age -= age_rate[age]
                if move < phases:
                    ring[at] = move
                    total_age += age_rate[move]
                    continue
            stayed = now - times[at]
            sums[6] += 1.0
            sums[9] += stayed
            for point in range(points - 1, -1, -1):
                if grid[point] < stayed:
                    break
                sums[10 + points + point] += 1.0
            for i in range(place, n - 1):
                here = (head + i) % places
                after = (head + i + 1) % places
                times[here] = times[after]
                ring[here] = ring[after]
            n -= 1
            if n < 2:
                total_age = 0.0
    sums[0] = now - began
    sums[1] = idle
    sums[2] = pages
    sums[3] = active
    numbers[0], numbers[1], numbers[2], ring[places] = n, phase, work, head
    times[places] = now
    return sums
