"""`recrawl frontier-service`: other crawlers get their schedule from here."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from recrawl.cli.options import Quiet
from recrawl.cli.output import note
from recrawl.crawler.control.answers.lifecycle import RevisitRules
from recrawl.errors import InputError
from recrawl.quantities import parse_duration_s, parse_rate_per_s
from recrawl.terms import REVISIT_POLICIES
from recrawl.web.listening import is_loopback, place_of


def frontier_service(  # noqa: PLR0913 - its parameters are its options
    *,
    state: Path,
    listen: str = "127.0.0.1:7071",
    budget: Annotated[str, Parameter(allow_leading_hyphen=True)] = "1000/h",
    policy: str = "recrawl",
    min_interval: str = "10min",
    max_interval: str = "30d",
    initial_interval: str = "1d",
    replan: str = "5min",
    open_: Annotated[bool, Parameter(name="--open")] = False,
    quiet: Quiet = False,
) -> int:
    """Answer URLFrontier's interface (gRPC, version 2), and decide when addresses are due.

    Crawlers that speak it, as StormCrawler, put in what they discover and what came of each fetch,
    and get what is due. recrawl learns from the status, signature and last-modified that they put
    back. Ctrl-C ends it, and nothing that was acknowledged is lost by any end.

    Parameters
    ----------
    state
        Directory that holds addresses, visits and plans; made if it is missing.
    listen
        Address and port, as 127.0.0.1:7071 or [::1]:7071; port 0 for any that is free.
    budget
        Fetches of known pages that may be made, as 1000/h or 5000/d; first fetches are not counted.
    policy
        When pages are due: recrawl, or one of those that it is compared with.
    min_interval
        Shortest time between two fetches of a page.
    max_interval
        Longest time between two fetches of a page.
    initial_interval
        Time to the second fetch, before anything is known of the page.
    replan
        Time between two plans.
    open_
        Let other machines in: the interface knows no password, so that a firewall has to.
    quiet
        Do not print the address.
    """
    host, port = place_of(listen, "--listen")
    if not is_loopback(host) and not open_:
        raise InputError(
            f"--listen: {listen} is open to other machines, and the interface knows no password: "
            "listen on 127.0.0.1, or say --open as well and have a firewall guard it"
        )
    if policy not in REVISIT_POLICIES:
        raise InputError(f"--policy: {policy!r} is none of {', '.join(REVISIT_POLICIES)}")
    shortest_s = _above_nothing(parse_duration_s, min_interval, "--min-interval")
    longest_s = _above_nothing(parse_duration_s, max_interval, "--max-interval")
    if shortest_s > longest_s:
        raise InputError(
            f"--min-interval: {min_interval!r} is longer than --max-interval, {max_interval!r}"
        )
    rules = RevisitRules(
        min_interval_s=shortest_s,
        max_interval_s=longest_s,
        initial_interval_s=_above_nothing(parse_duration_s, initial_interval, "--initial-interval"),
    )
    budget_per_s = _above_nothing(parse_rate_per_s, budget, "--budget")
    replan_s = _above_nothing(parse_duration_s, replan, "--replan")

    from recrawl.integrations.revisits.options import RevisitOptions
    from recrawl.integrations.urlfrontier.server import serve

    def on_start(chosen: int) -> None:
        if not quiet:
            shown = f"[{host}]" if ":" in host else host
            note(f"Frontier of {state} at {shown}:{chosen} (Ctrl-C ends it)")

    options = RevisitOptions(state, budget_per_s, rules, replan_s, policy)
    asyncio.run(serve(options, host, port, on_start=on_start, tell=note))
    return 0


def _above_nothing(parse: Callable[..., float], text: str, name: str) -> float:
    value = parse(text, name=name)
    if not value > 0:
        raise InputError(f"{name}: {text!r} must be > 0")
    return value
