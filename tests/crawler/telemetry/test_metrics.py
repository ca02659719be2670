"""Numbers for Prometheus."""

import contextlib
import http.client
import socket
import threading
import urllib.request

import pytest

from recrawl.crawler.telemetry.counters import CountingSink
from recrawl.crawler.telemetry.metrics import MetricsServer, MetricsSink
from recrawl.errors import InputError
from recrawl.web.listening import place_of


def told(sink: MetricsSink) -> dict[str, float]:
    """Return the samples that a scrape gets."""
    with MetricsServer(sink, "127.0.0.1", 0) as server:
        address = f"http://127.0.0.1:{server.port}/metrics"
        with urllib.request.urlopen(address, timeout=10.0) as answer:
            lines = answer.read().decode().splitlines()
    samples = (line.rpartition(" ") for line in lines if not line.startswith("#"))
    return {name: float(value) for name, _, value in samples}


def test_events_are_counted_and_gauges_looked_at_when_asked() -> None:
    """Outcomes by label; times and bytes of the exchanges; the plan's freshness."""
    now = {"robots_active": 3.0}
    counts = CountingSink()
    sink = MetricsSink(lambda: now, then=counts)
    visit = {"url": "http://a.test/", "fetch_s": 0.05, "received_bytes": 1_000}
    for outcome in ("new", "new", "not-modified"):
        sink.emit("visit", visit | {"outcome": outcome})
    sink.emit("plan", {"freshness": 0.8})
    now["robots_active"] = 5.0

    samples = told(sink)

    assert samples['recrawl_visits_total{outcome="new"}'] == 2.0
    assert samples['recrawl_visits_total{outcome="not-modified"}'] == 1.0
    assert samples["recrawl_received_bytes_total"] == 3_000.0
    assert samples['recrawl_fetch_seconds_bucket{le="0.1"}'] == 3.0
    assert samples["recrawl_planned_freshness"] == 0.8
    assert samples["recrawl_robots_active"] == 5.0
    assert samples['recrawl_events_total{event="plan"}'] == 1.0
    assert counts.outcomes["new"] == 2


def test_a_scrape_looks_once() -> None:
    """However many gauges there are: a look at a state takes time."""
    looks: list[int] = []

    def look() -> dict[str, float]:
        looks.append(1)
        return {"pages": 3.0, "freshness": 0.5}

    sink = MetricsSink(look)
    before = len(looks)
    samples = told(sink)

    assert samples["recrawl_pages"] == 3.0
    assert len(looks) == before + 1


def test_a_port_in_use_is_named() -> None:
    """In one line, before anything is crawled."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"--metrics: 127.0.0.1, port {port}"):
            MetricsServer(MetricsSink(dict), "127.0.0.1", port)


def test_a_number_that_is_no_port_is_refused() -> None:
    """With what would be right."""
    with pytest.raises(InputError, match="70000 is no port"):
        MetricsServer(MetricsSink(dict), "127.0.0.1", 70_000)


def test_a_host_that_is_not_this_machine_is_named() -> None:
    """An address of somebody else cannot be listened on."""
    with pytest.raises(InputError, match=r"--metrics: 192\.0\.2\.1, port"):
        MetricsServer(MetricsSink(dict), "192.0.2.1", 9_464)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("9464", ("127.0.0.1", 9464)),
        ("0.0.0.0:9464", ("0.0.0.0", 9464)),
        ("[::]:9464", ("::", 9464)),
        ("metrics.internal:80", ("metrics.internal", 80)),
    ],
)
def test_a_port_alone_is_for_this_machine_only(text: str, place: tuple[str, int]) -> None:
    """Who wants to be reached from elsewhere says so."""
    assert place_of(text, "--metrics", host="127.0.0.1") == place


@pytest.mark.parametrize("text", ["", ":", "x", "x:", ":9464", "0.0.0.0:65536", "1.5", "-1", "٣"])
def test_what_is_no_place_is_refused_with_what_would_be(text: str) -> None:
    """One message, before anything is crawled."""
    with pytest.raises(InputError, match=r"--metrics: .* as 9464 or 0\.0\.0\.0:9464"):
        place_of(text, "--metrics", host="127.0.0.1")


def test_whoever_only_connects_takes_no_more_threads_than_a_few() -> None:
    """Two hundred such connections took all threads that a service may have, and ended the crawl.

    Those that are too many are closed at once; the others make room when they end.
    """
    before = threading.active_count()
    with MetricsServer(MetricsSink(dict), "127.0.0.1", 0) as server:
        place = ("127.0.0.1", server.port)
        idle = [socket.create_connection(place, timeout=30.0) for _ in range(40)]
        assert idle[-1].recv(1) == b""
        assert threading.active_count() <= before + 17
        for connection in idle:
            connection.close()
        address = f"http://127.0.0.1:{server.port}/metrics"
        while True:
            with (
                contextlib.suppress(OSError, http.client.HTTPException),
                urllib.request.urlopen(address, timeout=10.0) as answer,
            ):
                assert answer.status == 200
                break
