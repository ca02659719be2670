"""`recrawl demo --git`, `--warc`: a history that really happened, served again and crawled."""

import asyncio
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

from typing_extensions import override

from recrawl.cli.crawler.drawn import draw_courses
from recrawl.cli.crawler.stage import OWN, Played, Stage, play
from recrawl.cli.output import called_as, console, note, print_json, print_table
from recrawl.crawler.settings import Settings
from recrawl.errors import InputError
from recrawl.quantities import parse_duration_s, parse_rate_per_s, show_duration, show_rate
from recrawl.simulation.announcements import SignalRates, draw_announcements
from recrawl.simulation.backtest import Backtest, run_policy
from recrawl.simulation.recorded.recording import Recording, Source
from recrawl.simulation.recorded.site import Habits
from recrawl.simulation.site import ServedSite
from recrawl.simulation.web import DAY_S
from recrawl.terms import REVISIT_POLICIES

_STEPS: Final = 30.0  # plans within a play
_LOOKS: Final = 4.0  # at each page, that the default budget pays at least
_LEARNING: Final = 0.5  # of the time, before anything is measured; as in a backtest
_MOST_REQUESTS: Final = 1_000_000
_LONGEST_S: Final = 6 * 3600.0  # of our own time
_PATIENCE_S: Final = 4.0  # of our own time, that a page may wait for the index
_SLOWEST_S: Final = 5.0  # of our own time, that an answer may take
_FASTEST: Final = 20.0  # requests in a second that a crawl of one host surely makes


@dataclass(frozen=True, slots=True)
class Replay:
    """A recorded history.

    Parameters
    ----------
    git
        A git repository on this machine, whose files are served as they were.
    warc
        WARC files or packages of them (WACZ) instead, whose pages are served as they were
        captured, each below its host; may be given more than once.
    path
        Only pages that match, such as 'docs/*', '*.md' or 'www.site.test/*'.
    from_
        When it begins, as 2024-01-01.  [default: so many days before its end]
    days
        How many days of it; default: as many as there are, 90 at most.
    speed
        Seconds of history in a second; default: such that it takes --seconds, or longer where one
        host could not be asked so often.
    budget
        Requests of all kinds: 1x is as many as pages changed, or 300/d.  [default: 1x, or what
        pays four for each page, where that is more]
    policies
        Policies beside that of `recrawl run`, in virtual time: uniform, recrawl, nutch ...
    validators
        ETag and Last-Modified of pages.
    sitemap
        sitemap.xml; a lying one says that all has just changed.
    feed
        Whether there is an Atom feed of changes.
    errors
        Share of requests that are answered by 503.
    slowness
        How long each answer takes, on our own clock, as 50ms.
    """

    git: Path | None = None
    warc: tuple[Path, ...] = ()
    path: str = "*"
    from_: str | None = None
    days: float | None = None
    speed: float | None = None
    budget: str | None = None
    policies: str = "uniform"
    validators: Literal["true", "none", "lying"] = "true"
    sitemap: Literal["true", "none", "lying"] = "true"
    feed: Literal["true", "none"] = "true"
    errors: float = 0.0
    slowness: str = "0s"

    @property
    def source(self) -> Source | None:
        """Source of the history; None: it was not said."""
        if self.git is not None and self.warc:
            raise InputError("--warc: a history is from --git or from --warc")
        if self.git is not None:
            return Source(str(self.git))
        return Source(archives=tuple(map(str, self.warc))) if self.warc else None


def stray(asked: Replay) -> str:
    """Name of the first option that was given, and means nothing without a history."""
    given = (one.name for one in fields(Replay) if getattr(asked, one.name) != one.default)
    return next(given, "git").rstrip("_").replace("_", "-")


@dataclass(frozen=True)
class RecordedPlay(Stage):
    """A span of a recorded history, and what every arm has in common."""

    recording: Recording

    @property
    @override
    def title(self) -> str:
        rate = show_duration(self.speed)
        return f"{self.recording.source.name}, {self.recording.days:.3g} days, {rate} in a second"

    @property
    @override
    def start_s(self) -> float:
        return self.epoch_s + _LEARNING * self.recording.days * DAY_S

    @property
    @override
    def end_s(self) -> float:
        return self.epoch_s + self.recording.days * DAY_S

    @override
    def site(self, port: int) -> ServedSite:
        return self.recording.site(port)

    @override
    def told(self) -> dict[str, Any]:
        return {
            "recording": asdict(self.recording),
            "epoch_s": self.epoch_s,
            "speed": self.speed,
            "slow_s": self.slow_s,
        }

    @override
    def settings(self, directory: Path, site: ServedSite, policy: str) -> Settings:
        # Those of a crawl, on the history's scale.
        step_s = (self.end_s - self.epoch_s) / _STEPS
        return Settings(
            seeds=tuple(f"{host}/" for host in site.hosts),
            contact="mailto:demo@localhost",
            state=directory,
            budget_per_s=self.budget_per_s,
            burst_s=max(0.25 * step_s, 2.0 / self.budget_per_s),
            n_robots=8,
            hosts=tuple(host.partition("://")[2] for host in site.hosts),
            allow_private=("*.localhost",),
            delay_s=min(1.0, 0.1 / self.budget_per_s),
            min_interval_s=step_s / 50.0,
            max_interval_s=self.end_s - self.epoch_s,
            initial_interval_s=step_s,
            confirm_s=step_s / 4.0,
            listing_s=step_s,
            buffer_deadline_s=_PATIENCE_S * self.speed,
            importance=(("even", 1.0),),  # all pages weigh the same in what is measured
            importance_s=step_s,
            replan_s=step_s,
            prior_rate_per_s=1.0 / (self.end_s - self.epoch_s),
            commit_s=0.5,
            policy=policy,
        )


