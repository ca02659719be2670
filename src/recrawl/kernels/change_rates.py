"""Censored likelihood of one change rate a page, maximised page by page."""

from math import exp, expm1, inf, log

from recrawl.kernels.arrays import Flags, Integers, Vector
from recrawl.kernels.compile import sized_kernel


@sized_kernel(lambda first, elapsed, *_: 3.0 * elapsed.size)
def maximise_rates(
    first: Integers,
    elapsed: Vector,
    changed: Flags,
    shapes: Vector,
    times: Vector,
    rates: Vector,
    log_errors: Vector,
) -> tuple[int, float]:
    """Maximise over the logarithm of each rate; return most steps taken and largest last step.

    Parameters
    ----------
    first : shape (n + 1,), visits first[i] to first[i + 1] are those of page i
    elapsed : shape (visits,), time since the visit before, > 0
    changed : shape (visits,), whether the page had changed
    shapes, times : shape (n,) or (1,), >= 0, of gamma priors; zero is no prior, and then a rate may
        be 0 or infinite
    rates : shape (n,), 1/time, is written
    log_errors : shape (n,), standard errors of their logarithms, is written
    """
    most, largest = 0, 0.0
    for i in range(first.size - 1):
        a = shapes[i if shapes.size > 1 else 0]
        quiet = times[i if times.size > 1 else 0]
        hits, hit_time = 0, 0.0
        for j in range(first[i], first[i + 1]):
            if changed[j]:
                hits += 1
                hit_time += elapsed[j]
            else:
                quiet += elapsed[j]
        if a + hits == 0.0 or (quiet == 0.0 and hits > 0):
            rates[i] = 0.0 if hits == 0 else inf
            log_errors[i] = inf
            continue
        theta = log((a + hits) / (quiet + 0.5 * hit_time))
        step, information, n = inf, 0.0, 0
        while n < 100:
            n += 1
            rate = exp(theta)
            gradient, information = a - rate * quiet, rate * quiet
            for j in range(first[i], first[i + 1]):
                if changed[j]:
                    x = rate * elapsed[j]
                    pull = 1.0 - 0.5 * x if x < 1e-8 else x / expm1(min(x, 700.0))
                    gradient += pull
                    information -= pull * (1.0 - x - pull)
            step = gradient / information
            theta += min(max(step, -2.0), 2.0)
            if abs(step) < 1e-9:
                break
        most, largest = max(most, n), max(largest, abs(step))
        rates[i] = exp(theta)
        log_errors[i] = 1.0 / information**0.5
    return most, largest
