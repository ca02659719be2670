"""Which hosts share an IP address is said where it explains why nothing is fetched."""

from dataclasses import replace
from typing import Any

from recrawl.crawler.facts import SettingsFacts
from recrawl.crawler.frontier.memory import MemoryFrontier
from recrawl.crawler.ports import AdmissionLimits
from recrawl.crawler.reports.page import explain_page
from recrawl.crawler.reports.progress import why_idle
from recrawl.crawler.reports.sharing import Sharing
from recrawl.crawler.reports.status import status_report
from recrawl.terms import Discovery, HostRecord

NOW_S = 1_800_000_000.0
TOGETHER = SettingsFacts(budget_per_s=1.0, per_address=True)
ALONE = SettingsFacts(budget_per_s=1.0)
SERVER = "127.0.0.1"


def host(number: int, ip: str | None = SERVER, **fields: object) -> HostRecord:
    name = f"http://u{number}.test"
    return HostRecord(number, name, NOW_S, ip_address=ip, **fields)  # type: ignore[arg-type]


REFUSED: Any = {
    "failures": 2,
    "blocked_until_s": NOW_S + 100.0,
    "blocked_why": "answered 429",
    "ip_blocked_until_s": NOW_S + 99.0,
}


def test_hosts_of_one_ip_address_are_counted_where_that_counts() -> None:
    """Not by another configuration, though the state still knows."""
    hosts = [host(n) for n in range(42)] + [host(99, "192.0.2.1"), host(100, None)]
    sharing = Sharing(hosts, TOGETHER, NOW_S)

    assert sharing.words(hosts[0]) == "shares 127.0.0.1 with 41 other hosts"
    assert [sharing.words(one) for one in hosts[42:]] == [None, None]
    assert Sharing(hosts, ALONE, NOW_S).words(hosts[0]) is None
    assert Sharing(hosts[:2], TOGETHER, NOW_S).words(hosts[0]) == (
        "shares 127.0.0.1 with 1 other host"
    )


def test_a_host_rests_with_its_server_and_says_whose_answer_that_was() -> None:
    """One line tells of all of them; what rests by itself for longer has its own."""
    own: Any = {"blocked_until_s": NOW_S + 500.0, "blocked_why": "robots.txt cannot be read"}
    hosts = [host(1), host(2, **REFUSED), host(3, **own), host(4, "192.0.2.1")]
    sharing = Sharing(hosts, TOGETHER, NOW_S)

    assert [one.blocked_until_s - NOW_S for one in sharing.hosts] == [99.0, 100.0, 500.0, -NOW_S]
    assert [one.blocked_why for one in sharing.hosts] == [
        "shares 127.0.0.1 with 2 other hosts; http://u2.test: answered 429",
        "shares 127.0.0.1 with 2 other hosts; answered 429",
        "robots.txt cannot be read",
        None,
    ]
    assert [one.host_id for one in sharing.blocked()] == [2, 3]
    assert Sharing(hosts, ALONE, NOW_S).hosts == hosts
    assert Sharing(hosts, TOGETHER, NOW_S + 99.0).hosts == hosts


def test_that_a_server_rests_is_why_nothing_is_fetched() -> None:
    """Soon, as all that wait rest with it; and that its hosts take turns is another reason."""
    hosts = [host(1), host(2, **REFUSED), host(3)]
    told = why_idle(NOW_S, NOW_S - 9.0, hosts, TOGETHER)
    turns = why_idle(NOW_S, NOW_S - 99.0, [host(1), host(3)], TOGETHER)

    assert told is not None
    assert told.startswith("Nothing fetched for 9s: http://u2.test rests until ")
    assert told.endswith("(shares 127.0.0.1 with 2 other hosts; answered 429, 2 times in a row)")
    assert turns == (
        "Nothing fetched for 1.65min: http://u1.test waits for its turn: it shares 127.0.0.1 with "
        "1 other host, of which one is asked at a time"
    )
    assert why_idle(NOW_S, NOW_S - 9.0, hosts, ALONE) is None


def test_status_and_explain_say_so() -> None:
    """From the state alone, as no crawl may run."""
    frontier = MemoryFrontier()
    urls = [f"http://u{n}.test/" for n in range(3)]
    frontier.admit([Discovery(url, url[:-1]) for url in urls], 1.0, AdmissionLimits())
    for record in frontier.hosts():
        more: Any = {
            "blocked_until_s": 4e9,
            "blocked_why": "answered 503",
            "ip_blocked_until_s": 4e9,
        }
        said = more if record.host == "http://u1.test" else {}
        said |= {"rest_s": 4.0} if record.host == "http://u2.test" else {}
        frontier.save_host(replace(record, ip_address=SERVER, **said))
    frontier.save_facts(TOGETHER)

    (blocked,) = status_report(frontier)["hosts_blocked"]
    report, _ = explain_page(frontier, urls[0], None)
    assert status_report(frontier)["hosts_slowed"] == [{"host": "http://u2.test", "rest_s": 4.0}]
    assert explain_page(frontier, urls[2], None)[0]["host_rest_s"] == 4.0
    assert blocked["host"] == "http://u1.test"
    assert blocked["why"] == "shares 127.0.0.1 with 2 other hosts; answered 503"
    assert report["host_shares"] == "shares 127.0.0.1 with 2 other hosts"
    assert report["host_blocked_why"].endswith("; http://u1.test: answered 503")
    assert report["next_visit_s"] == 4e9


def test_that_a_robots_txt_asks_for_patience_is_told() -> None:
    """As why a budget lies idle; not where the crawl is as patient anyway."""
    frontier = MemoryFrontier()
    urls = [f"http://u{n}.test/" for n in range(3)]
    frontier.admit([Discovery(url, url[:-1]) for url in urls], 1.0, AdmissionLimits())
    for n, record in enumerate(frontier.hosts()):
        body = f"User-agent: *\nCrawl-delay: {10 * n}\n".encode()
        frontier.save_host(replace(record, robots_status=200, robots_body=body))
    frontier.save_facts(replace(ALONE, delay_s=10.0))

    assert status_report(frontier)["hosts_patient"] == [{"host": "http://u2.test", "delay_s": 20.0}]
    assert explain_page(frontier, urls[2], None)[0]["host_delay_s"] == 20.0
    assert explain_page(frontier, urls[1], None)[0]["host_delay_s"] is None
