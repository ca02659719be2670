"""Extra headers, logins and cookies for some hosts. Never logged, kept or archived."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import translate
from http.cookiejar import CookieJar
from typing import Final
from urllib.request import Request

from recrawl.crawler.control.urls import host_of
from recrawl.errors import FetchError

_PORT: Final = re.compile(r":[0-9]+$")


@dataclass(frozen=True, slots=True)
class HostRule:
    """Headers and cookies for some hosts.

    Parameters
    ----------
    hosts : patterns of names, as in a scope; nobody else is sent anything of it
    headers : that hold no secret
    secrets : that do
    cookies : sent by their own domain, path, expiry and Secure
    in_clear : whether secrets and cookies may go without encryption
    """

    hosts: tuple[str, ...]
    headers: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    cookies: CookieJar | None = field(default=None, repr=False)
    in_clear: bool = False

    @property
    def is_secret(self) -> bool:
        """True where something of it must not be read by others on the way."""
        return bool(self.secrets) or self.cookies is not None


class HostHeaders:
    """Headers of requests by their host.

    Parameters
    ----------
    rules : all that match a host count; a later one wins
    everywhere : what every host is sent
    """

    def __init__(
        self, rules: Sequence[HostRule] = (), everywhere: Mapping[str, str] | None = None
    ) -> None:
        self._everywhere = dict(everywhere or {})
        self._rules = [(_matcher(rule.hosts), rule) for rule in rules]

    def of(self, url: str) -> dict[str, str]:
        """Return what a request is to carry besides.

        Raises
        ------
        FetchError
            ``unencrypted``: a secret would go in clear, and may not.
        """
        found = dict(self._everywhere)
        if not self._rules:
            return found
        name_and_port = host_of(url).partition("://")[2]
        name = _PORT.sub("", name_and_port)
        for matcher, rule in self._rules:
            if not (matcher.match(name) or matcher.match(name_and_port)):
                continue
            if rule.is_secret and not rule.in_clear and not url.startswith("https://"):
                raise FetchError(
                    "unencrypted",
                    f"the secret for {name_and_port} would go in clear over http; ask by https, "
                    "or set in_clear = true in its [[access]]",
                )
            found |= rule.headers
            found |= rule.secrets
            if rule.cookies is not None:
                request = Request(url)
                rule.cookies.add_cookie_header(request)
                cookie = request.get_header("Cookie")
                if cookie:
                    found["Cookie"] = cookie
        return found


def _matcher(patterns: Sequence[str]) -> re.Pattern[str]:
    lowered = (pattern.lower().replace("[", "[[]") for pattern in patterns)
    return re.compile("|".join(map(translate, lowered)))
