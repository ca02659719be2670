"""Hosts as a state keeps them."""

from recrawl.crawler.control.dispatching.dispatch import Dispatcher
from recrawl.terms import HostRecord


def host_record(dispatcher: Dispatcher, host_id: int) -> HostRecord:
    """Return what is to be kept of a host."""
    queue = dispatcher.host(host_id)
    return HostRecord(
        host_id=host_id,
        host=queue.host,
        next_due_s=queue.next_due_s,
        robots_status=queue.robots_status,
        robots_body=queue.robots_body,
        robots_until_s=queue.robots_until_s,
        failures=queue.politeness.failures,
        blocked_until_s=queue.politeness.blocked_until_s,
        blocked_why=queue.politeness.blocked_why,
        ip_address=None if queue.ip is None else queue.ip.text,
        ip_blocked_until_s=0.0 if queue.ip is None else queue.ip.politeness.blocked_until_s,
        rest_s=queue.politeness.pace.rest_s,
        is_read_in_full=queue.is_read_in_full,
    )