class _Question:
    """Options, checked, and what follows from them."""

    def __init__(self, asked: Replay, source: Source, seconds: float) -> None:
        self.asked, self.source, self.seconds = asked, source, seconds
        if asked.days is not None and not 0.01 <= asked.days <= 36_500:
            raise InputError(f"--days: {asked.days:g} must be between 0.01 and 36500")
        if asked.speed is not None and not 1.0 <= asked.speed <= 1e7:
            raise InputError(f"--speed: {asked.speed:g} must be between 1 and 10000000")
        if not 0.0 <= asked.errors < 1.0:
            raise InputError(f"--errors: {asked.errors:g} must be a share in [0, 1)")
        self.slow_s = parse_duration_s(asked.slowness, name="--slowness")
        if self.slow_s > _SLOWEST_S:
            raise InputError(f"--slowness: {asked.slowness} must be at most {_SLOWEST_S:g}s")
        _names(asked.policies)
        self.start_s = _instant(asked.from_) if asked.from_ is not None else None

    @cached_property
    def recording(self) -> Recording:
        log, contents = self.source.read()
        contents.close()
        firsts = [file.at_s[0] for file in log.files.values()]
        if not firsts:
            raise InputError(f"{self.source.name} records no page")
        begun = float(min(firsts))
        start_s = self.start_s
        if start_s is None:
            days = min(self.asked.days or 90.0, max((log.end_s - begun) / DAY_S, 0.01))
            start_s = log.end_s - days * DAY_S
        elif not begun <= start_s < log.end_s:
            span = f"{_show(begun)} to {_show(log.end_s)}"
            raise InputError(f"--from: {self.asked.from_} is outside the history, {span}")
        days = min(self.asked.days or 90.0, (log.end_s - start_s) / DAY_S)
        habits = Habits(
            self.asked.validators, self.asked.sitemap, self.asked.feed, self.asked.errors
        )
        return Recording(self.source, self.asked.path, start_s, days, habits=asdict(habits))

    def plan(self) -> RecordedPlay:
        recording = self.recording
        web = recording.web()
        whole = web.changes_per_day / DAY_S
        length_s = recording.days * DAY_S
        text = "the default" if self.asked.budget is None else self.asked.budget.strip()
        if self.asked.budget is None:
            budget = max(whole, _LOOKS * len(web.pages) / length_s)
        elif text.endswith("x"):
            try:
                times = float(text[:-1])
            except ValueError:
                times = 0.0
            if not 0.0 < times <= 1000.0:
                raise InputError(f"--budget: {text!r} must be as 0.25x, up to 1000x, or as 300/d")
            if not whole:
                raise InputError("--budget: nothing changed in that time; give a rate, as 300/d")
            budget = times * whole
        else:
            budget = parse_rate_per_s(text, name="--budget")
        speed = self.asked.speed
        if speed is None:
            first_pass = len(web.pages) + len(web.by_directory)
            fastest = _FASTEST / (1.0 + _FASTEST * self.slow_s)
            needed = max(budget * length_s, float(first_pass)) / fastest
            speed = max(length_s / max(self.seconds, needed), 1.0)
        if budget * length_s > _MOST_REQUESTS:
            raise InputError(
                f"--budget: {text} makes {budget * length_s:.3g} requests in {recording.days:.3g} "
                f"days; at most {_MOST_REQUESTS:,}"
            )
        if budget * length_s < 1.0:
            raise InputError(f"--budget: {text} makes no request in {recording.days:.3g} days")
        if length_s / speed > _LONGEST_S:
            raise InputError(
                f"--speed: this would take {show_duration(length_s / speed)}; take fewer --days, a "
                "greater --speed or a smaller --budget"
            )
        return RecordedPlay(
            recording,
            budget_per_s=budget,
            epoch_s=recording.start_s,
            speed=speed,
            slow_s=self.slow_s,
        )


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if name not in REVISIT_POLICIES:
            raise InputError(f"--policies: {name!r} is none of {', '.join(REVISIT_POLICIES)}")
    return names


def _instant(text: str) -> float:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(f"--from: {text!r} is no date, such as 2024-01-01") from None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


