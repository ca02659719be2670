"""Facts that a crawl notes about itself: numbers by name, in records of one writer each.

The state keeps rows of a name and a number. Nobody but this module spells the names: a row is named
after the field of its record, behind the prefix of that. A row that an older version did not write
has the default of its field; where a field has none, the whole record is not told.
"""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, Final, Self

__all__ = [
    "MEASURES",
    "ControlFacts",
    "CrawlFacts",
    "EndFacts",
    "FactRecord",
    "FeedFacts",
    "FleetFacts",
    "InstantFacts",
    "MeasuredFacts",
    "PlanFacts",
    "PredictedFacts",
    "SafeFacts",
    "SettingsFacts",
    "SolvedFacts",
    "rows_of",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactRecord:
    """Numbers that one part of a crawl writes; None is one that nobody knows."""

    prefix: ClassVar[str] = ""

    def to_rows(self) -> dict[str, float]:
        """Return what is known, by the names of the rows."""
        return {
            self.prefix + item.name: float(value) if item.type is bool else value
            for item in fields(self)
            if (value := getattr(self, item.name)) is not None
        }

    @classmethod
    def of(cls, rows: Mapping[str, float]) -> Self:
        """Return the record that rows tell, among others; all fields without default are there."""
        told: dict[str, Any] = {
            item.name: bool(rows[name]) if item.type is bool else rows[name]
            for item in fields(cls)
            if (name := cls.prefix + item.name) in rows
        }
        return cls(**told)

    @classmethod
    def if_told(cls, rows: Mapping[str, float]) -> Self | None:
        """Return the record that rows tell; None where they lack a field without default."""
        needed = (cls.prefix + item.name for item in fields(cls) if item.default is MISSING)
        return cls.of(rows) if all(name in rows for name in needed) else None


def rows_of(*records: FactRecord) -> dict[str, float]:
    """Return the rows of several records."""
    return {name: value for record in records for name, value in record.to_rows().items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class InstantFacts(FactRecord):
    """The latest instant that the crawl noted, by its own clock; by ``runtime.parts``."""

    now_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndFacts(FactRecord):
    """Whether the last process ended in order; by ``runtime.agreement``."""

    ended_in_order: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsFacts(FactRecord):
    """Numbers of the configuration, since the last start; by ``runtime.crawl``.

    The names are those of ``runtime.parts.Rules`` and of the settings.
    """

    budget_per_s: float | None = None
    delay_s: float | None = None
    min_interval_s: float | None = None
    max_interval_s: float = 30 * 86_400.0
    prior_rate_per_s: float = 1.0 / (14 * 86_400.0)
    robots: float | None = None
    buffer_capacity: float | None = None
    servers: float = 1.0
    buffer_deadline_s: float = 600.0
    starvation_weight: float = 0.0
    least_worth: float = 0.0
    first_free: bool = False
    per_address: bool = False
    settings_mark: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFacts(FactRecord):
    """Numbers of the plan in force beside its own record; by ``runtime.planner``.

    Parameters
    ----------
    plan_bound_per_s : requests that the plan counts on
    plan_bound_by_robots, plan_bound_by_indexer : what sets their number; else the budget
    fetch_worth : of one more fetch in the long run, in pages of average weight times seconds
    visit_price : of the plan, in weight times seconds
    fresh_s : for how long a visit keeps a page fresh on average
    lasting : of a page's weight, that it is worth once it is known
    returned : pages that were gone and answered with content again
    """

    plan_bound_per_s: float | None = None
    fetch_worth: float | None = None
    plan_bound_by_robots: bool = False
    plan_bound_by_indexer: bool = False
    returned: float = 0.0
    visit_price: float | None = None
    fresh_s: float | None = None
    lasting: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetFacts(FactRecord):
    """Robots and buffer a moment ago; this and all below by ``runtime.fleet_control``."""

    robots_active: float | None = None
    buffer_length: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlFacts(FactRecord):
    """Whether a control was solved in this run, and whether it was dropped since."""

    prefix: ClassVar[str] = "control_"

    dropped: bool = False
    known: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SolvedFacts(FactRecord):
    """Rates that the control was solved for, and how regular times are."""

    prefix: ClassVar[str] = "control_"

    fetch_rate: float
    index_rate: float
    is_general: bool = False
    service_variation: float = 1.0
    service_third: float = 0.0
    arrival_variation: float = 1.0
    arrival_correlation: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedFacts(FactRecord):
    """Predicted measures of the control, in the models' own terms.

    Parameters
    ----------
    starvation : share of the time with an empty buffer
    loss_rate : pages lost per second
    throughput : pages indexed per second
    buffer_mean : pages in the buffer, on average
    robots_mean : active robots, on average
    """

    prefix: ClassVar[str] = "predicted_"

    starvation: float
    loss_rate: float
    throughput: float
    buffer_mean: float
    robots_mean: float


MEASURES: Final = tuple(item.name for item in fields(PredictedFacts))


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredFacts(PredictedFacts):
    """Measures of the ``seconds`` since the control was adopted, in the same terms."""

    prefix: ClassVar[str] = "measured_"

    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SafeFacts(MeasuredFacts):
    """The same while no control has been solved, with rates measured from so many pages."""

    prefix: ClassVar[str] = "safe_"

    pages: float
    fetch_rate: float
    index_rate: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedFacts(FactRecord):
    """Up to which change the feed has been compacted; by ``frontier.feed``, for itself."""

    prefix: ClassVar[str] = "feed_"

    seen_to: float = 0.0
    old_to: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlFacts:
    """All that a state tells; what none of its runs noted is at its default, or None."""

    instant: InstantFacts
    end: EndFacts
    settings: SettingsFacts
    plan: PlanFacts
    fleet: FleetFacts
    control: ControlFacts
    solved: SolvedFacts | None
    predicted: PredictedFacts | None
    measured: MeasuredFacts | None
    safe: SafeFacts | None

    @classmethod
    def of(cls, rows: Mapping[str, float]) -> Self:
        """Return the records that rows tell."""
        return cls(
            instant=InstantFacts.of(rows),
            end=EndFacts.of(rows),
            settings=SettingsFacts.of(rows),
            plan=PlanFacts.of(rows),
            fleet=FleetFacts.of(rows),
            control=ControlFacts.of(rows),
            solved=SolvedFacts.if_told(rows),
            predicted=PredictedFacts.if_told(rows),
            measured=MeasuredFacts.if_told(rows),
            safe=SafeFacts.if_told(rows),
        )
