"""The timing of one host, alone: what its answers lead to, and the two rules nothing breaks."""

import math
from random import Random

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from recrawl.crawler.control.dispatching.politeness import HostPoliteness, PolitenessRules
from recrawl.crawler.control.dispatching.retry import Backoff

NOW_S = 1_800_000_000.0
STILL = PolitenessRules(delay_s=1.0, backoff=Backoff(jitter=0.0))
RANDOM = Random(3)


def host(**fields: object) -> HostPoliteness:
    return HostPoliteness(STILL, **fields)  # type: ignore[arg-type]


def asked(
    timing: HostPoliteness,
    now_s: float,
    status: int,
    retry_after: str | None = None,
    page_id: int | None = None,
) -> None:
    """Make one request that is answered at once."""
    timing.start()
    timing.answered(now_s, status, retry_after, RANDOM, page_id)


def unanswered(
    timing: HostPoliteness, now_s: float, why: str = "timeout", page_id: int | None = None
) -> None:
    timing.start()
    timing.unanswered(now_s, why, RANDOM, page_id)


def test_a_new_host_may_be_asked_at_once() -> None:
    """Nothing is known against it."""
    assert host().ready_s <= 0.0


def test_a_host_rests_from_the_end_of_a_request() -> None:
    """A slow answer does not eat up the delay."""
    timing = host()

    timing.start()
    assert timing.ready_s == math.inf
    timing.answered(NOW_S, 200, None, RANDOM)
    assert timing.ready_s == NOW_S + 1.0


@pytest.mark.parametrize(("expected", "crawl_delay_s"), [(1.0, None), (1.0, 0.2), (7.0, 7.0)])
def test_the_longer_delay_counts(expected: float, crawl_delay_s: float | None) -> None:
    """A site may ask for more patience than ours, not for less."""
    timing = host(crawl_delay_s=crawl_delay_s)
    asked(timing, NOW_S, 200)

    assert timing.ready_s == NOW_S + expected


def test_a_crawl_delay_counts_from_the_robots_txt_that_names_it() -> None:
    """The first page after it waits as long as every other."""
    timing = host()
    asked(timing, NOW_S, 200)

    timing.crawl_delay_s = 7.0

    assert timing.ready_s == NOW_S + 7.0


def test_a_request_that_was_cut_off_costs_a_rest() -> None:
    """It may have come to the host all the same."""
    timing = host()
    timing.start()
    timing.ended(NOW_S)

    assert timing.ready_s == NOW_S + 1.0


@pytest.mark.parametrize("status", [429, 503])
def test_throttling_doubles_the_block(status: int) -> None:
    """60, 120, 240 s: each time from the answer on."""
    timing, now_s, blocks = host(), NOW_S, []

    for _ in range(3):
        asked(timing, now_s, status)
        blocks.append(timing.ready_s - now_s)
        now_s = timing.ready_s

    assert blocks == [60.0, 120.0, 240.0]
    assert timing.blocked_why == f"answered {status}"


@pytest.mark.parametrize(
    ("expected", "header"),
    [
        (1000.0, "1000"),
        (5.0, "5"),
        (86_400.0, "999999999"),
        (60.0, "0"),
        (60.0, "-7"),
        (60.0, "Wed, 21 Oct 2015 07:28:00 GMT"),
        (60.0, "soon"),
        (60.0, None),
    ],
)
def test_retry_after_counts_instead_where_it_names_a_time_to_come(
    expected: float, header: str | None
) -> None:
    """At most a day; a busy host that says "at once" must not be asked for ever."""
    timing = host()
    asked(timing, NOW_S, 503, header)

    assert timing.ready_s - NOW_S == expected


def test_a_rest_longer_than_the_block_counts_too() -> None:
    """Retry-After does not shorten the delay between requests."""
    timing = host(crawl_delay_s=30.0)
    asked(timing, NOW_S, 429, "5")

    assert timing.ready_s == NOW_S + 30.0


def test_a_throttling_host_is_forgiven_after_thirty_quiet_minutes() -> None:
    """Not by the first good answer: it may be throttling all but the first request of an hour."""
    timing = host()
    asked(timing, NOW_S, 429)
    asked(timing, NOW_S + 60.0 + 1799.0, 200)
    early = timing.failures
    asked(timing, NOW_S + 60.0 + 1801.0, 200)

    assert (early, timing.failures, timing.blocked_why) == (1, 0, None)


def test_trouble_after_a_long_quiet_time_starts_anew() -> None:
    """The first delay again, not the next doubling."""
    timing = host(failures=6, blocked_until_s=NOW_S)
    later_s = NOW_S + 1801.0
    asked(timing, NOW_S + 1.0, 200, page_id=1)
    asked(timing, later_s, 503)

    assert (timing.failures, timing.ready_s) == (1, later_s + 60.0)


