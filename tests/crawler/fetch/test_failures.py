"""What went wrong with an exchange, in one word, and what people are told of it."""

import errno
import socket
import ssl
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest

from recrawl.crawler.fetch.failures import translated
from recrawl.errors import failure_words


@pytest.mark.parametrize(
    ("words", "verify_code"),
    [
        ("its certificate is not valid yet, or the clock of this machine is wrong", 9),
        ("its certificate has expired, or the clock of this machine is wrong", 10),
        ("its certificate is not trusted", 18),  # signed by itself
        ("its certificate is not trusted", 20),  # by somebody unknown
        ("its certificate is for another name", 62),
        ("its certificate is for another name", 64),  # of an IP address
    ],
)
def test_what_is_wrong_with_a_certificate_is_said(words: str, verify_code: int) -> None:
    """What is to be done differs: wait for its owner, set a clock, trust it, or another address."""
    fault = ssl.SSLCertVerificationError(1, "certificate verify failed")
    fault.verify_code = verify_code
    asked: Any = SimpleNamespace(host="a.test", port=443, is_ssl=True)
    raised = aiohttp.ClientConnectorCertificateError(asked, fault)

    assert failure_words(translated(raised).kind) == words
    assert failure_words(translated(fault).kind) == words


@pytest.mark.parametrize(
    ("raised", "kind"),
    [
        (OSError(errno.ECONNREFUSED, "refused"), "connect"),
        (OSError(errno.EHOSTUNREACH, "no route"), "connect"),
        (OSError(errno.ENETUNREACH, "no network"), "network"),
        (OSError(errno.EADDRNOTAVAIL, "no port is free"), "network"),
        (OSError(errno.EMFILE, "too many files"), "network"),
    ],
)
def test_what_this_machine_lacks_is_told_from_a_host_that_is_not_there(
    raised: OSError, kind: str
) -> None:
    """Nothing is wrong with the host then."""
    asked: Any = SimpleNamespace(host="a.test", port=443, ssl=True)

    assert translated(aiohttp.ClientConnectorError(asked, raised)).kind == kind


def test_a_name_that_nobody_could_be_asked_for_is_told_from_one_that_nobody_knows() -> None:
    """The one is the machine's own network most of the time, the other never is."""
    asked: Any = SimpleNamespace(host="a.test", port=443, ssl=True)
    kinds = [
        translated(aiohttp.ClientConnectorDNSError(asked, socket.gaierror(code, "no"))).kind
        for code in (socket.EAI_AGAIN, socket.EAI_NONAME)
    ]

    assert kinds == ["lookup", "dns"]


def test_a_proxy_that_is_away_or_refuses_us_is_told_from_a_host_that_it_cannot_reach() -> None:
    """Whoever reads it looks at the proxy, and not at every host."""
    asked: Any = SimpleNamespace(host="proxy.lan", port=3128, ssl=True)
    request: Any = SimpleNamespace(real_url="http://a.test/")
    away = aiohttp.ClientProxyConnectionError(asked, OSError(errno.ECONNREFUSED, "refused"))
    said = [aiohttp.ClientHttpProxyError(request, (), status=status) for status in (407, 502)]

    assert [translated(error).kind for error in (away, *said)] == ["proxy", "proxy", "connect"]
