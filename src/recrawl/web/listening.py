"""Sockets of the served pages, and the token that opens them; light enough for any verb."""

import errno
import ipaddress
import secrets
import socket
from pathlib import Path
from typing import Final

from recrawl.errors import InputError

PORT: Final = 8710
SHORTEST_TOKEN: Final = 16


def read_token(path: Path) -> str:
    """Return the token that a file holds.

    Raises
    ------
    InputError
        It cannot be read, others may read it too, or it is too short to be one.
    """
    try:
        mode = path.stat().st_mode
        if mode & 0o077 and path.is_file():
            raise InputError(
                f"--token-file: {path} may be read by others (mode {mode & 0o777:04o}); make it "
                f"yours alone: chmod 600 {path}"
            )
        token = path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise InputError(f"--token-file: {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"--token-file: {path} is not UTF-8") from error
    if len(token) < SHORTEST_TOKEN:
        raise InputError(
            f"--token-file: {path} holds {len(token)} characters; a token needs at least "
            f"{SHORTEST_TOKEN}, for example {secrets.token_urlsafe(24)}"
        )
    return token


def is_loopback(address: str) -> bool:
    """Tell whether only this machine reaches an address.

    Raises
    ------
    InputError
        It is no address.
    """
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError as error:
        raise InputError(
            f"--listen: {address!r} is no address; write one such as 127.0.0.1 or 0.0.0.0"
        ) from error


def place_of(text: str, name: str, *, host: str | None = None) -> tuple[str, int]:
    """Return host and port of ``HOST:PORT``, or of ``PORT`` where there is a ``host`` for it.

    Raises
    ------
    InputError
        It is written otherwise, or the port is none; ``name`` is the option that is named.
    """
    written, colon, port = text.rpartition(":")
    chosen = written.removeprefix("[").removesuffix("]") if colon else host
    is_number = port.isascii() and port.isdigit() and len(port) <= 5
    if not chosen or not is_number or not 0 <= int(port) <= 65_535:
        wanted = "an address and a port" if host is None else "a port, or an address and a port,"
        default = "127.0.0.1:7071" if host is None else "9464 or 0.0.0.0:9464"
        raise InputError(f"{name}: {text!r} must be {wanted} up to 65535, as {default}")
    return chosen, int(port)


def bind(address: str, port: int) -> socket.socket:
    """Return a socket that listens there.

    Raises
    ------
    InputError
        The port is taken or not allowed, or the address is not this machine's.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    # With its protocol named, asyncio sends small answers at once: half of one that waits for the
    # other's receipt costs 40 ms on a connection that is kept.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
    except (OSError, OverflowError) as error:
        listener.close()
        number = error.errno if isinstance(error, OSError) else errno.EINVAL
        why = {
            errno.EADDRINUSE: "is in use; choose another with --port, or 0 for any that is free",
            errno.EACCES: "needs rights that this user does not have; choose one above 1023",
            errno.EADDRNOTAVAIL: f"cannot be opened: {address} is no address of this machine",
        }.get(number or 0, f"cannot be opened: {error}")
        raise InputError(f"--port: {port} on {address} {why}") from error
    return listener


def origin_of(listener: socket.socket) -> str:
    """Return what to type into a browser on this machine."""
    address, port = listener.getsockname()[:2]
    if address in ("0.0.0.0", "::"):
        address = "localhost"
    return f"http://{f'[{address}]' if ':' in address else address}:{port}"
