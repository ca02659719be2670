"""Failures of an exchange, each in one word."""

import asyncio
import errno
import socket
import ssl
from http import HTTPStatus
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
# What the system says where it is this machine that cannot ask: no network, no file, no port.
_OWN: Final = frozenset(
    {
        errno.EADDRNOTAVAIL, errno.EMFILE, errno.ENETDOWN, errno.ENETUNREACH, errno.ENFILE,
        errno.ENOBUFS, errno.ENOMEM,
    }
)  # fmt: skip


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
        ((aiohttp.ClientProxyConnectionError,), "proxy"),
        ((aiohttp.ClientHttpProxyError,), _tunnel_kind(error)),
        ((aiohttp.ClientConnectorDNSError,), _lookup_kind(error)),
        (_OF_CERTIFICATES, _certificate_kind(error)),
        ((aiohttp.ClientSSLError, ssl.SSLError), "tls"),
        ((aiohttp.InvalidURL, ValueError), "url"),
        ((aiohttp.ClientConnectorError, ConnectionRefusedError), _connection_kind(error)),
        ((aiohttp.ServerDisconnectedError, aiohttp.ClientOSError, OSError), "disconnected"),
    )
    for types, kind in kinds:
        if isinstance(error, types):
            return FetchError(kind, text[:300])
    return FetchError("protocol", text[:300])


def _lookup_kind(error: BaseException) -> str:
    """Tell a name that nobody knows from one that nobody could be asked for."""
    cause = getattr(error, "os_error", None)
    is_unasked = isinstance(cause, socket.gaierror) and cause.errno == socket.EAI_AGAIN
    return "lookup" if is_unasked else "dns"


def _tunnel_kind(error: BaseException) -> str:
    """Tell a proxy that refuses us from one that does not reach the host."""
    refuses = getattr(error, "status", 0) == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED
    return "proxy" if refuses else "connect"


def _connection_kind(error: BaseException) -> str:
    return "network" if getattr(error, "errno", None) in _OWN else "connect"


def _certificate_kind(error: BaseException) -> str:
    fault = getattr(error, "certificate_error", error)
    return _CERTIFICATES.get(getattr(fault, "verify_code", 0), "certificate")