def _show(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, UTC).date().isoformat()


def plan_of(asked: Replay, source: Source, seconds: float) -> RecordedPlay:
    """Return what a recorded history makes of options, checked.

    Raises
    ------
    InputError
        An option that cannot be, or a history that cannot be read.
    """
    return _Question(asked, source, seconds).plan()


def replay(
    asked: Replay,
    source: Source,
    seconds: float,
    make_directory: Callable[[], Path],
    *,
    plot: Path | None,
    json_: bool,
) -> int:
    """Serve a history, crawl it, and say what the truth, the plans and a backtest say."""
    plan = plan_of(asked, source, seconds)
    directory = make_directory()
    if not json_:
        took = plan.recording.days * DAY_S / plan.speed
        note(f"{plan.title}; this takes {show_duration(took)}")
        _note_poverty(plan)
    own, others = asyncio.run(play(plan, directory, _names(asked.policies), quiet=json_))
    report = {
        "history": source.name,
        "pages": len(plan.recording.web().pages),
        "from": _show(plan.epoch_s),
        "days": plan.recording.days,
        "budget_per_s": plan.budget_per_s,
        "speed": plan.speed,
        "policy": OWN,
        "recrawl": asdict(own),
        "others": {name: asdict(arm) for name, arm in others.items()},
        "backtest": backtest_of(plan, {OWN: own, **others}),
        "state": str(directory),
    }
    if plot is not None:
        draw_courses({OWN: own.course} | {n: a.course for n, a in others.items()}, _LEARNING, plot)
    if json_:
        print_json(report)
    else:
        _tell(plan, own, others, report)
    return 0


def _note_poverty(plan: RecordedPlay) -> None:
    """Say so where a budget cannot pay one visit of each page."""
    days, n_pages = plan.recording.days, len(plan.recording.web().pages)
    pays = plan.budget_per_s * days * DAY_S
    rules = min(days, 0.5 * pays)  # robots.txt holds for a day, or for the page that it is read for
    said = f"pays {pays:,.0f} requests, {rules:,.0f} of them for robots.txt"
    if pays - rules < n_pages:
        note(f"note: this budget {said}: less than one for each of {n_pages:,} pages")


def backtest_of(plan: RecordedPlay, arms: dict[str, Played]) -> dict[str, float]:
    """Backtest the same history at each arm's number of visits of pages; return the freshness."""
    try:
        history = plan.recording.web().history()
    except InputError:  # nothing in it ever changed: there is nothing that policies could differ in
        return {}
    found = {}
    for name, arm in arms.items():
        if name not in (OWN, "recrawl", "uniform"):
            continue
        # A backtest has each page's first copy for nothing.
        looks = sum(n for kind, n in arm.outcomes.items() if kind not in ("disallowed", "new"))
        readings = arm.outcomes.get("listing", 0)
        told = None
        if readings and plan.recording.habits["sitemap"] == "true":
            every = plan.recording.days / readings
            told = draw_announcements(history, SignalRates(1.0, every=every))
        try:
            result = run_policy(
                Backtest(history, max(looks, 1) / plan.recording.days, told=told), name
            )
        except InputError:
            continue
        whole = float((history.weights * result.lifetimes).sum())
        found[name] = float((history.weights * result.fresh).sum()) / whole if whole else 0.0
    return found


def _tell(
    plan: RecordedPlay, own: Played, others: dict[str, Played], report: dict[str, Any]
) -> None:
    rows = []
    for name, arm in {OWN: own, **others}.items():
        told = report["backtest"].get(name)
        rows.append(
            (
                name,
                f"{100 * arm.freshness:.1f} %",
                *(
                    "" if one is None else f"{100 * one:.1f} %"
                    for one in (arm.estimated, arm.promised, told)
                ),
                *(show_duration(one) if one < float("inf") else "never" for one in arm.delays[:2]),
                f"{arm.fetches:,}",
            )
        )
    print_table(
        "policy|in truth|estimated|promised|backtest|delay, median|90 %|requests".split("|"),
        rows,
        title=f"{report['pages']:,} pages from {report['from']} on, {report['days']:.3g} days, "
        f"{show_rate(plan.budget_per_s)}; the second half is measured",
    )
    out = console()
    asked = sorted(own.requests.items(), key=lambda one: -one[1])
    out.print("The server was asked for " + ", ".join(f"{n:,} × {kind}" for kind, n in asked) + ".")
    out.print(
        f"Its longest time without a request was {show_duration(own.idle_s)}, "
        f"{own.idle_s * plan.budget_per_s:.1f} times the budget's interval."
    )
    out.print(
        f"Taken for unchanged though changed: {own.missed:,}; for changed though not: "
        f"{own.imagined:,}. Changes overtaken by the next: {own.n_overtaken:,} of "
        f"{own.n_changes:,}."
    )
    out.print(
        f"The index lies in {report['state']}:  {called_as()} serve --state {report['state']}"
    )
