"""A recorded log of arrivals and service times, run again under another control."""

import numpy as np

from recrawl.kernels.arrays import Integers, Vector
from recrawl.kernels.compile import sized_kernel


@sized_kernel(lambda work, *_: 20.0 * work.size)
def replay_arrivals(
    work: Vector,
    sizes: Integers,
    services: Vector,
    speeds: Vector,
    rule: tuple[int, int],
    sums: Vector,
) -> None:
    """Add up, for each block of batches, what a buffer sees.

    Parameters
    ----------
    work : shape (n,), what robots do from batch to batch, robots times time, >= 0
    sizes : shape (n,), pages of each batch, >= 0
    services : shape (m,), times in their order, >= 0; begun anew where there are too few
    speeds : work done per unit of time at 0, 1, ... pages, as many as there can be; the first > 0
    rule : capacity, and 0 partial, 1 reject or 2 complete
    sums : shape (blocks, 7), to each row is added (time, idle time, robots times time, pages times
        time, brought, lost, served)
    """
    capacity, admission = rule
    pages, next_service, left = 0, 0, 0.0
    for batch in range(work.size):
        row = batch * sums.shape[0] // work.size
        todo = work[batch]
        while True:
            speed = speeds[pages]
            arrival = todo / speed if speed > 0 else np.inf
            passed = min(arrival, left) if pages > 0 else arrival
            sums[row, 0] += passed
            sums[row, 1] += passed if pages == 0 else 0.0
            sums[row, 2] += passed * speed
            sums[row, 3] += passed * pages
            if pages > 0 and left < arrival:
                todo -= passed * speed
                pages -= 1
                sums[row, 6] += 1
                if pages > 0:
                    left = services[next_service]
                    next_service = (next_service + 1) % services.size
                continue
            left -= passed
            break
        size = sizes[batch]
        room = capacity - pages
        if admission == 0:
            taken = min(size, max(room, 0))
        elif admission == 1:
            taken = size if size <= room else 0
        else:
            taken = size if room > 0 else 0
        sums[row, 4] += size
        sums[row, 5] += size - taken
        if pages == 0 and taken > 0:
            left = services[next_service]
            next_service = (next_service + 1) % services.size
        pages += taken
