"""Hosts that allow so many requests in a time, and tell nobody how many."""

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import numpy as np
import pytest

from recrawl.crawler.control.dispatching.pace import AskedAgain, Pace
from recrawl.crawler.control.dispatching.politeness import HostPoliteness, PolitenessRules

HOUR_S = 3_600.0
TOOK_S = 0.02


class Bucket:
    """A server that refuses what is more than so many requests a second, and some at once."""

    def __init__(self, per_s: float, burst: float, status: int) -> None:
        self._per_s, self._burst, self._status = per_s, burst, status
        self._excess, self._at_s = 0.0, 0.0

    def __call__(self, page: int, now_s: float) -> int:
        """Answer a request."""
        excess = max(self._excess - self._per_s * (now_s - self._at_s), 0.0) + 1.0
        if excess > self._burst + 1.0:
            return self._status
        self._excess, self._at_s = excess, now_s
        return 200


@dataclass
class Seen:
    """What came of some hours."""

    answers: list[int]
    refusals: list[int]
    host: HostPoliteness


def asked(
    server: Callable[[int, float], int], hours: int, delay_s: float = 0.1, pages: int = 10**9
) -> Seen:
    """Ask a server for one page after another, as soon as it is polite; refused ones later."""
    host, random = HostPoliteness(PolitenessRules(delay_s=delay_s)), Random(0)
    seen = Seen([0] * hours, [0] * hours, host)
    again: list[tuple[float, int, int]] = []
    waiting: set[int] = set()
    last, now_s = 0, 0.0
    while now_s < hours * HOUR_S:
        if again and again[0][0] <= now_s:
            _, page, failures = heapq.heappop(again)
            waiting.discard(page)
        else:
            while last % pages in waiting:
                last += 1
            page, failures, last = last % pages, 0, last + 1
        host.start()
        status = server(page, now_s)
        (seen.answers if status < 400 else seen.refusals)[int(now_s / HOUR_S)] += 1
        if status >= 500:
            waiting.add(page)
            heapq.heappush(again, (now_s + 60.0 * 2.0**failures, page, failures + 1))
        host.answered(now_s + TOOK_S, status, None, random, page)
        now_s = max(host.ready_s, now_s + TOOK_S)
    return seen


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("burst", [0.0, 5.0, 50.0])
@pytest.mark.parametrize("per_s", [0.3, 1.0, 4.0])
def test_a_host_that_refuses_is_asked_as_often_as_it_allows(
    per_s: float, burst: float, status: int
) -> None:
    """Nearly, and is hardly asked for more; without a pace it would be left alone for a day."""
    seen = asked(Bucket(per_s, burst, status), 6)

    allowed = per_s * HOUR_S
    assert min(seen.answers[1:]) > 0.6 * allowed
    assert sum(seen.answers[1:]) > 0.7 * 5 * allowed
    assert sum(seen.refusals[1:]) < 0.02 * sum(seen.answers[1:])


def test_a_host_that_refuses_nothing_is_asked_as_ever() -> None:
    """Whatever became of its pages."""
    seen = asked(lambda page, _: 404 if page % 3 else 200, 1)

    assert seen.host.delay_s == 0.1
    assert seen.host.failures == 0


@pytest.mark.parametrize("status", [500, 503])
@pytest.mark.parametrize("share", [0.05, 0.2, 0.3])
def test_pages_that_are_broken_slow_down_nothing_for_long(share: float, status: int) -> None:
    """As many are refused however slowly they are asked for: it is not the pace."""
    broken = np.random.default_rng(1).random(400) < share
    rested: list[float] = []

    def answer(page: int, now_s: float) -> int:
        rested.append(now_s)
        return status if broken[page] else 200

    seen = asked(answer, 3, pages=400)

    gaps = np.diff(rested)
    assert np.median(gaps) < 0.2
    assert np.mean(gaps[-500:]) < 1.0
    assert seen.host.pace.rest_s <= 0.2


def test_pages_that_are_broken_do_not_hide_that_a_host_is_asked_too_often() -> None:
    """Some fail by themselves, the others are refused where they come too soon."""
    bucket, broken = Bucket(1.0, 5.0, 503), set(range(0, 400, 25))

    seen = asked(lambda page, now_s: 500 if page in broken else bucket(page, now_s), 6, pages=400)

    assert min(seen.answers[1:]) > 0.6 * HOUR_S
    assert sum(seen.refusals[1:]) < 0.1 * sum(seen.answers[1:])
    assert seen.host.pace.rest_s > 0.8


def test_a_host_that_refuses_everything_is_left_alone_for_ever_longer() -> None:
    """It is not the pace, as it had answered nothing since it was left alone."""
    requests: list[float] = []

    def answer(_: int, now_s: float) -> int:
        requests.append(now_s)
        return 429

    asked(answer, 24)

    assert len(requests) < 12
    assert np.all(np.diff(requests)[1:] > 1.5 * np.diff(requests)[:-1])


@pytest.mark.slow
def test_a_host_may_be_asked_sooner_again_once_it_allows_more() -> None:
    """Step by step, and tried a day after it refused last."""
    slow, quick = Bucket(0.5, 1.0, 503), Bucket(5.0, 1.0, 503)
    seen = asked(lambda page, now_s: (slow if now_s < HOUR_S else quick)(page, now_s), 60)

    assert seen.answers[10] < 0.5 * HOUR_S
    assert seen.answers[-1] > 2.0 * HOUR_S


