"""``scrapy recrawl``: what the state of a project says."""

import argparse
import csv
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Any, Final

import numpy as np
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from typing_extensions import override

from recrawl.crawler.control.revisiting.estimate import estimate_freshness, rate_bounds
from recrawl.errors import RecrawlError
from recrawl.integrations.scrapy.options import DEFAULTS
from recrawl.integrations.scrapy.store import RequestStore
from recrawl.quantities import show_duration, show_measured_rate, show_rate

_DAY_S: Final = 86_400.0
_VERBS: Final = ("status", "explain", "plan", "visits")


class Command(ScrapyCommand):
    """The verb ``recrawl`` of Scrapy's command line."""

    requires_project = False
    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - as Scrapy has it

    @override
    def syntax(self) -> str:
        return "[options] status | explain <url> | plan | visits"

    @override
    def short_desc(self) -> str:
        return "Say what recrawl knows of the pages of this project"

    @override
    def long_desc(self) -> str:
        return (
            "status: pages, visits, the plan in force. explain: why an address is visited when it "
            "is. plan: what is due next. visits: all visits as CSV, for recrawl fit and backtest."
        )

    @override
    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--state", help="directory (default: RECRAWL_STATE of the project)")
        parser.add_argument("--spider", help="plan: of this spider alone")
        parser.add_argument("--limit", type=int, default=20, help="plan: at most so many pages")
        parser.add_argument("--json", action="store_true", help="print JSON")

    @override
    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args or args[0] not in _VERBS or len(args) != 1 + (args[0] == "explain"):
            raise UsageError(f"say one of: {self.syntax().removeprefix('[options] ')}")
        if opts.limit < 1:
            raise UsageError(f"--limit: {opts.limit} must be at least 1")
        settings = self.settings
        assert settings is not None
        state = opts.state or settings.get("RECRAWL_STATE", DEFAULTS["RECRAWL_STATE"])
        try:
            with closing(RequestStore(Path(state), read_only=True)) as store:
                self._answer(store, args, opts)
                sys.stdout.flush()
        except BrokenPipeError:  # its reader left, as `| head` does
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            self.exitcode = 1
        except RecrawlError as error:
            raise UsageError(str(error), print_help=False) from None

    def _answer(self, store: RequestStore, args: list[str], opts: argparse.Namespace) -> None:
        if args[0] == "visits":
            _write_visits(store)
            return
        report: dict[str, Any]
        words: Callable[[Any], Sequence[str]]
        if args[0] == "status":
            report, words = status_report(store, time.time()), _status_lines
        elif args[0] == "plan":
            report, words = plan_report(store, opts.spider, opts.limit), _plan_lines
        else:
            report, words = explain_report(store, args[1]), _explain_lines
            if not report["pages"]:
                raise UsageError(f"{args[1]} is not known to this state", print_help=False)
        lines = [json.dumps(report, indent=2)] if opts.json else words(report)
        sys.stdout.write("".join(f"{_printable(line)}\n" for line in lines))


def status_report(store: RequestStore, now_s: float) -> dict[str, Any]:
    """Return pages by spider, visits of the last day by outcome, and the plan in force."""
    pages, *_ = store.planned_pages()
    rated = np.isfinite(pages.change_rates_per_s)
    estimate = estimate_freshness(
        pages.change_rates_per_s[rated],
        np.log(pages.change_rate_factors[rated]),
        pages.weights[rated],
        now_s - pages.last_visit_s[rated],
    )
    plans = store.rows("last_plan")
    return {
        "at": now_s,
        "spiders": [
            dict(zip(("spider", "pages", "visited", "due", "visits", "changes"), row, strict=True))
            for row in store.rows("counts", now_s=now_s)
        ],
        "last_day": {row[0]: row[1] for row in store.rows("outcomes", since_s=now_s - _DAY_S)},
        "plan": dict(plans[0]) if plans else None,
        "freshness": None
        if estimate is None
        else {"value": estimate.value, "low": estimate.low, "high": estimate.high},
    }


