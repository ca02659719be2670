"""What is deployed: units, container, dashboard and alert rules name what there is."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from recrawl.cli.app import app
from recrawl.cli.arguments import checked_arguments
from recrawl.crawler.frontier.sqlite import SqliteFrontier
from recrawl.crawler.reports.gauges import StateGauges
from recrawl.crawler.telemetry.metrics import GAUGES, MetricsSink
from recrawl.terms import Outcome
from recrawl.testing import Setup, run_virtually, virtual_crawl

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
UNITS = sorted(DEPLOY.glob("*.service"))
SANDBOX = {
    "ProtectSystem": "strict",
    "NoNewPrivileges": "yes",
    "DynamicUser": "yes",
    "CapabilityBoundingSet": "",
}


def keys_of(unit: Path) -> dict[str, list[str]]:
    """What a unit sets, key by key."""
    found: dict[str, list[str]] = {}
    for line in unit.read_text().splitlines():
        name, sign, value = line.partition("=")
        if sign and not line.startswith("#"):
            found.setdefault(name, []).append(value)
    return found


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_units_are_locked_in_and_bounded(unit: Path) -> None:
    """No capability, no write outside the state, a bound on memory."""
    keys = keys_of(unit)

    assert {name: keys[name][0] for name in SANDBOX} == SANDBOX
    assert keys["MemoryMax"]
    assert len(keys["User"]) == 1


def test_a_crawl_is_started_again_however_often_it_failed() -> None:
    """A disk that is full for three minutes is no reason to leave a crawl alone for good."""
    assert keys_of(DEPLOY / "recrawl@.service")["StartLimitIntervalSec"] == ["0"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not here")
def test_systemd_finds_no_fault(tmp_path: Path) -> None:
    """As `systemd-analyze verify` has it, with the command where it is on this machine."""
    for unit in UNITS:
        text = unit.read_text().replace("/opt/recrawl/bin/recrawl", sys.executable)
        (tmp_path / unit.name).write_text(text)

    checked = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *sorted(tmp_path.glob("*.service"))],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    # It looks at what else is installed on this machine, too.
    elsewhere = ("/etc/", "/lib/", "/usr/")
    ours = [line for line in checked.stderr.splitlines() if not line.startswith(elsewhere)]
    assert (checked.returncode, ours) == (0, [])


def commands() -> list[tuple[str, list[str]]]:
    """Every call of recrawl in units and Containerfile."""
    found = [
        (unit.name, keys_of(unit)["ExecStart"][0].replace("%i", "site").split()[1:])
        for unit in UNITS
    ]
    (call,) = re.findall(r"^CMD (\[.*\])$", (DEPLOY / "Containerfile").read_text(), re.MULTILINE)
    return [*found, ("Containerfile", json.loads(call))]


@pytest.mark.parametrize(("name", "arguments"), commands(), ids=lambda value: str(value)[:20])
def test_what_is_called_is_understood(name: str, arguments: list[str]) -> None:
    """The parser takes every option, with its value."""
    command, bound, _ = app.parse_args(
        checked_arguments(arguments), exit_on_error=False, print_error=False
    )

    assert command.__name__ == arguments[0], name
    assert bound.arguments


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_units_wait_for_no_state(unit: Path) -> None:
    """A state that is not there is wrong input, after which a unit is not started again.

    The pages start beside a crawl that has yet to make its state; its configuration is there.
    """
    (call,) = keys_of(unit)["ExecStart"]

    assert "/etc/recrawl/%i.toml" in call.split()
    assert "--state" not in call.split()


def test_the_container_is_small_and_owned_by_nobody() -> None:
    """Two stages, a numbered user, a health check, versions of what it stands on."""
    lines = (DEPLOY / "Containerfile").read_text().splitlines()
    stages = [line.split() for line in lines if line.startswith("FROM ")]

    assert len(stages) == 2
    assert all(":" in stage[1] and not stage[1].endswith(":latest") for stage in stages)
    (user,) = [line.split()[1] for line in lines if line.startswith("USER ")]
    assert user.split(":")[0].isdigit() and int(user.split(":")[0]) > 0  # noqa: PT018
    assert any(line.startswith("HEALTHCHECK ") for line in lines)
    assert not any(line.startswith("ADD ") for line in lines)
    for line in lines:
        if line.startswith("COPY ") and "--from" not in line:
            assert all((ROOT / source).exists() for source in line.split()[1:-1]), line


def known_metrics() -> set[str]:
    """Every name that a scrape can have."""
    sink = MetricsSink(lambda: dict.fromkeys(GAUGES, 0.0))
    names = set()
    for family in sink.registry.collect():
        names.add(family.name)
        endings = {"counter": ["_total"], "histogram": ["_bucket", "_count", "_sum"]}
        names |= {family.name + ending for ending in endings.get(family.type, [])}
    return names


def dashboard() -> list[str]:
    """What the panels ask."""
    panels = json.loads((DEPLOY / "grafana.json").read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    return [target["expr"] for panel in panels for target in panel["targets"]]


def rules() -> list[dict[str, str]]:
    """The alert rules."""
    (group,) = yaml.safe_load((DEPLOY / "alerts.yml").read_text())["groups"]
    found: list[dict[str, str]] = group["rules"]
    return found


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not here")
def test_prometheus_finds_no_fault() -> None:
    """As `promtool check rules` has it: expressions, durations and templates are Prometheus'."""
    checked = subprocess.run(
        ["promtool", "check", "rules", DEPLOY / "alerts.yml"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert f"SUCCESS: {len(rules())} rules found" in checked.stdout


@pytest.mark.parametrize("expression", [*dashboard(), *(rule["expr"] for rule in rules())])
def test_only_metrics_that_exist_are_asked_for(expression: str) -> None:
    """In the dashboard and in the rules; brackets match, and outcomes are outcomes."""
    names = set(re.findall(r"\brecrawl_\w+", expression))
    assert names <= known_metrics()
    assert names or expression == 'up{job="recrawl"} == 0'
    for opening, closing in ("()", "[]", "{}"):
        assert expression.count(opening) == expression.count(closing)
    for asked in re.findall(r'outcome=~?"([^"]+)"', expression):
        assert set(asked.split("|")) <= {outcome.value for outcome in Outcome}


def test_every_alert_says_what_to_do() -> None:
    """And the bars of the issue are there: nothing fetched, freshness, hosts, disk, sinks."""
    alerts = {rule["alert"]: rule for rule in rules()}

    assert all(rule["annotations"]["action"] for rule in alerts.values())  # type: ignore[index]
    wanted = ("NothingFetched", "FreshnessBelowPromise", "HostsBlocked", "DiskFull", "SinkBehind")
    assert {f"Recrawl{name}" for name in wanted} <= set(alerts)


def test_every_gauge_is_explained(tmp_path: Path) -> None:
    """What a crawl and its state say, and what is documented, are the same names."""
    SqliteFrontier(tmp_path).close()

    async def gauges() -> set[str]:
        virtual = virtual_crawl(Setup())
        await virtual.run_for(1.0)
        return set(virtual.crawl.gauges())

    assert set(StateGauges(tmp_path)()) | run_virtually(gauges()) == set(GAUGES)
