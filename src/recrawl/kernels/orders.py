"""Access orders one step at a time: drawn, golden, by deadline, by index, greedy, by splits."""

import numpy as np

from recrawl.kernels.arrays import Integers, Vector
from recrawl.kernels.compile import kernel, sized_kernel


@kernel
def _mixed(number: np.uint64) -> np.uint64:
    """Scramble a counter into 64 random bits (the finaliser of SplitMix64)."""
    z = number * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@sized_kernel(lambda *given: 2.0 * given[-1].size)
def serve_at_random(keep: Vector, other: Integers, seed: int, position: int, out: Integers) -> None:
    """Fill ``out`` with independent draws (alias method); the t-th depends on seed and t only.

    Parameters
    ----------
    keep, other : shape (n,), the alias table, see :func:`split_cells`
    seed : whole number, >= 0
    position : number of draws before these, >= 0
    out : shape (slots,), pages, is written
    """
    n = keep.size
    for step in range(out.size):
        counter = np.uint64(position + step)
        bits = _mixed(counter ^ _mixed(np.uint64(seed)))
        scaled = float(bits >> np.uint64(11)) / 9007199254740992.0 * n
        page = min(int(scaled), n - 1)
        toss = float(_mixed(bits) >> np.uint64(11)) / 9007199254740992.0
        out[step] = page if toss < keep[page] else other[page]


@sized_kernel(lambda keep, *_: 4.0 * keep.size)
def split_cells(keep: Vector, other: Integers) -> None:
    """Turn shares of mean 1 into the alias table: keep a cell's page with ``keep``, else the other.

    Small cells are filled up from large ones, which are worked off in order. O(n).

    Parameters
    ----------
    keep : shape (n,), shares, >= 0; in their place chances are written, in [0, 1]
    other : shape (n,), the pages 0 .. n - 1; in their place the others are written
    """
    n = keep.size
    large = 0
    while large < n and keep[large] < 1:
        large += 1
    at = 0
    small = 0  # the next cell to be filled
    while at < n and large < n:
        small = at
        at += 1
        if keep[small] >= 1 or other[small] != small:
            continue
        while large < n and keep[small] < 1 and other[small] == small:
            other[small] = large
            keep[large] -= 1 - keep[small]
            if keep[large] < 1:
                emptied = large
                large += 1
                while large < n and keep[large] < 1:
                    large += 1
                if emptied < at and large < n:
                    small = emptied  # it was passed over: fill it now
    for cell in range(n):
        if other[cell] == cell:
            keep[cell] = 1.0  # full, but for rounding


@sized_kernel(lambda *given: 2.0 * given[-1].size)
def serve_golden(
    ends: Integers, guide: Integers, stride: int, modulus: int, position: int, out: Integers
) -> int:
    """Fill ``out``; point j belongs to the first page whose end is beyond it. Return the next j.

    Parameters
    ----------
    ends : shape (n,), points before the end of each page, ascending to the modulus
    guide : shape (g,), page where each of g even parts of the points begins, or one near it
    stride : points from slot to slot, 0 < stride < modulus
    modulus : points in all
    position : point of the first slot, 0 <= position < modulus
    out : shape (slots,), pages, is written
    """
    j, scale = position, guide.size / modulus
    for step in range(out.size):
        page = guide[min(int(j * scale), guide.size - 1)]
        while page > 0 and ends[page - 1] > j:
            page -= 1
        while ends[page] <= j:
            page += 1
        out[step] = page
        j += stride
        if j >= modulus:
            j -= modulus
    return j


@sized_kernel(lambda worths, *given: float(worths.size * given[-1].size))
def serve_highest(
    worths: Vector, decays: Vector, rates: Vector, ages: Integers, out: Integers
) -> None:
    """Fill ``out`` with the pages of highest index at their ages; O(n) a slot.

    The index is a (1 - h^d (1 + d (1 - h))).

    Parameters
    ----------
    worths : shape (n,), a; a page of worth <= 0 is not served
    decays, rates : shape (n,), -ln h and 1 - h of each page, for a slot
    ages : shape (n,), d, slots since each page was served, >= 1; is written
    out : shape (slots,), pages, is written
    """
    n = ages.size
    for step in range(out.size):
        best, highest = 0, -np.inf
        for page in range(n):
            d = ages[page]
            index = worths[page] * (1 - np.exp(-decays[page] * d) * (1 + d * rates[page]))
            if index > highest and worths[page] > 0:
                best, highest = page, index
            ages[page] += 1
        ages[best] = 1
        out[step] = best


