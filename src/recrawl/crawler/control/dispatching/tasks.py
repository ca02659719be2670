"""Answers of the dispatcher: the next thing to be done."""

from dataclasses import dataclass

from recrawl.terms import Lease


@dataclass(frozen=True, slots=True)
class Fetch:
    """Fetch this page now. The request has been counted and its host is busy."""

    lease: Lease


@dataclass(frozen=True, slots=True)
class AskRobots:
    """Fetch this host's robots.txt now. The request has been counted and the host is busy.

    ``url`` is where its redirects have led; None: nowhere yet.
    """

    host_id: int
    host: str
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Resolve:
    """Resolve the name of ``host``: the next request of this host goes there.

    Say so with :meth:`Dispatcher.set_ip_address`, or :meth:`Dispatcher.unresolved`.
    """

    host_id: int
    host: str


@dataclass(frozen=True, slots=True)
class Refill:
    """Lease up to ``limit`` pages of this host: those due, or the best ahead of their time.

    Those leased before that rest with their section are given back, each due at its instant. Say so
    with :meth:`Dispatcher.stock`, or :meth:`Dispatcher.stock_ahead`. ``new_share`` is the part for
    pages never visited, while others are due too; None: by worth.
    """

    host_id: int
    limit: int
    is_ahead: bool = False
    resting: tuple[tuple[Lease, float], ...] = ()
    new_share: float | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing may start before this instant (infinite: nothing is known to come)."""

    until_s: float


Task = Fetch | AskRobots | Resolve | Refill | Wait
