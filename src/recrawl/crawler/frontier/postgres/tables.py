"""Tables that an owner's copy shares with the database, with their columns and keys."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Table:
    """A table that is in both.

    Parameters
    ----------
    name : in both
    columns : that are copied, in this order
    key : columns by which a row is known; the first is the row's number in the owner's copy
    page : column that names the page or host whose shard the row belongs to
    fixed : columns that stay as they were when the row was added
    """

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    page: str = "page_id"
    fixed: frozenset[str] = frozenset()

    @property
    def changing(self) -> list[str]:
        """Columns that are written anew."""
        return [name for name in self.columns if name not in self.fixed and name not in self.key]


PAGE: Final = Table(
    "page",
    tuple(
        """id url host_id kind state depth hops weight variant_of discovered_s lastmod_s due_s tier
        visits changes failures last_visit_s last_status indexed_at_s etag last_modified signature
        raw_hash title redirect_url change_rate_per_s change_rate_factor crawl_rate_per_s due_why
        policy_memory importance importance_parts found_on is_lasting
        read_as own_due_s seen_s born_s births exposure_s births_again births_lead_s n_announced
        unheard_s""".split()
    ),
    ("id",),
    "id",
    frozenset("url host_id kind depth hops variant_of discovered_s born_s".split()),
)
_HOST: Final = Table(
    "host",
    tuple(
        """id host robots_status robots_body robots_until_s failures blocked_until_s
        blocked_why ip_address ip_blocked_until_s rest_s announced_recall announced_precision
        heard_s is_read_in_full""".split()
    ),
    ("id",),
    "id",
)
# Rows that change: an owner writes those that it touched.
KEPT: Final = (
    _HOST,
    PAGE,
    Table("link_list", ("page_id", "targets"), ("page_id",)),
    Table("belief", ("page_id", "learned"), ("page_id",)),
    Table("host_belief", ("host_id", "learned"), ("host_id",), "host_id"),
    Table("indexing", ("page_id",), ("page_id",)),
    Table("asked", ("id", "url", "asked_at_s", "is_signal", "page_id", "outcome", "note"), ("id",)),
)
# Of these, what a plan changes: it is written later, as a plan can be made again.
LATE: Final = ("page", "belief", "host_belief")
# Rows that stay as they are: the database numbers them.
APPENDED: Final = {
    "visit": tuple(
        """page_id visited_at_s outcome status changed interval_s fetch_s received_bytes note
        signalled modified_s seen_s unheard_s""".split()
    ),
    "difference": ("page_id", "found_at_s", "text"),
    "plan": tuple(
        "solved_at_s n_pages budget_per_s price freshness n_never_visited measure clocks".split()
    ),
    "feed": tuple(
        """page_id at_s kind version signature fetched_at_s title language canonical content_type
        moved_to why edit importance""".split()
    ),
}
