"""Settings that get in each other's way: each is possible, but one of two has no effect."""

from pathlib import Path

from recrawl.crawler.settings.values import Settings
from recrawl.quantities import show_duration, show_rate


def contradictions(settings: Settings) -> list[str]:
    """Return, in words for the owner of a crawl, what of the settings cannot all come true.

    Only what was set is told of: the defaults suit any site.
    """
    plain = Settings(settings.seeds, settings.contact, settings.state)
    told = []
    n_hosts = (
        None if any("*" in host or "?" in host for host in settings.hosts) else len(settings.hosts)
    )
    robots, capacity = settings.n_robots, settings.buffer_capacity
    if n_hosts is not None and robots > n_hosts and robots != plain.n_robots:
        told.append(
            f"robots = {robots}, but a host is asked for one page at a time, and scope.hosts "
            f"names {n_hosts}: no more than {n_hosts} are ever busy"
        )
    most_per_s = n_hosts / settings.delay_s if n_hosts is not None and settings.delay_s else None
    if (
        most_per_s is not None
        and settings.budget_per_s > most_per_s
        and settings.budget_per_s != plain.budget_per_s
    ):
        told.append(
            f"budget = {show_rate(settings.budget_per_s)}, but with politeness.delay = "
            f"{show_duration(settings.delay_s)} the hosts of scope.hosts ({n_hosts}) "
            f"allow {show_rate(most_per_s)}: the rest is never used"
        )
    if isinstance(settings.state, Path) and settings.shards != plain.shards:
        told.append(
            f"cluster.shards = {settings.shards}, but state = {settings.state} is a folder, "
            "that one machine has: there is nothing to share out"
        )
    if robots > capacity:
        told.append(
            f"robots = {robots}, but buffer.capacity = {capacity}: while nothing may be lost, no "
            f"more than {capacity} of them run"
        )
    initial_s = settings.initial_interval_s
    within = settings.min_interval_s <= initial_s <= settings.max_interval_s
    if not within and initial_s != plain.initial_interval_s:
        told.append(
            f"revisit.initial_interval = {show_duration(settings.initial_interval_s)} is not "
            f"between min_interval ({show_duration(settings.min_interval_s)}) and max_interval "
            f"({show_duration(settings.max_interval_s)}), which are kept"
        )
    return told


def first_pass_words(settings: Settings) -> list[str]:
    """Say how long the first pass takes where the budget paces it, and what would change that."""
    hosts = [host for host in settings.hosts if "*" not in host and "?" not in host]
    polite_per_s = max(len(hosts), 1) / settings.delay_s if settings.delay_s else float("inf")
    polite_per_s = min(polite_per_s, 1_000.0)
    if settings.first_pass == "polite" or polite_per_s <= 1.2 * settings.budget_per_s:
        return []
    at_budget, politely = (1_000.0 / rate for rate in (settings.budget_per_s, polite_per_s))
    return [
        f"the first pass is paced by the budget of {show_rate(settings.budget_per_s)}: "
        f'{show_duration(at_budget)} for every 1,000 pages. With first_pass = "polite" under '
        f"[plan] pages never seen are fetched as fast as politeness allows, 1,000 in "
        f"{show_duration(politely)}, and the budget is for keeping them fresh"
    ]
