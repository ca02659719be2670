"""Pages of the reference that are made from the code, so that they cannot be wrong."""

import io
from pathlib import Path

from rich.console import Console

from recrawl.cli.app import VERBS, app
from recrawl.cli.crawler.init import TEMPLATE
from recrawl.crawler.control.answers.lifecycle import CONFIRMED, KEEPS, next_state
from recrawl.crawler.telemetry.metrics import GAUGES, MetricsSink
from recrawl.terms import Outcome, PageState

HERE = Path(__file__).parent / "reference"


def command_line() -> str:
    """Return the help of every verb."""
    parts = ["# The command line\n"]
    for name, _, _, _ in VERBS:
        out = io.StringIO()
        console = Console(file=out, width=100, no_color=True)
        app.help_print([name], console=console)
        text = "\n".join(line.rstrip() for line in out.getvalue().strip().splitlines())
        parts.append(f"## recrawl {name}\n\n```text\n{text}\n```\n")
    return "\n".join(parts)


def configuration() -> str:
    """Return the configuration that `recrawl init` writes."""
    text = TEMPLATE.format(
        host="https://docs.example.org",
        name="docs.example.org",
        domain="docs.example.org",
        url="https://docs.example.org/",
        feed="https://docs.example.org/feed.xml",
        contact="mailto:you@your.domain",
        budget="1000/h",
        private='# allow_private = ["docs.example.org"]  # hosts that may have private addresses',
        file="recrawl.toml",
    )
    return (
        "# Configuration\n\nA TOML file; what is commented shows the default. Durations are "
        "written `90s`, `10m`, `12h`, `14d`, rates `1000/h` or `6/min`, sizes `4MiB`. An unknown "
        "key, a wrong unit or an "
        f"impossible value ends the start with a message that names it.\n\n```toml\n{text}```\n"
    )


def life_cycle() -> str:
    """Return which state follows which outcome, from the table that the crawler runs on."""
    states = list(PageState)
    head = "| the visit brought | " + " | ".join(state.value for state in states)
    lines = [head + " |", "|---|" + "---|" * len(states)]
    for outcome in Outcome:
        cells = []
        for state in states:
            after = next_state(state, outcome)
            mark = "**" if (state, outcome) in CONFIRMED else ""
            cells.append("·" if after is state else f"{mark}{after.value}{mark}")
        lines.append(f"| {outcome.value} | " + " | ".join(cells) + " |")
    kept = ", ".join(sorted(state.value for state in KEEPS))
    return (
        "# States of a page\n\nWhich state follows, by the state before (columns); a dot keeps it, "
        "bold is a confirmation. "
        f"The index keeps its copy in the states {kept}.\n\n" + "\n".join(lines) + "\n"
    )


def metrics() -> str:
    """Return every metric that `recrawl run --metrics` answers with."""
    lines = ["| metric | kind | what it says |", "|---|---|---|"]
    for family in MetricsSink(lambda: dict.fromkeys(GAUGES, 0.0)).registry.collect():
        ending = "_total" if family.type == "counter" else ""
        labels = {"recrawl_visits": "{outcome}", "recrawl_events": "{event}"}.get(family.name, "")
        lines.append(
            f"| `{family.name}{ending}{labels}` | {family.type} | {family.documentation} |"
        )
    return (
        "# Metrics\n\n`recrawl run --metrics 9464` answers Prometheus at "
        "`http://127.0.0.1:9464/metrics`, `--metrics 0.0.0.0:9464` on every address of the "
        "machine, to whoever asks. Counts are since the start; gauges of the buffer begin "
        "anew when a changed configuration is taken up. Those of pages, freshness and sinks are "
        "read from the state, every ten seconds at most. Outcomes are "
        f"{', '.join(f'`{one.value}`' for one in Outcome)}.\n\n" + "\n".join(lines) + "\n\n"
        "`deploy/grafana.json` is a dashboard of them, `deploy/alerts.yml` has alert rules; a test "
        "holds that both name nothing else.\n"
    )


def write() -> None:
    """Write the pages whose text has changed."""
    pages = {
        "command-line.md": command_line(),
        "configuration.md": configuration(),
        "life-cycle.md": life_cycle(),
        "metrics.md": metrics(),
    }
    for name, text in pages.items():
        path = HERE / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
