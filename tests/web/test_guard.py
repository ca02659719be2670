"""Who may ask, and what goes along with every answer."""

import pytest
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send
from tests.web.asgi import ask

from recrawl.web.guard import COOKIE, HEADERS, Access, Guard, TokenBuckets

TOKEN = "correct-horse-battery"


async def inner(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer whatever gets through."""
    await PlainTextResponse("in")(scope, receive, send)


def guard(access: Access, *, burst: float = 1e9) -> Guard:
    def refuse(status: int, text: str, scope: Scope) -> Response:
        return PlainTextResponse(text, status)

    return Guard(inner, access=access, buckets=TokenBuckets(1.0, burst, lambda: 0.0), refuse=refuse)


@pytest.mark.parametrize(
    ("host", "ours"),
    [
        ("127.0.0.1:8710", True),
        ("localhost", True),
        ("LOCALHOST:1", True),
        ("[::1]:8710", True),
        ("192.168.1.7:80", True),
        ("crawl.example.org:80", True),
        ("crawl.example.org.", True),
        ("evil.example", False),
        ("localhost.evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("crawl.example.org@evil.example", False),
        ("127.0.0.1:80:80", False),
        ("localhost:x", False),
        ("[::1]x", False),
        ("", False),
    ],
)
async def test_a_name_bound_to_our_address_is_not_ours(host: str, ours: bool) -> None:
    """DNS rebinding needs a name; bare addresses and the names that we were told are safe."""
    app = guard(Access(frozenset({"crawl.example.org"})))

    answer = await ask(app, "/", host=host)

    assert answer.status == (200 if ours else 421)


async def test_every_answer_carries_the_policy() -> None:
    """Refusals too."""
    for app in (guard(Access()), guard(Access(token=TOKEN)), guard(Access(), burst=0.0)):
        answer = await ask(app, "/")
        assert HEADERS.items() <= answer.headers.items()
        assert "unsafe" not in answer.headers["content-security-policy"]


async def test_a_client_that_asks_too_often_waits() -> None:
    """Others do not."""
    app = guard(Access(), burst=2.0)

    assert [(await ask(app, "/")).status for _ in range(3)] == [200, 200, 429]


def test_a_bucket_fills_again() -> None:
    """At its rate, up to its burst; and it forgets whom it has not heard of for longest."""
    now_s = [0.0]
    buckets = TokenBuckets(2.0, 2.0, lambda: now_s[0], at_most=2)

    assert [buckets.take("a") for _ in range(3)] == [True, True, False]
    now_s[0] = 0.5
    assert [buckets.take("a") for _ in range(2)] == [True, False]
    assert buckets.take("b")
    assert buckets.take("c")
    assert buckets.take("a")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"authorization": f"Bearer {TOKEN}"}, 200),
        ({"authorization": f"bearer {TOKEN}"}, 200),
        ({"authorization": f"Basic {TOKEN}"}, 401),
        ({"authorization": "Bearer wrong"}, 401),
        ({"authorization": "Bearer é"}, 401),
        ({"cookie": f"{COOKIE}=wrong"}, 401),
        ({"cookie": f"{COOKIE}={TOKEN}"}, 401),
        ({"cookie": "\x00;;=;"}, 401),
    ],
)
async def test_a_token_is_asked_for(headers: dict[str, str], status: int) -> None:
    """In the Authorization header; a cookie holds a session and never the token."""
    app = guard(Access(token=TOKEN))

    assert (await ask(app, "/", method="GET", body=b"", **headers)).status == status


async def test_a_session_is_worth_nothing_to_another_process() -> None:
    """Its key is made anew at each start."""
    first, second = Access(token=TOKEN), Access(token=TOKEN)

    own = await ask(guard(first), "/", cookie=f"{COOKIE}={first.session}")
    other = await ask(guard(second), "/", cookie=f"{COOKIE}={first.session}")

    assert (own.status, other.status) == (200, 401)
    assert not second.knows(Headers({"cookie": f"{COOKIE}={first.session}"}))
