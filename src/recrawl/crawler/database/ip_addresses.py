"""Owners of IP addresses: the one process that may ask each, where several own hosts of it.

An IP address has an owner as a shard has: a process of the crawl, under its number, which no other
ever has. Who wants one that another owns says so; the owner sees that at its next look, and hands
it over with what the next is to know. Who wants it first has it next, so nobody waits for ever. An
owner ends with its process (:mod:`.membership`): the next one then rests a time-out longer.

What lies in the table are instants of the database; what comes and goes are seconds from now, so
that no machine's clock matters.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from recrawl.crawler.control.dispatching.ip_addresses import IpAddressState
from recrawl.crawler.database.connections import translated
from recrawl.crawler.database.membership import Membership

_NOW: Final = "extract(epoch FROM clock_timestamp())::float8"
_WANTED_S: Final = 2.0  # who has not said for so long that it wants one wants it no more
_DAY_S: Final = 86_400.0

_ADD: Final = "INSERT INTO ip_address (text) SELECT unnest(%s::text[]) ON CONFLICT DO NOTHING"
# In one order, so that no two processes wait for each other.
_LOCK: Final = "SELECT 1 FROM ip_address WHERE text = ANY(%s) ORDER BY text FOR UPDATE"
# A longer delay counts at once, a shorter one when nobody has told the longer for a day.
_TELL: Final = f"""
UPDATE ip_address AS a SET delay_s = t.delay_s, delay_told_s = {_NOW}
FROM unnest(%s::text[], %s::float8[]) AS t (text, delay_s)
WHERE a.text = t.text AND (t.delay_s > a.delay_s
    OR a.delay_told_s < {_NOW} - {_DAY_S} / CASE WHEN t.delay_s = a.delay_s THEN 2 ELSE 1 END)
"""
_GIVE: Final = f"""
UPDATE ip_address AS a SET owner = NULL,
    rest_s = GREATEST(a.rest_s, {_NOW} - g.ended_s),
    blocked_until_s = GREATEST(a.blocked_until_s, {_NOW} + g.blocked_s),
    failures = CASE WHEN g.ended_s = 'Infinity' THEN a.failures ELSE g.failures END,
    blocked_why = COALESCE(g.blocked_why, a.blocked_why)
FROM unnest(%s::text[], %s::float8[], %s::float8[], %s::int[], %s::text[])
    AS g (text, ended_s, blocked_s, failures, blocked_why)
WHERE a.text = g.text AND a.owner = %s
"""
_FREE: Final = f"(wanted_by IS NULL OR wanted_by = %(me)s OR wanted_s < {_NOW} - {_WANTED_S})"
_TAKE: Final = f"""
UPDATE ip_address SET owner = %(me)s, wanted_by = NULL
WHERE text = ANY(%(wanted)s) AND (owner = %(me)s OR (owner IS NULL AND {_FREE}))
RETURNING text, {_NOW} - rest_s, delay_s, blocked_until_s - {_NOW}, failures, blocked_why
"""
_WAIT: Final = f"""
UPDATE ip_address SET wanted_by = %(me)s, wanted_s = {_NOW}
WHERE text = ANY(%(wanted)s) AND owner IS DISTINCT FROM %(me)s AND {_FREE}
"""
_ASKED_FOR: Final = f"""
SELECT text, delay_s FROM ip_address
WHERE owner = %s AND wanted_by IS NOT NULL AND wanted_s >= {_NOW} - {_WANTED_S}
"""
_TELL_PAGES: Final = """
INSERT INTO ip_address_pages AS a SELECT text, %s, pages
FROM unnest(%s::text[], %s::bigint[]) AS told (text, pages)
ON CONFLICT (text, process) DO UPDATE SET pages = excluded.pages WHERE a.pages <> excluded.pages
"""
_FORGET_PAGES: Final = "DELETE FROM ip_address_pages WHERE process = %s AND text <> ALL(%s)"
_ALL_PAGES: Final = """
SELECT a.text, sum(a.pages)::float8 FROM ip_address_pages AS a JOIN process AS p ON p.id = a.process
WHERE a.text = ANY(%s) AND NOT p.ended GROUP BY a.text
"""


def exchange_ip_addresses(
    member: Membership, wanted: Sequence[IpAddressState], given: Sequence[IpAddressState]
) -> tuple[list[IpAddressState], list[IpAddressState]]:
    """Give IP addresses back, and take those that are wanted and free, in one transaction.

    Parameters
    ----------
    member : of this process
    wanted : what hosts wait for; what another has is handed over in its time
    given : that this process asks no more

    Returns
    -------
    list of IpAddressState, list of IpAddressState
        What this process may ask from now on; and what it has and others want, with their delays.

    Raises
    ------
    OwnershipLost
        This process has been ended by another.
    """
    texts = sorted(one.text for one in wanted)
    told = sorted([*wanted, *given], key=lambda one: one.text)
    me = {"me": member.number, "wanted": texts}
    connection = member.connection
    with translated(member.database), connection.transaction():
        member.fence(connection)
        if wanted:
            connection.execute(_ADD, (texts,))
        if told:
            connection.execute(_LOCK, ([one.text for one in told],))
            connection.execute(_TELL, ([one.text for one in told], [one.delay_s for one in told]))
        if given:
            columns = ("text", "ended_s", "blocked_s", "failures", "blocked_why")
            values = [[getattr(one, name) for one in given] for name in columns]
            connection.execute(_GIVE, (*values, member.number))
        taken = []
        if wanted:
            taken = connection.execute(_TAKE, me).fetchall()
            connection.execute(_WAIT, me)
        asked_for = connection.execute(_ASKED_FOR, (member.number,)).fetchall()
    return (
        [IpAddressState(*row) for row in taken],
        [IpAddressState(text, delay_s=delay_s) for text, delay_s in asked_for],
    )


def share_ip_addresses(member: Membership, pages: Mapping[str, int]) -> dict[str, float]:
    """Tell how many pages of this process each IP address serves; return their part of all.

    Parameters
    ----------
    member : of this process
    pages : that are kept fresh, >= 1, by IP address

    Returns
    -------
    dict of str to float
        Above 0 and at most 1; 1 where no other process tells of any.

    Raises
    ------
    OwnershipLost
        This process has been ended by another.
    """
    texts = sorted(pages)
    connection = member.connection
    with translated(member.database), connection.transaction():
        member.fence(connection)
        told = [pages[text] for text in texts]
        connection.execute(_FORGET_PAGES, (member.number, texts))
        connection.execute(_TELL_PAGES, (member.number, texts, told))
        rows = connection.execute(_ALL_PAGES, (texts,)).fetchall()
    return {text: pages[text] / total for text, total in rows}