@pytest.mark.parametrize("status", [None, 503])
def test_a_host_that_nobody_asked_has_not_been_quiet(status: int | None) -> None:
    """A crawl with few requests comes late to every host: those that are down rest ever longer."""
    timing, now_s, rests = host(), NOW_S, []
    for _ in range(6):
        if status is None:
            unanswered(timing, now_s, "dns")
        else:
            asked(timing, now_s, status)
        rests.append(timing.ready_s - now_s)
        now_s = timing.ready_s + 7_200.0

    assert rests == [60.0, 120.0, 240.0, 480.0, 960.0, 1920.0]


def test_a_dead_host_opens_the_breaker_and_an_answer_closes_it() -> None:
    """Five failures: an hour and a half in all; one answer of any kind is a sign of life."""
    timing, now_s = host(), NOW_S
    for _ in range(5):
        assert not (timing.blocked_why or "").startswith("dead")
        unanswered(timing, now_s, "connect")
        now_s = timing.ready_s

    dead = timing.blocked_why
    asked(timing, now_s, 500)

    assert dead == "dead: no connection"
    assert now_s - NOW_S == 60.0 * (1 + 2 + 4 + 8 + 16)
    assert (timing.failures, timing.blocked_why) == (0, None)


def test_a_dead_host_is_asked_at_least_once_a_day() -> None:
    """Blocks end; nothing is given up for good."""
    timing = host(failures=500, blocked_until_s=NOW_S)
    unanswered(timing, NOW_S)

    assert timing.ready_s == NOW_S + 86_400.0


def test_a_block_never_shortens_another() -> None:
    """robots.txt to be asked again in five minutes, Retry-After an hour: the hour holds."""
    timing = host()
    asked(timing, NOW_S, 503, "3600")
    timing.block_until(NOW_S + 300.0, "robots.txt cannot be read")

    assert timing.ready_s == NOW_S + 3600.0


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_page_that_fails_by_itself_does_not_make_its_host_rest(status: int) -> None:
    """Not even when it fails again and again, between others that are well."""
    timing = host()
    for n in range(40):
        asked(timing, NOW_S + 10 * n, status, page_id=1)
        asked(timing, NOW_S + 10 * n + 5, 200, page_id=2 + n % 5)

    assert (timing.failures, timing.blocked_until_s, timing.blocked_why) == (0, 0.0, None)


def test_a_page_alone_speaks_for_itself() -> None:
    """It backs off by itself; a site of one page has nothing else to be spared."""
    timing = host()
    for n in range(40):
        asked(timing, NOW_S + 10 * n, 503, page_id=1)

    assert timing.failures == 0


def test_three_pages_that_fail_and_half_of_those_asked_last_make_the_host_rest() -> None:
    """The share over different pages decides."""
    well, ill = host(), host()
    for n in range(4):
        asked(well, NOW_S + n, 200, page_id=n)
        asked(ill, NOW_S + n, 200 if n < 3 else 500, page_id=n)
    for n in range(4, 7):
        asked(well, NOW_S + n, 500, page_id=n)
    before = well.failures
    for n in range(4, 6):
        asked(ill, NOW_S + n, 500, page_id=n)

    assert (before, ill.failures) == (0, 1)
    assert ill.ready_s == NOW_S + 5 + 60.0
    asked(ill, NOW_S + 70, 500, page_id=9)  # it is judged by what is asked since
    assert ill.failures == 1


@pytest.mark.parametrize("why", ["timeout", "disconnected", "protocol"])
def test_an_answer_cut_off_is_the_pages_own_trouble_too(why: str) -> None:
    """A slow page must not starve its host."""
    timing = host()
    for n in range(9):
        unanswered(timing, NOW_S + 10 * n, why, page_id=1)

    assert timing.failures == 0


@pytest.mark.parametrize(
    "why",
    ["connect", "dns", "tls", "certificate", "certificate-early", "certificate-expired",
     "certificate-name"],
)  # fmt: skip
def test_no_connection_counts_at_once(why: str) -> None:
    """It is nothing that a page could do."""
    timing = host()
    unanswered(timing, NOW_S, why, page_id=1)

    assert timing.ready_s == NOW_S + 60.0


def test_a_host_that_sends_us_away_is_obeyed_at_once() -> None:
    """429 from any page, and Retry-After beside a 503, unless it names no time to come."""
    throttled, sent_away, at_once = host(), host(), host()
    asked(throttled, NOW_S, 429, page_id=1)
    asked(sent_away, NOW_S, 503, "300", page_id=1)
    asked(at_once, NOW_S, 503, "0", page_id=1)

    assert (throttled.ready_s, sent_away.ready_s) == (NOW_S + 60.0, NOW_S + 300.0)
    assert at_once.ready_s == NOW_S + 1.0