@sized_kernel(lambda scores, *given: float(scores.size * given[-1].size))
def serve_greediest(scores: Vector, decays: Vector, ages: Integers, out: Integers) -> None:
    """Fill ``out`` with the pages of highest score (1 - h^d) at their ages; O(n) a slot.

    Parameters
    ----------
    scores : shape (n,), >= 0
    decays : shape (n,), -ln h of each page, for a slot, > 0
    ages : shape (n,), d, slots since each page was served, >= 1; is written
    out : shape (slots,), pages, is written
    """
    n = ages.size
    for step in range(out.size):
        best, highest = 0, -np.inf
        for page in range(n):
            gain = -scores[page] * np.expm1(-decays[page] * ages[page])
            if gain > highest:
                best, highest = page, gain
            ages[page] += 1
        ages[best] = 1
        out[step] = best


@sized_kernel(lambda kids, *given: 8.0 * given[-1].size)
def serve_splits(
    kids: Integers, parts: Integers, wholes: Integers, sums: Integers, n_pages: int, out: Integers
) -> None:
    """Fill ``out`` with the pages that splits lead to, each ``parts`` of ``wholes`` to its first.

    Parameters
    ----------
    kids : shape (s, 2), page or split to which each of a split's two parts belongs; numbers from
        ``n_pages`` on are splits, the last one that of all slots
    parts, wholes : shape (s,), 0 <= parts <= wholes
    sums : shape (s,), running sum of each split's parts, 0 <= sums < wholes; is written
    n_pages : number of pages
    out : shape (slots,), pages, is written
    """
    for step in range(out.size):
        at = n_pages + wholes.size - 1
        while at >= n_pages:
            split = at - n_pages
            sums[split] += parts[split]
            if sums[split] >= wholes[split]:
                sums[split] -= wholes[split]
                at = kids[split, 0]
            else:
                at = kids[split, 1]
        out[step] = at


@sized_kernel(lambda *given: 2.0 * given[-1].size)
def serve_rings(groups: Integers, starts: Integers, hands: Integers, out: Integers) -> None:
    """Turn an order of rings into one of positions: each ring serves its pages in turn.

    Parameters
    ----------
    groups : shape (slots,), ring of each slot
    starts : shape (rings + 1,), first position of each ring, and the number of positions
    hands : shape (rings,), position that each ring serves next; is written
    out : shape (slots,), positions, is written
    """
    for step in range(out.size):
        ring = groups[step]
        out[step] = hands[ring]
        hands[ring] += 1
        if hands[ring] == starts[ring + 1]:
            hands[ring] = starts[ring]


@kernel
def _sift(heap: Integers, key: Vector, size: int, at: int) -> None:
    """Let the page at a place of a binary heap sink to where it belongs."""
    page = heap[at]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and key[heap[child + 1]] < key[heap[child]]:
            child += 1
        if key[heap[child]] >= key[page]:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = page


@kernel
def _rise(heap: Integers, key: Vector, at: int) -> None:
    page = heap[at]
    while at > 0:
        above = (at - 1) >> 1
        if key[heap[above]] <= key[page]:
            break
        heap[at] = heap[above]
        at = above
    heap[at] = page


@sized_kernel(lambda gap, *given: 40.0 * (gap.size + given[-1].size))
def serve_eligible(
    gap: Vector,
    deadline: Vector,
    release: Vector,
    waiting: Integers,
    eligible: Integers,
    sizes: Integers,
    out: Integers,
) -> None:
    """Fill ``out``: of the pages whose j-th visit is released, the one with the least deadline.

    The j-th visit may be made from slot (j - 1) gap on and is due by slot j gap.

    Parameters
    ----------
    gap : shape (n,), slots between visits of each page, >= 1; inf: never, in neither heap
    deadline, release : shape (n,), by and from which slot the next visit is made; are written
    waiting, eligible : room for each page served; heaps of pages by release and by deadline, are
        written
    sizes : shape (3,), pages waiting, pages eligible and slots so far; is written
    out : shape (slots,), pages, is written
    """
    for step in range(out.size):
        now = sizes[2]
        while sizes[0] and (release[waiting[0]] <= now + 1e-9 or not sizes[1]):
            page = waiting[0]
            sizes[0] -= 1
            waiting[0] = waiting[sizes[0]]
            _sift(waiting, release, sizes[0], 0)
            eligible[sizes[1]] = page
            _rise(eligible, deadline, sizes[1])
            sizes[1] += 1
        page = eligible[0]
        sizes[1] -= 1
        eligible[0] = eligible[sizes[1]]
        _sift(eligible, deadline, sizes[1], 0)
        release[page] = deadline[page]
        deadline[page] += gap[page]
        waiting[sizes[0]] = page
        _rise(waiting, release, sizes[0])
        sizes[0] += 1
        sizes[2] += 1
        out[step] = page
