"""Questions, checked: every refusal names the part and its value. And answers as JSON."""

from collections.abc import Mapping
from math import isfinite

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from recrawl.errors import InputError
from recrawl.quantities import parse_duration_s, parse_rate_per_s
from recrawl.web.pages.search import AGES, SearchQuestion

_MOST_PER_S, _LEAST_PER_S = 1e6, 1e-9  # budgets that can be asked about
_SHORTEST_S, _LONGEST_S = 1e-4, 1e9  # and delays


async def asked_body(
    request: Request,
    most: int = 1_048_576,
    too_long: str = "That is too long: at most 1 MiB at once.",
) -> bytes:
    """Return the body of a request, of at most so many bytes."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > most:
            raise HTTPException(413, too_long)
    return body


def as_json(answer: object, status: int = 200) -> Response:
    """Return an answer as JSON."""
    return Response(msgspec.json.encode(answer), status, media_type="application/json")


def asked_search(asked: Mapping[str, str]) -> SearchQuestion:
    """Return what is searched for: text, host, age and page."""
    page = asked.get("page", "1")
    age = asked.get("age", "")
    if age not in AGES:
        raise InputError(f"age: {age!r} is none of {', '.join(filter(None, AGES))}")
    if not page.isascii() or not page.isdigit() or not 1 <= int(page[:6]) <= 100:
        raise InputError(f"page: {page!r} must be a number from 1 to 100")
    text = " ".join(asked.get("q", "").split())[:1_000]
    return SearchQuestion(text, asked.get("host", "").strip().lower()[:300], age, int(page[:6]))


def asked_rate(text: str | None) -> float | None:
    """Return a budget; None where none was asked about."""
    if text is None:
        return None
    rate = parse_rate_per_s(text, name="budget")
    if not _LEAST_PER_S <= rate <= _MOST_PER_S:
        raise InputError(f"budget: {text!r} must be between 0.04/y and {_MOST_PER_S:,.0f}/s")
    return rate


def asked_delay(text: str | None) -> float | None:
    """Return a least delay; None where none was asked about."""
    if text is None:
        return None
    delay = parse_duration_s(text, name="delay")
    if not _SHORTEST_S <= delay <= _LONGEST_S:
        raise InputError(f"delay: {text!r} must be between 0.1ms and 30y")
    return delay


def asked_weight(text: str | None) -> float | None:
    """Return a starvation weight; None where none was asked about."""
    if text is None:
        return None
    try:
        weight = float(text)
    except ValueError:
        weight = -1.0
    if not (isfinite(weight) and 1e-6 <= weight <= 1e6):
        raise InputError(f"starvation_weight: {text!r} must be a number from 1e-6 to 1e6")
    return weight
