"""Sinks made from what a configuration says of them."""

import base64
import binascii
import importlib
import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from recrawl.crawler.ports import Sink
from recrawl.crawler.settings import SinkSettings
from recrawl.errors import InvalidSettings, SinkError

_MOST_SECRET: Final = 4_096
_SHORTEST_KEY: Final = 16


def check_extras(sinks: tuple[SinkSettings, ...]) -> None:
    """See that what sinks need is installed.

    Raises
    ------
    InvalidSettings
        It is not.
    """
    for sink in sinks:
        if sink.kind == "python":
            _maker(sink)
    needs = any(sink.kind == "postgresql" for sink in sinks)
    if needs and importlib.util.find_spec("psycopg") is None:
        raise InvalidSettings("deliver: PostgreSQL needs one more package: recrawl[postgresql]")


def open_sink(settings: SinkSettings) -> Sink:
    """Return a sink; it connects when it is told something."""
    secret = _secret(settings)
    match settings.kind:
        case "postgresql":
            from recrawl.crawler.delivery.postgresql import PostgresSink

            return PostgresSink(
                settings.to,
                table=settings.table,
                keeps_removed=settings.keeps_removed,
                importance=settings.importance,
                secret=secret,
                timeout_s=settings.timeout_s,
            )
        case "webhook":
            from recrawl.crawler.delivery.webhook import WebhookSink

            key = None if secret is None else (lambda: _key(settings.name, secret()))
            return WebhookSink(
                settings.to, name=settings.name, secret=key, timeout_s=settings.timeout_s
            )
        case "bulk":
            from recrawl.crawler.delivery.bulk import BulkSink

            return BulkSink(settings.to, secret=secret, timeout_s=settings.timeout_s)
        case "meilisearch" | "typesense" | "solr":
            from recrawl.crawler.delivery.engines import ENGINES

            return ENGINES[settings.kind](settings.to, secret=secret, timeout_s=settings.timeout_s)
        case "command":
            from recrawl.crawler.delivery.command import CommandSink

            return CommandSink(settings.command, timeout_s=settings.timeout_s)
        case "python":
            return _made(settings, secret)
        case "tables":
            from recrawl.crawler.delivery.files import TableFiles

            return TableFiles(Path(settings.to), settings.content, importance=settings.importance)
        case _:
            from recrawl.crawler.delivery.files import LineFiles

            return LineFiles(Path(settings.to))


def _maker(settings: SinkSettings) -> Callable[[Callable[[], bytes] | None], Sink]:
    """Return what makes a sink that somebody wrote in Python."""
    module, _, name = settings.to.partition(":")
    try:
        make = getattr(importlib.import_module(module), name)
    except Exception as error:  # whatever is done there when it is imported
        said = f"{type(error).__name__}: {error}"[:300]
        raise InvalidSettings(
            f"deliver, {settings.name}: {settings.to} cannot be imported ({said}); it has to be "
            "installed, or found by PYTHONPATH"
        ) from error
    if not callable(make):
        raise InvalidSettings(f"deliver, {settings.name}: {settings.to} makes no sink")
    found: Callable[[Callable[[], bytes] | None], Sink] = make
    return found


def _made(settings: SinkSettings, secret: Callable[[], bytes] | None) -> Sink:
    make, where = _maker(settings), f"deliver, {settings.name}"
    try:
        made = make(secret)
    except Exception as error:  # whatever was written there
        said = f"{settings.to} made no sink: {type(error).__name__}: {error!s:.300}"
        raise InvalidSettings(f"{where}: {said}") from error
    lacking = [one for one in ("apply", "scan", "close") if not callable(getattr(made, one, None))]
    if lacking:
        raise InvalidSettings(f"{where}: what {settings.to} makes has no {', '.join(lacking)}")
    return made


def _secret(settings: SinkSettings) -> Callable[[], bytes] | None:
    """Return what reads the secret of a sink, anew each time: it may be changed."""
    file, variable = settings.secret_file, settings.secret_env
    if file is None and variable is None:
        return None

    def read() -> bytes:
        if file is not None:
            try:
                with file.open("rb") as opened:
                    said = opened.read(_MOST_SECRET + 1)
            except OSError as error:
                raise SinkError(f"secret_file {file}: {error.strerror}") from error
        else:
            said = os.environ.get(variable or "", "").encode()
            if not said:
                raise SinkError(f"secret_env: {variable} is not set, or empty")
        said = said.strip()
        if not said or len(said) > _MOST_SECRET or any(byte < 32 for byte in said):
            raise SinkError(f"{file or variable} holds no secret: one line of text is wanted")
        return said

    return read


def _key(name: str, secret: bytes) -> bytes:
    """Return the key that a signing secret stands for: ``whsec_`` and Base64, or as it is."""
    try:
        key = base64.b64decode(secret[6:], validate=True) if secret[:6] == b"whsec_" else secret
    except (ValueError, binascii.Error) as error:
        raise SinkError(f"the secret of {name} has no Base64 after whsec_") from error
    if len(key) < _SHORTEST_KEY:
        raise SinkError(f"the secret of {name} is shorter than {_SHORTEST_KEY} bytes")
    return key