def test_a_host_that_answers_between_its_refusals_is_asked_more_slowly_instead() -> None:
    """Ever more so, and is left alone for no longer than the first time."""
    timing, seen = host(), []
    for n in range(3):
        asked(timing, NOW_S + 1000.0 * n, 200, page_id=1)
        asked(timing, NOW_S + 1000.0 * n, 429, page_id=2)
        seen.append((timing.failures, timing.ready_s - NOW_S - 1000.0 * n, timing.delay_s))

    assert seen == [(1, 60.0, 2.0), (1, 60.0, 4.0), (1, 60.0, 8.0)]


@pytest.mark.parametrize(
    ("is_host", "history"),
    [
        (True, []),
        (True, [(500, 1)] + [(429, 1)] * 5),
        (False, [(500, 1)] * 6),
        (False, [(500, 1)] * 6 + [(429, 1)] * 5),
        (False, [(200, 9)]),
        (False, [(200, 9), (429, 9)]),
    ],
)
def test_pages_that_fail_again_speak_for_a_host_of_which_nothing_else_is_known(
    is_host: bool, history: list[tuple[int, int]]
) -> None:
    """Not for one that has answered, nor where pages have shown that it is them."""
    timing, later_s = host(), NOW_S + 10_000.0
    for n, (status, page_id) in enumerate(history):
        asked(timing, NOW_S + n, status, page_id=page_id)
    for seconds, page_id in [(0.0, 1), (1.0, 2), (2_000.0, 1), (2_001.0, 2), (2_002.0, 3)]:
        asked(timing, later_s + seconds, 500, page_id=page_id)

    assert (timing.blocked_until_s > later_s) == is_host


def test_a_page_that_was_well_again_speaks_for_its_host_when_it_fails() -> None:
    """As any other; and those that were asked last count, whenever they were asked first."""
    timing = host()
    asked(timing, NOW_S, 500, page_id=1)
    for page_id in range(1, 9):
        asked(timing, NOW_S + page_id, 200, page_id=page_id)
    for page_id in (1, 9, 10):
        asked(timing, NOW_S + 10 + page_id, 500, page_id=page_id)
    before = timing.failures
    asked(timing, NOW_S + 30, 500, page_id=11)

    assert (before, timing.failures) == (0, 1)


@pytest.mark.parametrize(
    ("rest_s", "first", "again"),
    [(0.0, 500, 500), (2.0, 503, 200), (2.0, 503, 500), (0.0, 503, 503)],
)
def test_pages_that_are_refused_slow_their_host_down_until_it_turns_out_to_be_them(
    rest_s: float, first: int, again: int
) -> None:
    """Three are; one that is refused again and again says nothing more."""
    timing = host()
    for n in range(20):
        asked(timing, NOW_S + 10 * n, 200, page_id=100 + n)
        asked(timing, NOW_S + 10 * n, 503 if n < 4 else 200, page_id=50)
    before_s = timing.pace.rest_s
    for n in range(3):
        asked(timing, NOW_S + 300 + n, first, page_id=n)
        asked(timing, NOW_S + 300 + n, 200, page_id=200 + n)
    between_s = timing.pace.rest_s
    for n in range(6):
        asked(timing, NOW_S + 9_000 + n, again, page_id=n % 3)

    assert (before_s, between_s) == (0.0, 2.0 if first == 503 else 0.0)
    assert timing.pace.rest_s == rest_s


def test_only_the_first_answer_after_none_forgets_what_was() -> None:
    """A refusal is no such answer; and why a host rests for another reason stays said."""
    refusing, new, revived = host(), host(), host()
    for timing in (refusing, revived):
        unanswered(timing, NOW_S, "connect")
    for status in (429, 200):
        asked(refusing, NOW_S + 60.0, status)
    asked(revived, NOW_S + 60.0, 200)
    for timing in (new, revived):
        timing.block_until(NOW_S + 300.0, "robots.txt cannot be read")
        asked(timing, NOW_S + 300.0, 200)

    assert refusing.failures == 2
    assert {new.blocked_why, revived.blocked_why} == {"robots.txt cannot be read"}


