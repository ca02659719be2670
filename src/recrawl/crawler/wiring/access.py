"""The secrets that a configuration names, read at the start, and what hosts are sent with them."""

import base64
import http.cookiejar
import os
import re
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from recrawl.crawler.control.urls import in_punycode
from recrawl.crawler.fetch.addresses import is_named
from recrawl.crawler.fetch.host_headers import HostHeaders, HostRule
from recrawl.crawler.fetch.http import Proxy
from recrawl.crawler.settings import Settings
from recrawl.crawler.settings.values import AccessSettings
from recrawl.errors import InvalidSettings

_MOST: Final = 8_000  # bytes of a secret
_MOST_COOKIES: Final = 4 * 2**20
_PROXIES: Final = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")
_LINE: Final = re.compile(r"[!-~][ -~]*")


def host_headers(settings: Settings) -> HostHeaders:
    """Return what hosts are sent besides.

    Raises
    ------
    InvalidSettings
        A secret or a file of cookies is missing, or is none; the message never holds it.
    """
    languages = settings.accept_language
    everywhere = {"Accept-Language": languages} if languages else {}
    return HostHeaders([_rule(one) for one in settings.access], everywhere)


def proxy(settings: Settings) -> Proxy | None:
    """Return the proxy that is asked instead, with its login."""
    if not settings.proxy:
        return None
    variable = settings.proxy_login_env
    if variable is None:
        return Proxy(settings.proxy)
    login = _secret("fetch.proxy_login_env", variable, None)
    return Proxy(settings.proxy, _user_and_password(f"fetch.proxy_login_env, {variable}", login))


def unheeded_proxies(settings: Settings) -> list[str]:
    """Say, in words for people, that a proxy of the environment is not asked.

    The environment of a service is another than that of a shell, so it says nothing here. Nothing
    is said where no seed needs one.
    """
    names = [urlsplit(seed).hostname or "" for seed in settings.seeds]
    if settings.proxy or all(is_named(name, settings.allow_private) for name in names):
        return []
    named = (name for name in _PROXIES if os.environ.get(name) or os.environ.get(name.lower()))
    return [f"{name} counts for nothing: say proxy under [fetch]" for name in named][:1]


def _rule(given: AccessSettings) -> HostRule:
    where = f"access, {', '.join(given.hosts)[:200]}"
    secrets: dict[str, str] = {}
    if given.secret_env is not None or given.secret_file is not None:
        secret = _secret(where, given.secret_env, given.secret_file)
        if given.secret_as == "bearer":
            secrets["Authorization"] = f"Bearer {secret}"
        elif given.secret_as == "basic":
            user, password = _user_and_password(where, secret)
            coded = base64.b64encode(f"{user}:{password}".encode()).decode()
            secrets["Authorization"] = f"Basic {coded}"
        else:
            secrets[given.secret_as] = secret
    cookies = None if given.cookies_file is None else _cookies(where, given.cookies_file)
    hosts = tuple(map(in_punycode, given.hosts))
    return HostRule(hosts, dict(given.headers), secrets, cookies, given.in_clear)


def _secret(where: str, variable: str | None, path: Path | None) -> str:
    if path is not None:
        try:
            with path.open("rb") as opened:
                said = opened.read(_MOST + 1)
        except OSError as error:
            raise InvalidSettings(f"{where}: secret_file {path}: {error.strerror}") from error
    else:
        said = os.environ.get(variable or "", "").encode("utf-8", "surrogateescape")
        if not said:
            raise InvalidSettings(f"{where}: the environment variable {variable} is not set")
    text = said.decode("latin-1").strip()
    if len(said) > _MOST or not _LINE.fullmatch(text):
        raise InvalidSettings(
            f"{where}: {path or variable} holds no secret: one line of printable ASCII is wanted"
        )
    return text


def _user_and_password(where: str, secret: str) -> tuple[str, str]:
    user, colon, password = secret.partition(":")
    if not colon or not user:
        raise InvalidSettings(f"{where}: a login is written user:password")
    return user, password


def _cookies(where: str, path: Path) -> http.cookiejar.CookieJar:
    jar = http.cookiejar.MozillaCookieJar()
    try:
        if path.stat().st_size > _MOST_COOKIES:
            raise InvalidSettings(f"{where}: cookies_file {path} is larger than 4 MiB")
        jar.load(str(path), ignore_discard=True, ignore_expires=True)
    except (http.cookiejar.LoadError, UnicodeDecodeError, ValueError):
        raise InvalidSettings(
            f"{where}: cookies_file {path} is not in the format of Netscape, as browsers and curl "
            "export it (a first line '# Netscape HTTP Cookie File', seven columns with tabs)"
        ) from None
    except OSError as error:
        raise InvalidSettings(f"{where}: cookies_file {path}: {error.strerror}") from error
    kept = http.cookiejar.CookieJar()
    for cookie in jar:
        cookie.expires = cookie.expires or None  # 0 is that of a session, as curl writes it
        if "." not in cookie.domain:
            cookie.domain += ".local"  # as the jar calls a host of one word
        kept.set_cookie(cookie)
        if not _LINE.fullmatch(f"{cookie.name}={cookie.value or ''}"):
            raise InvalidSettings(
                f"{where}: cookies_file {path}: a cookie of {cookie.domain[:100]!r} holds a "
                "character that cannot stand in a header"
            )
    return kept
