"""Settings of pages and of what their hosts are sent: content, access, rendering."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from recrawl.crawler.settings.checks import duration
from recrawl.crawler.settings.file import Access, Content, Render
from recrawl.crawler.settings.values import AccessSettings, ContentSettings, RenderSettings
from recrawl.errors import InvalidSettings

_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_VALUE: Final = re.compile(r"[ -~\t\x80-\xff]{1,2000}")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OURS: Final = frozenset(
    """host connection content-length transfer-encoding upgrade te trailer expect user-agent from
    accept-encoding if-none-match if-modified-since if-match if-range range cookie authorization
    proxy-authorization""".split()
)  # said by the crawler itself, or a secret
_MOST_RULES: Final = 1_000


def content_settings(given: Sequence[Content]) -> tuple[ContentSettings, ...]:
    """Return what the ``[[content]]`` tables mean."""
    if len(given) > _MOST_RULES:
        raise InvalidSettings(f"content: {len(given)} tables are more than {_MOST_RULES}")
    return tuple(map(_content, given))


def _content(given: Content) -> ContentSettings:
    if not given.path:
        raise InvalidSettings("content.path: it is empty; write a pattern such as /docs/*")
    drop = (given.drop,) if isinstance(given.drop, str) else tuple(given.drop)
    where = f"content, {given.path}: "
    if not (given.select or drop or given.title):
        raise InvalidSettings(f"{where}give select, drop or title, or leave the table out")
    check_selectors(where, given.select, drop, given.title)
    return ContentSettings(given.path, given.select, drop, given.title)


def check_selectors(where: str, select: str, drop: Sequence[str], title: str) -> None:
    """Refuse what is no CSS selector.

    Parameters
    ----------
    where : stands before the key in the message
    select, title : "": there is none
    drop : none of them may be empty
    """
    for key, selector in (("select", select), *(("drop", one) for one in drop), ("title", title)):
        if selector or key == "drop":
            _check_selector(f"{where}{key}", selector)


def _check_selector(where: str, selector: str) -> None:
    from selectolax.lexbor import LexborHTMLParser  # only who has rules pays for it

    wrong = f"{where}: {selector[:200]!r} is no CSS selector, such as main or #page > .content"
    if not selector.strip() or len(selector) > 1_000:
        raise InvalidSettings(wrong)
    try:
        LexborHTMLParser("<p>").css(selector)
    except Exception as error:  # its own class is no public name
        raise InvalidSettings(wrong) from error


def kept_content(text: str) -> bool:
    """Return whether Markdown is kept."""
    if text not in ("text", "markdown"):
        raise InvalidSettings(
            f'index.keep: {text!r} is neither "text" nor "markdown" (which keeps both)'
        )
    return text == "markdown"


def accept_language(text: str) -> str:
    """Return the value of a header."""
    if text and not re.fullmatch(r"[A-Za-z0-9*,;=. -]{1,200}", text):
        raise InvalidSettings(
            f'fetch.accept_language: {text[:200]!r} is no list of languages, such as "de, en;q=0.5"'
        )
    return text


def proxy_address(text: str) -> str:
    """Return the address of a proxy, without a secret."""
    if not text:
        return ""
    try:
        parts = urlsplit(text)
        is_right = parts.scheme == "http" and bool(parts.hostname) and (parts.port or 1) > 0
        is_right = is_right and parts.path in ("", "/") and not parts.query and text.isprintable()
    except ValueError:
        raise InvalidSettings(_NO_PROXY) from None
    if is_right and "@" in parts.netloc:
        raise InvalidSettings(
            "fetch.proxy: it holds a login; leave that out, and name an environment variable with "
            "user:password in fetch.proxy_login_env"
        )
    if not is_right:
        raise InvalidSettings(_NO_PROXY)
    return f"http://{parts.netloc}"


_NO_PROXY: Final = 'fetch.proxy: it is no address of an HTTP proxy, such as "http://proxy.lan:3128"'


def variable(where: str, name: str | None) -> str | None:
    """Return the name of an environment variable.

    Parameters
    ----------
    where : the key, for the message
    name : None: there is none
    """
    if name is not None and not _VARIABLE.fullmatch(name):
        raise InvalidSettings(
            f"{where} is no name of an environment variable; the secret itself does not belong here"
        )
    return name


def access_settings(given: Sequence[Access], folder: Path) -> tuple[AccessSettings, ...]:
    """Return what the ``[[access]]`` tables mean.

    Parameters
    ----------
    given : the tables
    folder : from which paths are meant
    """
    return tuple(_access(one, folder) for one in given)


def _access(given: Access, folder: Path) -> AccessSettings:
    if not given.hosts or any(not host.strip() or "/" in host for host in given.hosts):
        raise InvalidSettings(
            f"access.hosts: {given.hosts!r} must name hosts, such as wiki.example.org or "
            "*.example.org; nobody else is sent what is meant for them"
        )
    where = f"access, {', '.join(given.hosts)[:200]}"
    for name, value in given.headers.items():
        _check_header(where, name)
        if not _VALUE.fullmatch(value):
            raise InvalidSettings(
                f"{where}: headers.{name}: a line break or another character in its value cannot "
                "stand in a header"
            )
    if given.secret_env is not None and given.secret_file is not None:
        raise InvalidSettings(f"{where}: give either secret_file or secret_env, not both")
    has_secret = given.secret_env is not None or given.secret_file is not None
    if given.secret_as not in ("bearer", "basic"):
        _check_header(f"{where}: secret_as", given.secret_as)
    if not (given.headers or has_secret or given.cookies_file):
        raise InvalidSettings(
            f"{where}: give headers, cookies_file, or a secret by secret_env or secret_file"
        )
    return AccessSettings(
        hosts=tuple(given.hosts),
        headers=tuple(given.headers.items()),
        secret_as=given.secret_as,
        secret_env=variable(f"{where}: secret_env", given.secret_env),
        secret_file=None if given.secret_file is None else folder / given.secret_file,
        cookies_file=None if given.cookies_file is None else folder / given.cookies_file,
        in_clear=given.in_clear,
    )


def _check_header(where: str, name: str) -> None:
    if not _HEADER.fullmatch(name):
        raise InvalidSettings(f"{where}: {name[:100]!r} is no name of a header, such as X-Api-Key")
    if name.lower() in _OURS:
        known = "; a login or token comes from secret_env or secret_file, cookies from cookies_file"
        raise InvalidSettings(f"{where}: {name} is not for a configuration to set{known}")


def render_settings(given: Sequence[Render]) -> tuple[RenderSettings, ...]:
    """Return what the ``[[render]]`` tables mean."""
    rules = []
    for one in given:
        if not one.path:
            raise InvalidSettings("render.path: it is empty; write a pattern such as /app/*")
        where = f"render, {one.path}"
        if one.wait_for:
            _check_selector(f"{where}: wait_for", one.wait_for)
        rules.append(
            RenderSettings(one.path, one.wait_for, duration(f"{where}: settle", one.settle, 0.0))
        )
    return tuple(rules)
