"""robots.txt by RFC 9309: what an answer means, and what the rules allow.

Matching is Protego's. What is ours is the meaning of answers: 4xx allows everything (section
2.3.1.3), anything unreachable forbids everything for now (2.3.1.4), at most 500 KiB are read
(2.5) and five redirects followed (2.3.1.2), and an answer is kept for a day (2.4). Rules with more
wildcards than anybody writes by hand cannot be judged by and forbid everything.
"""

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from dataclasses import dataclass, field
from typing import Final

from protego import Protego

from recrawl.terms import HostRecord

MAX_ROBOTS_BYTES: Final = 500 * 1024
MAX_ROBOTS_REDIRECTS: Final = 5
# Each costs five millionths of a second for each address that is judged.
MAX_WILDCARD_RULES: Final = 2_000
_DELAY: Final = re.compile(rb"crawl-delay|request-rate", re.IGNORECASE)
_WILDCARD_RULE: Final = re.compile(r"^\s*(?:dis)?allow\s*:[^\n#]*\*", re.IGNORECASE | re.MULTILINE)
LONGEST_CRAWL_DELAY_S: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """Rules of one host's robots.txt for one robot.

    ``reachable`` is False where no answer could be had: then nothing is allowed, and the host is
    asked again later.
    """

    agent: str
    reachable: bool = True
    _parsed: Protego | None = field(default=None, repr=False)

    def allows(self, url: str) -> bool:
        """Tell whether the robot may fetch ``url``. What cannot be judged is not allowed."""
        if not self.reachable:
            return False
        if self._parsed is None:
            return True
        try:
            return bool(self._parsed.can_fetch(url, self.agent))
        except (ValueError, UnicodeError, RecursionError):
            return False

    @property
    def crawl_delay_s(self) -> float | None:
        """The delay that the host asks for, at most a day; or its request rate as a delay."""
        if self._parsed is None:
            return None
        delay = self._parsed.crawl_delay(self.agent)
        rate = self._parsed.request_rate(self.agent)
        asked = [float(delay)] if delay is not None else []
        if rate is not None and rate.requests > 0:
            asked.append(rate.seconds / rate.requests)
        usable = [value for value in asked if value >= 0.0]
        return min(max(usable), LONGEST_CRAWL_DELAY_S) if usable else None

    @property
    def sitemaps(self) -> list[str]:
        """Addresses of sitemaps, as written."""
        return [] if self._parsed is None else list(self._parsed.sitemaps)[:1000]


def robots_from_answer(agent: str, status: int | None, body: bytes) -> RobotsRules:
    """Say what an answer to /robots.txt means.

    Parameters
    ----------
    agent : product token of the robot
    status : HTTP status after redirects; None where there was no answer. Too many redirects
        count as a 404.
    body : as received, cut at ``MAX_ROBOTS_BYTES``
    """
    if status is not None and 200 <= status < 300:
        text = body[:MAX_ROBOTS_BYTES].decode(_charset_of(body), "replace").removeprefix("\ufeff")
        if len(body) >= MAX_ROBOTS_BYTES:
            text = "\n".join(text.splitlines()[:-1])  # half a rule is worse than none
        if len(_WILDCARD_RULE.findall(text)) > MAX_WILDCARD_RULES:
            return RobotsRules(agent, reachable=False)  # too many to judge any address by
        return RobotsRules(agent, _parsed=Protego.parse(text))
    if status is not None and 400 <= status < 500 and status != 429:
        return RobotsRules(agent)
    return RobotsRules(agent, reachable=False)


def _charset_of(body: bytes) -> str:
    """Return UTF-8, as section 2.3 has it, unless a byte order mark says otherwise.

    Rules that an editor has saved in UTF-16 would be no rules, and so allow everything.
    """
    return "utf-16" if body.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8"


def crawl_delay_of(host: HostRecord, agent: str) -> float:
    """Return the delay in seconds that the robots.txt of a host asks for; 0: none.

    Most ask for none, which is told without reading the rules.

    Parameters
    ----------
    host : with the latest answer to its robots.txt, if there was one
    agent : product token of the robot
    """
    body = host.robots_body or b""
    if host.robots_status is None or not _DELAY.search(body.replace(b"\0", b"")):  # of UTF-16
        return 0.0
    return robots_from_answer(agent, host.robots_status, body).crawl_delay_s or 0.0
