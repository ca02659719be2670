"""What went wrong with an exchange, in one word."""

import asyncio
import ssl

import aiohttp

from recrawl.errors import FetchError

__all__ = ["translated"]


def translated(error: BaseException) -> FetchError:
    """Say in one word what went wrong."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, FetchError):
            return cause
        cause = cause.__cause__ or getattr(cause, "os_error", None)
    text = str(error) or type(error).__name__
    kinds: tuple[tuple[tuple[type[BaseException], ...], str], ...] = (
        ((asyncio.TimeoutError,), "timeout"),
        ((aiohttp.ClientConnectorDNSError,), "dns"),
        ((aiohttp.ClientConnectorCertificateError, ssl.SSLCertVerificationError), "certificate"),
        ((aiohttp.ClientSSLError, ssl.SSLError), "tls"),
        ((aiohttp.InvalidURL, ValueError), "url"),
        ((aiohttp.ClientConnectorError, ConnectionRefusedError), "connect"),
        ((aiohttp.ServerDisconnectedError, aiohttp.ClientOSError, OSError), "disconnected"),
    )
    for types, kind in kinds:
        if isinstance(error, types):
            return FetchError(kind, text[:300])
    return FetchError("protocol", text[:300])
