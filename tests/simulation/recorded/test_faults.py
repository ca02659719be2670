"""A recorded history crawled in bad weather: what was promised holds, by the server's log."""

import random
from pathlib import Path

import pytest
from tests.simulation.recorded.repository import Repository
from tests.storms.weather import Manners, in_weather

from recrawl.cli.crawler.recorded import RecordedPlay, Replay, plan_of
from recrawl.cli.crawler.stage import OWN, Played, play_virtually
from recrawl.simulation.recorded.recording import Source

N_PAGES = 30


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> RecordedPlay:
    """Thirty pages over twenty days; three of them change every half a day."""
    made = Repository(tmp_path_factory.mktemp("faults") / "repository")
    draw = random.Random(5)
    made.commit(0, **{f"docs__p{n}_md": f"# {n}\n\nfirst\n" for n in range(N_PAGES)})
    for half in range(1, 40):
        chosen = draw.sample(range(N_PAGES), 3)
        made.commit(half / 2, **{f"docs__p{n}_md": f"# {n}\n\nat {half}\n" for n in chosen})
    return plan_of(Replay(git=made.path, budget="4x"), Source(str(made.path)), 60.0)


@pytest.fixture(scope="module")
def calm(plan: RecordedPlay) -> Played:
    return play_virtually(OWN, plan)


@pytest.mark.parametrize("seed", range(3))
def test_bad_weather_costs_little_and_breaks_no_promise(
    plan: RecordedPlay, calm: Played, seed: int
) -> None:
    """Rests and budget all along; once it is over no time is idle, and all pages are found."""
    site = plan.site(80)
    rules = plan.settings(Path("unused"), site, OWN)
    hosts = list(site.hosts)
    site.close()
    length_s = plan.end_s - plan.epoch_s
    manners = Manners(
        rules.delay_s, plan.budget_per_s, plan.budget_per_s * rules.burst_s + 1.0,
        slack_s=1e-6 * plan.speed,
    )  # fmt: skip
    faults = in_weather(
        seed, hosts=hosts, start_s=plan.epoch_s, length_s=length_s / 2, manners=manners
    )

    stormy = play_virtually(OWN, plan, faults)

    assert stormy.outcomes["new"] == calm.outcomes["new"] > N_PAGES
    assert sum(stormy.outcomes.get(name, 0) for name in ("failed", "server-error")) > 0
    pause_s = manners.longest_pause_s(plan.epoch_s + 0.6 * length_s, plan.end_s)
    assert pause_s * plan.budget_per_s < 3.0
    assert len(manners.starts) <= plan.budget_per_s * (length_s + rules.burst_s) + 1.0
    assert stormy.freshness > calm.freshness - 0.1
