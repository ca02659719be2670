"""Network addresses that a crawl may connect to.

Checked where the socket is made, so that names that resolve to private addresses, addresses
written as numbers, redirects and rebinding all meet the same guard.
"""

import ipaddress
import socket
from collections.abc import Collection

from recrawl.errors import FetchError

AddressInfo = tuple[int, int, int, str, tuple[str | int | bytes, ...]]


def is_public(address: str) -> bool:
    """Tell whether an IP address belongs to the open internet.

    Private, loopback, link-local, multicast, reserved and unspecified addresses do not, nor do
    IPv6 forms that carry such an IPv4 address, nor IPv6 outside the one block that is given out.
    """
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo and ip.teredo[1])
        if inner:
            return is_public(str(inner))
        if ip in _NAT64:
            return is_public(str(ipaddress.IPv4Address(ip.packed[-4:])))
        if ip not in _GLOBAL_UNICAST:
            return False
    elif ip in _PROTOCOLS:
        return False
    return ip.is_global and not ip.is_multicast


def is_private_name(name: str) -> bool:
    """Tell a name or a literal address that no proxy is to be asked for, whoever resolves it."""
    bare = name.rstrip(".").lower()
    if bare == "localhost" or bare.endswith((".localhost", ".local", ".internal")):
        return True
    try:
        ipaddress.ip_address(bare)
    except ValueError:
        return False
    return not is_public(bare)


def is_named(name: str, allowed: Collection[str]) -> bool:
    """Tell whether a host is among names.

    Parameters
    ----------
    name : in lower case
    allowed : names in lower case; ``*.name`` stands for all below one
    """
    parts = name.split(".")
    below = ("*." + ".".join(parts[start:]) for start in range(1, len(parts)))
    return name in allowed or any(one in allowed for one in below)


_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
_PROTOCOLS = ipaddress.IPv4Network("192.0.0.0/24")  # some clouds answer for themselves there


def open_socket(info: AddressInfo) -> socket.socket:
    """Make a socket for any address."""
    family, kind, protocol, _, _ = info
    made = socket.socket(family=family, type=kind, proto=protocol)
    made.setblocking(False)
    return made


def public_socket(info: AddressInfo) -> socket.socket:
    """Make a socket for a public address.

    Raises
    ------
    FetchError
        ``refused-address`` for any other.
    """
    address = str(info[4][0])
    if not is_public(address):
        raise FetchError(
            "refused-address",
            f"{address} is not a public address; list the host under allow_private to permit it",
        )
    return open_socket(info)