def plan_report(store: RequestStore, spider: str | None, limit: int) -> dict[str, Any]:
    """Return the pages that are due next."""
    return {"pages": [dict(row) for row in store.rows("next_due", spider=spider, limit=limit)]}


def explain_report(store: RequestStore, url: str) -> dict[str, Any]:
    """Return all that is known of an address, for every spider that asks for it."""
    pages = []
    for row in store.rows("pages_of_url", url=url):
        page = {name: row[name] for name in row.keys() if not isinstance(row[name], bytes)}  # noqa: SIM118 - of a row
        page["request"] = bytes(row["request"]).decode("utf-8", "replace")
        page["recent"] = [dict(one) for one in store.rows("visits_of_page", page_id=row["id"])]
        pages.append(page)
    return {"url": url, "pages": pages}


def _status_lines(report: dict[str, Any]) -> list[str]:
    lines = [
        f"{one['spider']}: {one['pages']:,} pages, {one['visited']:,} visited, {one['due']:,} due; "
        f"{one['visits']:,} visits found {one['changes']:,} changes"
        for one in report["spiders"]
    ] or ["no spider has run yet"]
    if report["last_day"]:
        told = ", ".join(f"{n:,} {outcome}" for outcome, n in report["last_day"].items())
        lines.append(f"visits of the last day: {told}")
    if report["plan"]:
        plan = report["plan"]
        lines.append(
            f"plan of {_when(plan['solved_at_s'])}: {plan['n_pages']:,} pages at "
            f"{show_rate(plan['budget_per_s'])} are to be {plan['freshness']:.1%} fresh"
        )
    if report["freshness"]:
        told = report["freshness"]
        lines.append(
            f"fresh now: {told['value']:.1%} ({told['low']:.1%} to {told['high']:.1%}), estimated"
        )
    return lines


def _plan_lines(report: dict[str, Any]) -> list[str]:
    return [
        f"{_when(page['due_s'])}  {page['spider']}  {page['url']}  ({page['due_why']})"
        for page in report["pages"]
    ] or ["nothing is known yet"]


def _explain_lines(report: dict[str, Any]) -> list[str]:
    lines = []
    for page in report["pages"]:
        lines.append(
            f"{page['url']}, for spider {page['spider']}: {page['state']}, due "
            f"{_when(page['due_s'])}: {page['due_why']}"
        )
        rate, factor = page["change_rate_per_s"], page["change_rate_factor"]
        if rate:
            low, high = rate_bounds(factor)
            lines.append(
                f"changes {show_measured_rate(rate)} ({show_measured_rate(rate * low)} to "
                f"{show_measured_rate(rate * high)}), by {page['visits']} visits that found "
                f"{page['changes']} changes"
            )
        if page["crawl_rate_per_s"]:
            lines.append(f"planned: every {show_duration(1.0 / page['crawl_rate_per_s'])}")
        for one in page["recent"]:
            status = "" if one["status"] is None else f" {one['status']}"
            note = f" ({one['note']})" if one["note"] else ""
            lines.append(f"  {_when(one['visited_at_s'])} {one['outcome']}{status}{note}")
    return lines


def _write_visits(store: RequestStore) -> None:
    rows = csv.writer(sys.stdout)
    rows.writerow(("url", "visited_at", "outcome", "status", "changed"))
    for row in store.rows("all_visits"):
        changed = None if row["changed"] is None else str(bool(row["changed"])).lower()
        rows.writerow(
            (row["url"], _when(row["visited_at_s"]), row["outcome"], row["status"], changed)
        )


def _when(at_s: float) -> str:
    if not isfinite(at_s) or not 0 <= at_s < 1e11:
        return "never"
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _printable(line: str) -> str:
    """Let no character of what was crawled command a terminal."""
    return "".join(sign if sign.isprintable() or sign == "\n" else "\ufffd" for sign in line)
