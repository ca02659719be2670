"""The sources that a configuration names."""

from typing import Final

from recrawl.crawler.control.urls import normalise
from recrawl.crawler.settings.checks import at_least, duration
from recrawl.crawler.settings.file import Source
from recrawl.crawler.settings.values import Settings, SourceSettings
from recrawl.crawler.settings.zones import find_zone
from recrawl.errors import InvalidSettings

_WEEK_S: Final = 604_800.0


def source_settings(given: Source) -> SourceSettings:
    """Return what one ``[[sources]]`` table means."""
    url = normalise(given.url)
    if url is None:
        raise InvalidSettings(
            f"sources: {given.url!r} is no http or https address, such as https://example.org/feed"
        )
    where = f"sources, {url}"
    if given.kind not in ("feed", "sitemap", "page"):
        raise InvalidSettings(f"{where}: kind {given.kind!r} is not one of feed, sitemap, page")
    if (given.probes is None) == (given.every is None):
        raise InvalidSettings(f'{where}: give either probes (a week) or every, as every = "4h"')
    if given.every is not None:
        n_probes = max(1, round(_WEEK_S / duration(f"{where}: every", given.every, 60.0)))
    else:
        n_probes = at_least(f"{where}: probes", given.probes or 0, 1, 10_080)
    gap_s = duration(f"{where}: min_gap", given.min_gap, 0.0)
    if gap_s * n_probes > _WEEK_S:
        raise InvalidSettings(
            f"{where}: {n_probes} probes a week cannot be {given.min_gap} apart; at most "
            f"{int(_WEEK_S / gap_s)} can"
        )
    if not 0.0 <= given.preference < float("inf"):
        raise InvalidSettings(f"{where}: preference {given.preference} must be finite and >= 0")
    find_zone(given.time_zone, field=f"{where}: time_zone")
    return SourceSettings(
        url=url,
        kind=given.kind,
        n_probes=n_probes,
        gap_s=gap_s,
        work_hours=_work_hours(where, given.work_hours),
        preference=given.preference if given.work_hours else 1.0,
        time_zone=given.time_zone,
    )


def _work_hours(where: str, text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    first, _, last = text.partition("-")
    try:
        hours = (float(first), float(last))
    except ValueError:
        hours = (0.0, -1.0)
    if not 0 <= hours[0] < hours[1] <= 24:
        raise InvalidSettings(f"{where}: work_hours {text!r} are no hours of a day, such as 9-18")
    return hours


def check_sources(settings: Settings) -> None:
    """Complain of a source named twice, or of more probes than the budget bears."""
    seen: set[str] = set()
    for source in settings.sources:
        if source.url in seen:
            raise InvalidSettings(f"sources: {source.url} is named twice")
        seen.add(source.url)
    wanted = sum(source.n_probes for source in settings.sources) / _WEEK_S
    if wanted > 0.9 * settings.budget_per_s:
        raise InvalidSettings(
            f"sources: they want {wanted * 3600:.3g} probes an hour of a budget of "
            f"{settings.budget_per_s * 3600:.3g}; at most nine tenths can be theirs"
        )
