"""Failures of an exchange, each in one word."""

import asyncio
import ssl
from typing import Final

import aiohttp

from recrawl.errors import FetchError

_OF_CERTIFICATES: Final = (aiohttp.ClientConnectorCertificateError, ssl.SSLCertVerificationError)
# What OpenSSL says of a certificate that people can do something about; of others it is unknown who
# signed them.
_CERTIFICATES: Final = {
    9: "certificate-early",
    10: "certificate-expired",
    62: "certificate-name",
    64: "certificate-name",  # of an IP address
}


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
        (_OF_CERTIFICATES, _certificate_kind(error)),
        ((aiohttp.ClientSSLError, ssl.SSLError), "tls"),
        ((aiohttp.InvalidURL, ValueError), "url"),
        ((aiohttp.ClientConnectorError, ConnectionRefusedError), "connect"),
        ((aiohttp.ServerDisconnectedError, aiohttp.ClientOSError, OSError), "disconnected"),
    )
    for types, kind in kinds:
        if isinstance(error, types):
            return FetchError(kind, text[:300])
    return FetchError("protocol", text[:300])


def _certificate_kind(error: BaseException) -> str:
    fault = getattr(error, "certificate_error", error)
    return _CERTIFICATES.get(getattr(fault, "verify_code", 0), "certificate")
