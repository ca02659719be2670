"""What went wrong with an exchange, in one word, and what people are told of it."""

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
