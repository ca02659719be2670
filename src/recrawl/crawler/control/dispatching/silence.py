"""Silences: hosts that were well fail one after another, and nobody answers in between.

That is more likely this machine's network, name server, proxy or clock than all of them. Nothing is
learned of a host from it, and each is asked again as soon as anybody answers. Until then they take
turns: one look in a minute, or in a fiftieth of the time for which the silence has lasted, whatever
the number of hosts, so that none is asked much.

Pure: it is told the time and what happened.
"""

from math import inf
from typing import Final

_HOSTS: Final = 3  # that were well and fail, with no answer in between
_LOOK_S: Final = 60.0
_LOOK_SHARE: Final = 0.02  # of how long it has lasted
_OF_THIS_MACHINE: Final = frozenset({"lookup", "network", "proxy"})  # kinds of failures


class Silence:
    """Hosts that have failed since anybody answered last."""

    def __init__(self) -> None:
        self._failed: set[int] = set()
        self._since_s = self._look_s = -inf
        self.is_on = False

    def failed(
        self, host_id: int, now_s: float, why: str, *, was_well: bool, is_new: bool, n_hosts: int
    ) -> float | None:
        """Learn that a host did not answer; return until when it rests, or None: it failed.

        Parameters
        ----------
        why : kind of the failure, in one word; of some it is known that no host is to blame, and
            all hosts of a small crawl are enough
        was_well : the host had answered, and has not been in trouble since
        is_new : it has neither answered nor been in trouble
        n_hosts : that are known
        """
        if host_id not in self._failed:
            if not (was_well or (self.is_on and is_new)):
                return None
            if not self._failed:
                self._since_s = self._look_s = now_s
            self._failed.add(host_id)
        enough = min(_HOSTS, n_hosts) if why in _OF_THIS_MACHINE else _HOSTS
        self.is_on |= len(self._failed) >= enough
        if not self.is_on:
            return None
        rest_s = max(_LOOK_S, _LOOK_SHARE * (now_s - self._since_s))
        self._look_s = max(now_s, self._look_s) + rest_s
        return self._look_s

    def answered(self) -> set[int]:
        """Learn that somebody answered; return the hosts that rest for no fault of theirs."""
        if not self._failed:
            return self._failed
        resting = self._failed if self.is_on else set()
        self._failed, self.is_on = set(), False
        return resting
