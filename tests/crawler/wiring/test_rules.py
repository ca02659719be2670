"""What settings stand for, beside what the runtime goes by where nothing is said."""

from dataclasses import fields, replace

from recrawl.crawler.control.politeness import PolitenessRules
from recrawl.crawler.control.revisit_policy import Replan
from recrawl.crawler.runtime.crawl import CrawlPlan
from recrawl.crawler.runtime.parts import Rules
from recrawl.crawler.settings import Settings
from recrawl.crawler.wiring.rules import crawl_plan, crawl_rules

SETTINGS = Settings(seeds=("http://a.test/",), contact="me@a.test")
# Set by the machine, by other settings, or for one use of the engine only.
OWN = {
    "agent", "admission", "settings_mark", "asked_every_s", "importance", "mark_of",
    "keep_visits_s",
}  # fmt: skip


def test_what_a_program_leaves_out_is_what_a_file_leaves_out() -> None:
    """Rules and plans of an embedded crawl are those of the command line."""
    said = crawl_rules(SETTINGS)
    bare = Rules(agent=said.agent, admission=said.admission)
    plan = crawl_plan(SETTINGS)

    told = {item.name: getattr(said, item.name) for item in fields(Rules) if item.name not in OWN}
    assert told == {name: getattr(bare, name) for name in told}
    assert replace(said.importance, shares=bare.importance.shares) == bare.importance
    assert plan.politeness == PolitenessRules()
    assert plan.burst_s == CrawlPlan(plan.budget_per_s, plan.politeness).burst_s
    assert said.prior_rate_per_s == next(
        item.default for item in fields(Replan) if item.name == "prior_rate_per_s"
    )
