"""Serves a synthetic web over real HTTP on 127.0.0.1, on an accelerated clock.

A process of its own, so that the crawler and what it crawls share nothing but the network::

    python -m recrawl.simulation.server '{"seed": 1, "n_pages": 400, ...}'

It prints the port it listens on, reads a line with the wall-clock instant at which its time begins,
and ends when its standard input does.
"""

import asyncio
import json
import signal
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from aiohttp import web as http

from recrawl.simulation.recorded.recording import Recording
from recrawl.simulation.recorded.site import RecordedSite
from recrawl.simulation.site import ServedSite, Site
from recrawl.simulation.web import SyntheticWeb, WebShape


def make_app(
    site_of_port: dict[str, ServedSite],
    now_s: Callable[[], float],
    asked: list[float],
    slow_s: float = 0.0,
) -> http.Application:
    """Return an application that answers for every host of the web, and notes when it was asked."""

    async def answer(request: http.Request) -> http.Response:
        asked.append(now_s())
        if slow_s:
            await asyncio.sleep(slow_s)
        reply = site_of_port["site"].answer(
            request.headers.get("Host", ""),
            request.rel_url.raw_path_qs,
            now_s(),
            if_none_match=request.headers.get("If-None-Match"),
            if_modified_since=request.headers.get("If-Modified-Since"),
        )
        content_type = {} if reply.status in (301, 304) else {"Content-Type": reply.content_type}
        return http.Response(
            body=reply.body, status=reply.status, headers={**reply.headers, **content_type}
        )

    app = http.Application()
    app.router.add_route("GET", "/{path:.*}", answer)
    return app


async def serve(options: dict[str, Any]) -> None:
    """Serve until standard input ends; then tell what was asked."""
    epoch_s, speed = options["epoch_s"], options["speed"]
    started = [time.time()]
    sites: dict[str, ServedSite] = {}
    asked: list[float] = []
    app = make_app(
        sites, lambda: epoch_s + (time.time() - started[0]) * speed, asked, options.get("slow_s", 0)
    )
    runner = http.AppRunner(app, access_log=None, handle_signals=False)
    await runner.setup()
    listener = http.TCPSite(runner, "127.0.0.1", options.get("port", 0))
    await listener.start()
    port = runner.addresses[0][1]
    site = sites["site"] = _site(options, port)
    print(port, flush=True)
    loop = asyncio.get_running_loop()
    started[0] = float(await loop.run_in_executor(None, sys.stdin.readline) or 0.0)
    await loop.run_in_executor(None, sys.stdin.read)
    await runner.cleanup()
    site.close()
    requests = dict(site.requests) if isinstance(site, RecordedSite) else {}
    gaps = [after - before for before, after in pairwise(asked)]
    print(json.dumps({"requests": requests, "idle_s": max(gaps, default=0.0)}), flush=True)


def _site(options: dict[str, Any], port: int) -> ServedSite:
    if "recording" in options:
        return Recording.told(options["recording"]).site(port)
    web = SyntheticWeb(WebShape(**options["shape"]), options["seed"])
    return Site(web, epoch_s=options["epoch_s"], port=port)


if __name__ == "__main__":
    # Ctrl-C reaches all processes of a terminal: who started this one ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(serve(json.loads(sys.argv[1])))
