"""Calendar queues by due time, one for each lane of pages of like urgency.

A lane is a hashed wheel of buckets of due times, as wide as the lane has visits, so that a bucket
holds about one page. The earliest due page of a lane is exact: a bucket's list is searched for the
least due time of this revolution. Inserting, taking and removing are O(1) amortised.

Pages are records of 32 bytes, so that a visit costs about two cache misses however many there are.
``pages`` holds them as ``PAGE``, ``lanes`` the lanes as ``LANE``, and ``buckets`` the first page of
each bucket or -1. Times are in the unit of a gap, 1 / frequency; ``clock`` is (now, length of a
slot), the latter 1 / total frequency.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from recrawl.kernels.arrays import Integers, Vector
from recrawl.kernels.compile import kernel, sized_kernel

Records: TypeAlias = Any  # numpy has no type for the fields of a structured array

# A page is due again a gap after it was served (1) or after it was due (0). In between its due
# times keep some of their even spread, and errors do not live on; 0.7 was best or near it on every
# family.
_FOLLOW = 0.7

PAGE = np.dtype([("due", "f8"), ("gap", "f8"), ("urgency", "f8"), ("next", "i4"), ("lane", "i4")])
LANE = np.dtype(
    [
        ("due", "f8"),  # of its earliest page
        ("urgency", "f8"),
        ("root", "f8"),  # square root of that
        ("inverse", "f8"),  # buckets per unit of time
        ("head", "i8"),  # its earliest page, -1 when the lane is empty
        ("mask", "i8"),  # number of buckets, a power of two, less 1
        ("offset", "i8"),  # where its buckets begin
        ("count", "i8"),
    ]
)


@sized_kernel(lambda *_: 2.0)
def enter(pages: Records, lanes: Records, buckets: NDArray[np.int32], page: int) -> None:
    """Put a page whose record is filled in into its lane.

    Parameters
    ----------
    pages, lanes, buckets : see the module; brought up to date
    page : its record, in no lane
    """
    lane = lanes[pages[page]["lane"]]
    due = pages[page]["due"]
    slot = lane["offset"] + (np.int64(np.floor(due * lane["inverse"])) & lane["mask"])
    pages[page]["next"] = buckets[slot]
    buckets[slot] = page
    lane["count"] += 1
    if lane["head"] < 0 or due < lane["due"]:
        lane["head"] = page
        lane["due"] = due
        lane["urgency"] = pages[page]["urgency"]
        lane["root"] = np.sqrt(lane["urgency"])


@sized_kernel(lambda *given: 4.0 * given[-1].size)
def enter_all(
    pages: Records, lanes: Records, buckets: NDArray[np.int32], numbers: Integers
) -> None:
    """Put many pages in.

    Parameters
    ----------
    pages, lanes, buckets : see the module; brought up to date
    numbers : shape (k,), their records, all filled in and in no lane
    """
    for page in numbers:
        enter(pages, lanes, buckets, page)


@kernel
def _unlink(pages: Records, lanes: Records, buckets: NDArray[np.int32], page: int) -> None:
    lane = lanes[pages[page]["lane"]]
    slot = lane["offset"] + (
        np.int64(np.floor(pages[page]["due"] * lane["inverse"])) & lane["mask"]
    )
    at = np.int64(buckets[slot])
    if at == page:
        buckets[slot] = pages[page]["next"]
    else:
        while pages[at]["next"] != page:
            at = np.int64(pages[at]["next"])
        pages[at]["next"] = pages[page]["next"]
    lane["count"] -= 1


@kernel
def _find_head(
    pages: Records, lanes: Records, buckets: NDArray[np.int32], number: int, start: float
) -> None:
    """Find the earliest page of a lane in which none is due before ``start``."""
    lane = lanes[number]
    if lane["count"] == 0:
        lane["head"] = -1
        return
    bucket = np.int64(np.floor(start * lane["inverse"]))
    last = bucket + lane["mask"]
    best, best_due = np.int64(-1), np.inf
    while best < 0 and bucket <= last:
        at = np.int64(buckets[lane["offset"] + (bucket & lane["mask"])])
        while at >= 0:
            due = pages[at]["due"]
            if due < best_due and np.int64(np.floor(due * lane["inverse"])) <= bucket:
                best, best_due = at, due
            at = np.int64(pages[at]["next"])
        bucket += 1
    if best < 0:  # nothing within a revolution: look at all
        for slot in range(lane["offset"], lane["offset"] + lane["mask"] + 1):
            at = np.int64(buckets[slot])
            while at >= 0:
                if pages[at]["due"] < best_due:
                    best, best_due = at, pages[at]["due"]
                at = np.int64(pages[at]["next"])
    lane["head"] = best
    lane["due"] = best_due
    lane["urgency"] = pages[best]["urgency"]
    lane["root"] = np.sqrt(lane["urgency"])


@sized_kernel(lambda *_: 4.0)
def leave(pages: Records, lanes: Records, buckets: NDArray[np.int32], page: int) -> None:
    """Take a page out of its lane.

    Parameters
    ----------
    pages, lanes, buckets : see the module; brought up to date
    page : its record, in a lane
    """
    number = pages[page]["lane"]
    start = lanes[number]["due"]
    _unlink(pages, lanes, buckets, page)
    if lanes[number]["head"] == page:
        _find_head(pages, lanes, buckets, number, start)


@kernel
def _most_urgent(lanes: Records, now: float) -> int:
    """Return the lane whose earliest page weighs most: late pages first, by lateness x urgency."""
    best, weight = -1, -np.inf
    for number in range(lanes.size):
        lane = lanes[number]
        if lane["head"] >= 0:
            late = now - lane["due"]
            mine = late * lane["urgency"] if late > 0 else late * lane["root"]
            if mine > weight:
                best, weight = number, mine
    return best


@sized_kernel(lambda *given: 30.0 * given[-1].size)
def serve_by_index(
    pages: Records, lanes: Records, buckets: NDArray[np.int32], clock: Vector, out: Integers
) -> None:
    """Fill ``out`` with the next pages; those of most urgent lateness.

    Parameters
    ----------
    pages, lanes, buckets, clock : see the module; brought up to date
    out : shape (k,), numbers of pages, is written
    """
    for step in range(out.size):
        clock[0] += clock[1]
        page = lanes[_most_urgent(lanes, clock[0])]["head"]
        leave(pages, lanes, buckets, page)
        pages[page]["due"] += pages[page]["gap"] + _FOLLOW * (clock[0] - pages[page]["due"])
        enter(pages, lanes, buckets, page)
        out[step] = page


@sized_kernel(lambda *given: 30.0 * given[-1].size)
def serve_by_deadline(
    pages: Records, lanes: Records, buckets: NDArray[np.int32], clock: Vector, out: Integers
) -> None:
    """Fill ``out`` with the next pages by due time; each is due again a gap after it was due.

    Parameters
    ----------
    pages, lanes, buckets : see the module, with one lane; brought up to date
    clock : receives the due time of the last page as the present one
    out : shape (k,), numbers of pages, is written
    """
    inverse, mask = lanes[0]["inverse"], lanes[0]["mask"]
    bucket = np.int64(np.floor(lanes[0]["due"] * inverse))
    step, empty = 0, 0
    while step < out.size:
        slot = bucket & mask
        before, at = np.int64(-1), np.int64(buckets[slot])
        best, best_before, best_due = np.int64(-1), np.int64(-1), np.inf
        while at >= 0:
            due = pages[at]["due"]
            if due < best_due and np.int64(np.floor(due * inverse)) <= bucket:
                best, best_before, best_due = at, before, due
            before, at = at, np.int64(pages[at]["next"])
        if best < 0:
            bucket += 1
            empty += 1
            if empty > mask:  # nothing within a revolution: look at all
                lanes[0]["head"] = -1
                _find_head(pages, lanes, buckets, 0, bucket / inverse)
                bucket, empty = np.int64(np.floor(lanes[0]["due"] * inverse)), 0
            continue
        empty = 0
        if best_before < 0:
            buckets[slot] = pages[best]["next"]
        else:
            pages[best_before]["next"] = pages[best]["next"]
        due = best_due + pages[best]["gap"]
        slot = np.int64(np.floor(due * inverse)) & mask
        pages[best]["due"] = due
        pages[best]["next"] = buckets[slot]
        buckets[slot] = best
        clock[0] = best_due
        out[step] = best
        step += 1
    _find_head(pages, lanes, buckets, 0, bucket / inverse)


@sized_kernel(lambda members, start, stop, *_: float(stop - start))
def settle(members: Integers, start: int, stop: int, due: Vector, at: int) -> None:
    """Let the page at a place of a host's heap rise or sink to where it belongs.

    Parameters
    ----------
    members : pages of all hosts, brought up to date
    start, stop : the heap is ``members[start:stop]``, the earliest page first
    due : shape (n,), due time of each page
    at : place in ``members``, from start to stop - 1
    """
    page = members[at]
    while at > start:
        above = start + (at - start - 1) // 2
        if due[members[above]] <= due[page]:
            break
        members[at] = members[above]
        at = above
    while True:
        child = start + 2 * (at - start) + 1
        if child >= stop:
            break
        if child + 1 < stop and due[members[child + 1]] < due[members[child]]:
            child += 1
        if due[members[child]] >= due[page]:
            break
        members[at] = members[child]
        at = child
    members[at] = page


@sized_kernel(lambda *_: 10.0)
def fall_asleep(sleepers: Integers, ready: Integers, count: int, host: int) -> None:
    """Add a host to the heap of sleepers.

    Parameters
    ----------
    sleepers : shape (hosts,), a heap in its first ``count`` places, is written
    ready : shape (hosts,), slot from which each host may be asked
    count : hosts asleep before, fewer than all
    host : its number, not asleep
    """
    at = count
    while at > 0:
        above = (at - 1) >> 1
        if ready[sleepers[above]] <= ready[host]:
            break
        sleepers[at] = sleepers[above]
        at = above
    sleepers[at] = host


@kernel
def _wake(sleepers: Integers, ready: Integers, count: int) -> int:
    """Take the host that may be asked first out of the heap of ``count`` sleepers."""
    first, last, at = sleepers[0], sleepers[count - 1], 0
    while True:
        child = 2 * at + 1
        if child >= count - 1:
            break
        if child + 1 < count - 1 and ready[sleepers[child + 1]] < ready[sleepers[child]]:
            child += 1
        if ready[sleepers[child]] >= ready[last]:
            break
        sleepers[at] = sleepers[child]
        at = child
    sleepers[at] = last
    return int(first)


@sized_kernel(lambda *given: 60.0 * given[-1].size)
def serve_politely(
    hosts: Records,
    lanes: Records,
    buckets: NDArray[np.int32],
    members: Integers,
    starts: Integers,
    stops: Integers,
    due: Vector,
    gap: Vector,
    urgency: Vector,
    lane_of: Integers,
    spacing: Integers,
    ready: Integers,
    sleepers: Integers,
    clock: Vector,
    counts: Integers,
    out: Integers,
) -> None:
    """Fill ``out`` by index, no host twice within its ``spacing``.

    A host stands in the lanes with its earliest due page, and sleeps after each visit.

    Parameters
    ----------
    hosts : records of hosts in the place of pages, brought up to date
    lanes, buckets, clock : see the module; brought up to date
    members : a heap of pages for each host, the earliest first, brought up to date
    starts, stops : shape (hosts,), where the heap of each host begins and ends in ``members``
    due, gap : shape (n,), times, of pages; ``due`` is brought up to date
    urgency, lane_of : shape (n,), > 0, of pages, and the lane that each belongs to
    spacing : shape (hosts,), least slots between visits, >= 1
    ready : shape (hosts,), slot from which each may be asked, brought up to date
    sleepers : shape (hosts,), a heap of hosts by that, brought up to date
    counts : slots so far and hosts asleep, brought up to date
    out : shape (k,), numbers of pages, is written; -1 where no host may be asked
    """
    for step in range(out.size):
        counts[0] += 1
        clock[0] += clock[1]
        while counts[1] and ready[sleepers[0]] <= counts[0]:
            woken = _wake(sleepers, ready, counts[1])
            counts[1] -= 1
            if starts[woken] == stops[woken]:
                continue  # its last page has left
            page = members[starts[woken]]
            hosts[woken]["due"] = due[page]
            hosts[woken]["urgency"] = urgency[page]
            hosts[woken]["lane"] = lane_of[page]
            enter(hosts, lanes, buckets, woken)
        lane = _most_urgent(lanes, clock[0])
        if lane < 0:
            out[step] = -1
            continue
        host = int(lanes[lane]["head"])
        leave(hosts, lanes, buckets, host)
        page = members[starts[host]]
        due[page] += gap[page] + _FOLLOW * (clock[0] - due[page])
        settle(members, starts[host], stops[host], due, starts[host])
        ready[host] = counts[0] + spacing[host]
        fall_asleep(sleepers, ready, counts[1], host)
        counts[1] += 1
        out[step] = page
