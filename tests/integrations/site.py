"""A local site whose pages change when a test says so; also a proxy to itself for any host."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import xxhash

Answer = tuple[int, dict[str, str], bytes]


@dataclass
class Site:
    """Answers by ``page(host, path)``; counts what it was asked, and how it answered."""

    page: Callable[[str, str], str | Answer | None]
    validators: bool = True
    port: int = 0
    asked: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answer(self, host: str, path: str, etag_asked: str | None) -> Answer:
        found = self.page(host, path)
        if found is None:
            return 404, {}, b"not found"
        if isinstance(found, tuple):
            return found
        body = found.encode()
        headers = {"Content-Type": "text/html; charset=utf-8"}
        if self.validators:
            etag = f'"{xxhash.xxh3_64_hexdigest(body)}"'
            headers["ETag"] = etag
            if etag_asked == etag:
                return 304, headers, b""
        return 200, headers, body


@contextmanager
def serving(site: Site) -> Iterator[Site]:
    """Serve on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            path = parts.path + (f"?{parts.query}" if parts.query else "")
            host = parts.netloc or self.headers.get("Host", "")
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            answer = site.answer(host, path, self.headers.get("If-None-Match"))
            status, headers, body = answer
            site.asked[path] += 1
            site.statuses[status] += 1
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if status != 304:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 - the name that http.server asks for

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None:
            """Say nothing of a client that was killed."""

    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    site.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
