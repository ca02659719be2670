"""The log of a farm says what a crawler is to blame for, however late the farm itself is."""

import contextlib
import socket
import threading
from collections.abc import Iterator

import pytest
from tests.acceptance.farm import Farm

REQUEST = b"GET /1 HTTP/1.1\r\nHost: %s\r\n\r\n"


@pytest.fixture
def farm() -> Iterator[Farm]:
    """Give one that takes a moment for an answer."""
    made = Farm(2, 2, answer_s=0.02)
    yield made
    made.close()


@contextlib.contextmanager
def held_up(farm: Farm) -> Iterator[None]:
    """Have the farm do nothing, as on a busy machine."""
    is_held, goes_on = threading.Event(), threading.Event()

    def hold() -> None:
        is_held.set()
        goes_on.wait(60)

    farm._loop.call_soon_threadsafe(hold)
    assert is_held.wait(60)
    try:
        yield
    finally:
        goes_on.set()


def asked(farm: Farm, number: int = 0) -> socket.socket:
    """Ask for a page."""
    connection = socket.create_connection(("127.0.0.1", farm.port))
    connection.sendall(REQUEST % farm.name(number).encode())
    return connection


def answered(connection: socket.socket) -> None:
    """Wait for the answer."""
    with connection:
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200")


def test_a_request_that_was_given_up_before_the_farm_read_it_is_over(farm: Farm) -> None:
    """The farm answers it beside the next one, for nobody."""
    with held_up(farm):
        asked(farm).close()
        later = asked(farm)
    answered(later)

    assert farm.n_requests() == 2
    assert farm.overlaps == []


def test_two_requests_that_are_waited_for_are_two_at_once(farm: Farm) -> None:
    """Whoever is late; those to two hosts are not."""
    with held_up(farm):
        both = [asked(farm), asked(farm), asked(farm, 1)]
    for connection in both:
        answered(connection)

    assert farm.overlaps == [farm.name(0)]
    assert farm.least_gap_s() < 0.0


def test_names_of_one_server_are_asked_as_one() -> None:
    """A request to each is two at once of their server."""
    farm = Farm(2, 2, answer_s=0.02, is_one=True)
    with contextlib.closing(farm):
        with held_up(farm):
            both = [asked(farm), asked(farm, 1)]
        for connection in both:
            answered(connection)

        assert farm.overlaps == [farm.name(1)]
