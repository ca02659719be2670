"""No request leaves for a network that is not the open internet."""

import ipaddress
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.crawler.fetch.addresses import AddressInfo, is_public, open_socket, public_socket
from recrawl.errors import FetchError

PRIVATE = """
0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.254 127.0.0.1 127.255.255.254
169.254.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.192 192.0.2.1 192.168.0.1
192.168.255.255 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255
240.0.0.1 255.255.255.255
:: ::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:0.0.0.0 ::ffff:169.254.169.254 ::127.0.0.1 ::8.8.8.8
64:ff9b::7f00:1 64:ff9b::a00:1 64:ff9b:1::808:808 100::1 2001:db8::1 2001:10::1 2002:7f00:1::
2002:c0a8:101::1 2001:0:4136:e378:8000:63bf:f5ff:fffe fc00::1 fd00::1 fdff::1 fe80::1 fe80::1%eth0
febf::1 fec0::1 ff02::1 ff0e::1 4000::1 5f00::1
""".split()
PUBLIC = """
1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1
172.15.255.255 172.32.0.0 192.0.1.1 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0
223.255.255.255 ::ffff:8.8.8.8 64:ff9b::808:808 2002:808:808:: 2606:4700::1111 2a00:1450::1
""".split()


@pytest.mark.parametrize("address", PRIVATE)
def test_addresses_outside_the_open_internet_are_refused(address: str) -> None:
    """Private, loopback, link-local, carrier, multicast, reserved, and IPv6 around any of them."""
    assert not is_public(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_addresses_of_the_open_internet_are_not(address: str) -> None:
    """Right up to the edges of the refused blocks."""
    assert is_public(address)


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_is_the_same_in_any_ipv6_dress(ip: ipaddress.IPv4Address) -> None:
    """Mapped, NAT64 and 6to4 lead to it, and so are judged like it."""
    dresses = [
        f"::ffff:{ip}",
        str(ipaddress.IPv6Address((0x64_FF9B << 96) + int(ip))),
        str(ipaddress.IPv6Address((0x2002 << 112) + (int(ip) << 80))),
    ]

    assert {is_public(dress) for dress in dresses} == {is_public(str(ip))}


@pytest.mark.parametrize("address", ["", "localhost", "example.org", "1.2.3", "0x7f000001", "::g"])
def test_what_is_no_address_is_refused(address: str) -> None:
    """Names are resolved before this is asked."""
    assert not is_public(address)


def info(address: str) -> AddressInfo:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return (family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, 80))


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "10.1.2.3"])
def test_no_socket_is_made_for_a_private_address_unless_it_is_allowed(address: str) -> None:
    """The message says how to permit it; the allowed way makes the socket."""
    with pytest.raises(FetchError, match="allow_private") as refused:
        public_socket(info(address))

    assert refused.value.kind == "refused-address"
    assert address in refused.value.detail
    with open_socket(info(address)) as made:
        assert not made.getblocking()


def test_a_socket_for_a_public_address_is_made() -> None:
    """It does not block, as an event loop needs."""
    with public_socket(info("8.8.8.8")) as made:
        assert made.family == socket.AF_INET
        assert not made.getblocking()