class PoliteHost(RuleBasedStateMachine):
    """Anything may happen to a host; a request starts whenever it is ready."""

    def __init__(self) -> None:
        super().__init__()
        rules = PolitenessRules(delay_s=2.0, backoff=Backoff(first_s=10.0))
        self.timing = HostPoliteness(rules)
        self.random = Random(0)
        self.now_s = NOW_S
        self.in_flight = 0
        self.ended_s = -math.inf
        self.delay_s = 2.0
        self.blocked_s = 0.0

    @rule(seconds=st.floats(0, 5000))
    def wait(self, seconds: float) -> None:
        self.now_s += seconds

    @precondition(lambda self: self.timing.ready_s <= self.now_s)
    @rule()
    def start(self) -> None:
        assert self.in_flight == 0, "two in flight"
        assert self.now_s >= self.ended_s + self.delay_s, "closer than the delay"
        assert self.now_s >= self.blocked_s, "asked before its time"
        self.timing.start()
        self.in_flight += 1

    @precondition(lambda self: self.timing.ready_s > self.now_s and not self.in_flight)
    @rule()
    def wait_until_ready(self) -> None:
        assert self.timing.ready_s < self.now_s + 2 * 86_400, "lost for good"
        self.now_s = self.timing.ready_s

    @precondition(lambda self: self.in_flight)
    @rule(
        status=st.sampled_from((200, 304, 404, 429, 500, 503)),
        retry_after=st.none() | st.integers(-5, 10**6).map(str),
    )
    def answer(self, status: int, retry_after: str | None) -> None:
        self.timing.answered(self.now_s, status, retry_after, self.random)
        self._end()
        if status in (429, 503):
            asked_s = 10.0 if retry_after is None else min(float(retry_after), 86_400.0)
            self.blocked_s = self.now_s + asked_s

    @precondition(lambda self: self.in_flight)
    @rule()
    def fail(self) -> None:
        self.timing.unanswered(self.now_s, "timeout", self.random)
        self._end()
        self.blocked_s = self.now_s + 10.0

    @precondition(lambda self: self.in_flight)
    @rule()
    def cut_off(self) -> None:
        self.timing.ended(self.now_s)
        self._end()

    @rule(delay_s=st.none() | st.floats(0, 100))
    def learn_robots_txt(self, delay_s: float | None) -> None:
        self.timing.crawl_delay_s = delay_s
        self.delay_s = max(2.0, delay_s or 0.0)

    @rule(seconds=st.floats(0, 1000))
    def block(self, seconds: float) -> None:
        self.timing.block_until(self.now_s + seconds, "robots.txt")
        self.blocked_s = max(self.blocked_s, self.now_s + seconds)

    @invariant()
    def waits_for_what_is_in_flight(self) -> None:
        assert self.timing.in_flight == bool(self.in_flight)
        assert (self.timing.ready_s == math.inf) == bool(self.in_flight)

    def _end(self) -> None:
        self.in_flight -= 1
        self.ended_s = self.now_s


TestPoliteHost = PoliteHost.TestCase
TestPoliteHost.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


def test_who_follows_another_keeps_the_distance() -> None:
    """Rules that are taken up in flight let nobody be asked sooner; their own delay counts."""
    before = host()
    before.start()
    before.answered(100.0, 200, None, Random(0))
    after = HostPoliteness(PolitenessRules(delay_s=7.0))

    after.rest_after(before)

    assert after.ready_s == 107.0


def test_a_host_that_refuses_what_it_answers_is_left_alone_for_ever_longer() -> None:
    """As one that says so; where it had answered until then, its rest grows instead, once."""
    timing = host()
    for second in range(60):
        asked(timing, NOW_S + 2.0 * second, 200, page_id=second)
    at_s = NOW_S + 120.0
    timing.refused(at_s, "refuses", RANDOM, is_news=True)
    rest_s = timing.delay_s
    assert (timing.blocked_until_s, timing.blocked_why) == (at_s + 60.0, "refuses")
    assert rest_s > 1.0
    for page_id, waited_s in ((100, 120.0), (101, 240.0)):
        at_s = timing.blocked_until_s
        asked(timing, at_s, 200, page_id=page_id)
        timing.refused(at_s, "refuses", RANDOM, is_news=False)
        assert timing.blocked_until_s == at_s + waited_s
    assert timing.delay_s == rest_s


@pytest.mark.parametrize(("every", "least", "most"), [(0, 0, 100), (10, 500, 600)])
def test_a_host_of_which_all_pages_fail_again_and_again_rests_ever_longer(
    every: int, least: int, most: int
) -> None:
    """As its database is away for days; not where one page in ten is given in between."""
    host, random = HostPoliteness(PolitenessRules()), Random(0)
    now_s, n_asked = 0.0, 0

    def ask(page: int, status: int) -> None:
        nonlocal now_s, n_asked
        now_s = max(now_s + 300.0, host.ready_s)
        n_asked += 1
        host.start()
        host.answered(now_s, status, None, random, page, f"http://a.test/{page}")

    for page in range(60):  # of which every second one was broken before
        ask(page % 20, 503 if page % 2 else 200)
    began_s, n_asked = now_s, 0
    while now_s < began_s + 2 * 86_400.0:
        is_given = every > 0 and n_asked % every == 0
        ask(100 if is_given else n_asked % 20, 200 if is_given else 503)

    assert least <= n_asked <= most
