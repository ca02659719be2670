"""Numbers for Prometheus: what happened as counters, how things stand as gauges."""

import socket
from collections.abc import Callable, Iterator, Mapping
from socketserver import ThreadingMixIn
from threading import BoundedSemaphore, Thread
from typing import Any, Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, make_wsgi_app
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from typing_extensions import override

from recrawl.crawler.ports import EventSink
from recrawl.errors import InputError

_AT_ONCE: Final = 16  # connections; Prometheus needs one
_BUCKETS: Final = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
GAUGES: Final = {
    "robots_active": "Robots that fetch or wait for work",
    "robots": "Robots there are",
    "buffer_pages": "Pages between robots and indexer, the one in service included",
    "buffer_capacity": "Pages that the buffer holds",
    "buffer_lost": "Pages that found the buffer full since the start",
    "buffer_arrivals": "Pages brought to the buffer since the start",
    "indexed": "Pages that the indexer has served since the start",
    "obsolete": "Pages that were too old when their turn at the indexer came",
    "starved_seconds": "Time with an empty buffer since the start",
    "hosts": "Hosts that are known",
    "hosts_blocked": "Hosts left alone for their answers",
    "budget_per_second": "Requests that may be made a second",
    "pages": "Pages that are known, sitemaps and feeds included",
    "pages_overdue": "Pages that were due an hour ago",
    "freshness": "Share of the index, by weight, that is estimated to be fresh now",
    "disk_free_bytes": "Room on the disk that holds the state",
    "sink_behind_changes": "Changes that the sink furthest behind has not been told",
    "sink_failing_seconds": "Time for which the sink that fails longest has failed",
    "sink_dead_letters": "Changes that sinks will never take",
}


class _Gauges(Collector):
    """Looks once for each scrape, whatever the number of gauges."""

    def __init__(self, look: Callable[[], Mapping[str, float]]) -> None:
        self._look = look

    @override
    def collect(self) -> Iterator[GaugeMetricFamily]:
        for name, value in self._look().items():
            yield GaugeMetricFamily(f"recrawl_{name}", GAUGES.get(name, name), value=value)


class MetricsSink(EventSink):
    """Counts events for Prometheus.

    Parameters
    ----------
    look : current values of the gauges in ``recrawl_*``, by name; called when they are asked for
    then : hears every event too
    """

    def __init__(
        self, look: Callable[[], Mapping[str, float]], then: EventSink | None = None
    ) -> None:
        self.registry = CollectorRegistry()
        self._then = then
        self._visits = Counter(
            "recrawl_visits", "Visits by outcome", ["outcome"], registry=self.registry
        )
        self._events = Counter(
            "recrawl_events", "All other events by name", ["event"], registry=self.registry
        )
        self._fetch = Histogram(
            "recrawl_fetch_seconds",
            "Time of an exchange that was answered",
            registry=self.registry,
            buckets=_BUCKETS,
        )
        self._bytes = Counter(
            "recrawl_received_bytes", "Bytes of bodies, as received", registry=self.registry
        )
        self._freshness = Gauge(
            "recrawl_planned_freshness",
            "Share of the index, by weight, that the plan in force keeps fresh",
            registry=self.registry,
        )
        self.registry.register(_Gauges(look))

    @override
    def emit(self, event: str, fields: Mapping[str, object]) -> None:
        if event == "visit":
            self._visits.labels(str(fields["outcome"])).inc()
            if isinstance(took_s := fields.get("fetch_s"), float) and took_s > 0.0:
                self._fetch.observe(took_s)
            if isinstance(size := fields.get("received_bytes"), int):
                self._bytes.inc(size)
        else:
            self._events.labels(event).inc()
        if event == "plan" and isinstance(fresh := fields.get("freshness"), float):
            self._freshness.set(fresh)
        if self._then is not None:
            self._then.emit(event, fields)


class _Request(WSGIRequestHandler):
    timeout = 5.0  # seconds for each part of what is asked

    @override
    def log_message(self, format: str, *args: Any) -> None: ...


class _Server(ThreadingMixIn, WSGIServer):
    """Answers a few at a time: whoever only connects takes no thread that the crawl needs."""

    daemon_threads = True
    request_queue_size = 128  # more that wait would only try again

    def __init__(self, host: str, port: int, family: int) -> None:
        self.address_family = family
        self._free = BoundedSemaphore(_AT_ONCE)
        super().__init__((host, port), _Request)

    @override
    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:  # no thread was started that would let another in
            self._free.release()
            raise

    @override
    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    @override
    def handle_error(self, request: Any, client_address: Any) -> None: ...


class MetricsServer:
    """Answers Prometheus on a port while its block runs.

    Parameters
    ----------
    sink : whose numbers
    host : which address of this machine; 127.0.0.1 is reached from it alone
    port : 1 to 65535; 0 for any that is free, see ``port`` then
    """

    def __init__(self, sink: MetricsSink, host: str, port: int) -> None:
        if not 0 <= port <= 65_535:
            raise InputError(f"--metrics: {port} is no port; write 1 to 65535")
        try:
            family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
            self._server = _Server(host, port, family)
        except OSError as error:
            raise InputError(f"--metrics: {host}, port {port}: {error.strerror}") from error
        self._server.set_app(make_wsgi_app(sink.registry))
        self._thread = Thread(target=self._server.serve_forever, name="metrics", daemon=True)
        self._thread.start()
        self.port = int(self._server.server_port)

    def __enter__(self) -> "MetricsServer":
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