@pytest.mark.parametrize("is_random", [False, True])
def test_a_host_that_refuses_as_many_however_slowly_it_is_asked_is_asked_as_ever(
    *, is_random: bool
) -> None:
    """One answer in fifty; it was asked once a minute, for good, after six of them."""
    random, n = np.random.default_rng(2), 0

    def answer(_: int, __: float) -> int:
        nonlocal n
        n += 1
        return 429 if (random.random() < 0.02 if is_random else n % 50 == 0) else 200

    seen = asked(answer, 8, delay_s=1.0)

    # A minute for each refusal, and a second for each answer.
    assert min(seen.answers[3:]) > 0.6 * HOUR_S * 49 / (49 + 60)


def test_a_wish_to_be_asked_more_seldom_than_once_a_minute_is_a_block() -> None:
    """Which doubles: there is no pace for that."""
    seen = asked(Bucket(1.0 / 600.0, 0.0, 429), 24)

    assert seen.host.pace.rest_s <= 60.0
    assert sum(seen.refusals) < sum(seen.answers) + 40


def test_a_rest_doubles_with_each_time_that_a_host_sends_away_up_to_a_minute() -> None:
    """From a tenth of a second at least; sent away twice in a row it is not the pace."""
    pace, rests = Pace(), list[float]()
    for _ in range(11):
        assert not pace.sent_away(0.0, 0.01)
        pace.welcomed(0.0, 0.01)
        assert pace.sent_away(0.0, 0.01)
        rests.append(pace.rest_s)
    pace.welcomed(0.0, 0.01)

    assert rests == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 60.0]
    assert not pace.sent_away(0.0, 0.01)


def test_a_hundred_answers_shorten_a_rest_by_a_fifth() -> None:
    """For a day to no less than a quarter above where it was refused, then to what is kept."""
    pace, seen = Pace(), list[tuple[int, float]]()
    pace.welcomed(0.0, 1.0)
    pace.sent_away(0.0, 1.0)
    for n in range(1, 800):
        before_s = pace.rest_s
        pace.welcomed(86_399.0 if n < 500 else 86_400.0, 1.0)
        if pace.rest_s != before_s:
            seen.append((n, round(pace.rest_s, 9)))

    assert seen == [(100, 1.6), (199, 1.28), (595, 1.024), (694, 0.0)]


@pytest.mark.parametrize(("refusals", "answers"), [(2, 1), (2, 57), (3, 58), (3, 76), (6, 1_000)])
def test_refusals_of_pages_tell_of_the_pace_where_they_are_one_in_twenty(
    refusals: int, answers: int
) -> None:
    """Three at the least, of some two hundred requests lately; or where most are refused."""
    pace, hasty = Pace(), Pace()
    for each in (pace, hasty):
        each.refused(0.0, 1.0, are_most=True)  # before it has answered at all
        for _ in range(answers):
            each.welcomed(0.0, 1.0)
    for _ in range(refusals):
        assert pace.rest_s == 0.0
        pace.refused(0.0, 1.0, are_most=False)
    hasty.refused(0.0, 1.0, are_most=True)
    assert pace.rest_s == 2.0
    for each in (pace, hasty):  # what was refused before the rest was longer counts no more
        each.refused(0.0, 1.0, are_most=True)
        each.welcomed(0.0, 1.0)
        each.refused(0.0, 1.0, are_most=False)

    assert pace.rest_s == hasty.rest_s == 2.0


@pytest.mark.parametrize(("most_s", "own_s"), [(6.4, 0.1), (4.0, 0.25), (8.0, 1.0), (16.0, 2.0)])
def test_refusals_of_pages_bring_a_rest_of_some_seconds_only(most_s: float, own_s: float) -> None:
    """Eight times what is kept in any case, or four seconds: it may be the pages."""
    pace = Pace()
    for _ in range(20):
        pace.welcomed(0.0, own_s)
        pace.refused(0.0, own_s, are_most=True)

    assert pace.rest_s == most_s


def test_pages_that_mostly_fail_again_take_the_blame_from_the_host() -> None:
    """Five, and four for each that does not; the rest ends, unless it was told within a day."""
    refused, told = Pace(), Pace()
    for pace in (refused, told):
        pace.welcomed(0.0, 1.0)
    refused.refused(0.0, 1.0, are_most=True)
    told.sent_away(0.0, 1.0)
    rests = []
    for n in range(6):
        for pace in (refused, told):
            pace.asked_again(86_400.0 + (n == 5), refused=True)
        rests.append((refused.rest_s, told.rest_s))
    refused.welcomed(86_400.0, 1.0)
    refused.refused(86_400.0, 1.0, are_most=True)

    assert rests == [(2.0, 2.0)] * 4 + [(0.0, 2.0), (0.0, 0.0)]
    assert refused.rest_s == 0.0


@pytest.mark.parametrize(("repeats", "recoveries"), [(5, 0), (5, 1), (8, 2), (12, 3), (57, 100)])
def test_pages_asked_again_are_broken_where_four_in_five_fail(
    repeats: int, recoveries: int
) -> None:
    """At least five; of those long ago half as many count."""
    again = AskedAgain()
    for _ in range(recoveries):
        again.observe(failed=False)
    for _ in range(repeats):
        assert not again.are_broken
        again.observe(failed=True)

    assert again.are_broken
