"""Nobody answers: whose fault that is, who is asked meanwhile, and when all are asked again."""

import pytest

from recrawl.crawler.control.dispatching.silence import Silence

NOW_S = 1_800_000_000.0
DAY_S = 86_400.0


def failed(made: Silence, host_id: int, now_s: float = NOW_S, why: str = "dns") -> float | None:
    return made.failed(host_id, now_s, why, was_well=True, is_new=False, n_hosts=40)


def test_three_hosts_that_were_well_and_fail_in_a_row_are_no_fault_of_theirs() -> None:
    """The first two are taken at their word until then."""
    made = Silence()

    assert [failed(made, host_id) is None for host_id in (1, 2, 2, 3, 1)] == [
        True, True, True, False, False
    ]  # fmt: skip
    assert made.answered() == {1, 2, 3}
    assert [failed(made, 1), made.answered()] == [None, set()]


def test_hosts_that_failed_before_say_nothing() -> None:
    """A crawl of many dead hosts has its own network."""
    made = Silence()
    told = [
        made.failed(host_id, NOW_S, "dns", was_well=False, is_new=True, n_hosts=40)
        for host_id in range(9)
    ]

    assert told == [None] * 9


def test_an_answer_in_between_is_the_end() -> None:
    """Two of three are in trouble then."""
    made = Silence()
    told = []
    for first, second in ((1, 2), (3, 1), (2, 3)):
        told += [failed(made, first), failed(made, second)]
        made.answered()

    assert told == [None] * 6


@pytest.mark.parametrize(
    ("why", "n_hosts", "is_ours"),
    [("lookup", 1, True), ("lookup", 2, False), ("proxy", 1, True), ("connect", 1, False)],
)
def test_a_crawl_of_one_host_goes_by_the_kind_of_failure(
    why: str, n_hosts: int, is_ours: bool
) -> None:
    """It is the machine's own where no name server answers, never where the host refuses us."""
    rests_s = Silence().failed(1, NOW_S, why, was_well=True, is_new=False, n_hosts=n_hosts)

    assert (rests_s is not None) == is_ours


def test_new_hosts_join_and_wait_for_no_fault_of_theirs_either() -> None:
    """Those found in the hour before have nobody's word yet."""
    made = Silence()
    for host_id in (1, 2, 3):
        failed(made, host_id)
    made.failed(4, NOW_S, "dns", was_well=False, is_new=True, n_hosts=40)
    made.failed(5, NOW_S, "dns", was_well=False, is_new=False, n_hosts=40)

    assert made.answered() == {1, 2, 3, 4}


def test_hosts_take_turns_ever_more_slowly() -> None:
    """One look in a minute, whatever their number; after a day one in half an hour."""
    made = Silence()
    early = [failed(made, host_id) for host_id in range(8)][2:]
    late = [failed(made, host_id, NOW_S + DAY_S) for host_id in range(8)]

    assert early == [NOW_S + 60.0 * n for n in range(1, 7)]
    assert late == [NOW_S + DAY_S * (1.0 + 0.02 * n) for n in range(1, 9)]
