"""Engines without versions of their own: what they refuse, their nonsense, their keys."""

from collections.abc import Iterator

import pytest
from tests.acceptance.servers import serving
from tests.crawler.delivery.engines import Meilisearch, ScriptedEngine, Solr, Typesense

from recrawl.crawler.delivery.engines import MeilisearchSink, SolrSink, TypesenseSink
from recrawl.crawler.ports import Sink
from recrawl.errors import SinkError
from recrawl.testing.conformance.sinks import item_of

KINDS = {
    "meilisearch": (Meilisearch, MeilisearchSink, "docs", {"authorization": "Bearer user:pass"}),
    "typesense": (Typesense, TypesenseSink, "docs", {"x-typesense-api-key": "user:pass"}),
    "solr": (Solr, SolrSink, "solr/docs", {"authorization": "Basic dXNlcjpwYXNz"}),
}


@pytest.fixture(params=KINDS)
def engine(request: pytest.FixtureRequest) -> Iterator[tuple[ScriptedEngine, Sink, dict[str, str]]]:
    make, kind, path, sent = KINDS[request.param]
    behind = make()
    with serving(behind) as server:
        url = f"http://127.0.0.1:{server.port}/{path}"
        sink = kind(url, secret=lambda: b"user:pass", timeout_s=5.0)
        yield behind, sink, sent
        sink.close()


def verdicts(sink: Sink, *what: str) -> list[str]:
    items = [item_of(seq, one) for seq, one in enumerate(what, start=1)]
    return [one.verdict.value for one in sink.apply(items, "")]


def test_a_page_that_is_refused_holds_up_no_other(
    engine: tuple[ScriptedEngine, Sink, dict[str, str]],
) -> None:
    """Also where an engine refuses the whole batch for it; keys go where they are looked for."""
    behind, sink, sent = engine
    behind.refuses = {"c"}

    assert verdicts(sink, "na", "nb", "nc", "rd", "ne") == ["ok", "ok", "reject", "ok", "ok"]
    assert behind.versions() == {"a": 1, "b": 2, "e": 5}
    assert sent.items() <= behind.headers.items()


def test_what_is_too_large_is_halved(engine: tuple[ScriptedEngine, Sink, dict[str, str]]) -> None:
    """And a page that is too large by itself is put aside, though it is the only one."""
    behind, sink, _ = engine
    behind.most_bytes = 4_000
    items = [item_of(seq, f"n{seq}", "x" * (9_000 if seq == 3 else 900)) for seq in range(1, 6)]

    taken = [one.verdict.value for one in sink.apply(items, "")]
    assert taken == ["ok", "ok", "reject", "ok", "ok"]
    assert [one.verdict.value for one in sink.apply(items[2:3], "")] == ["reject"]


def test_one_change_that_comes_twice_in_a_batch_counts_once(
    engine: tuple[ScriptedEngine, Sink, dict[str, str]],
) -> None:
    """The last word of each page holds."""
    behind, sink, _ = engine

    assert verdicts(sink, "na", "ca", "ra", "nb", "rb", "nb") == ["ok"] * 6
    assert behind.versions() == {"b": 6}


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, "no json"),
        (200, "[" * 100_000),
        (200, "7"),
        (200, '{"results": [7], "response": {"docs": [7]}}'),
        (200, '{"url": "http://a.test/a"}'),
        (400, '{"message": "bad \\u001b[31m index"}'),
        (401, '{"message": "no key"}'),
        (500, ""),
    ],
)
def test_an_engine_that_answers_nonsense_is_asked_again(
    engine: tuple[ScriptedEngine, Sink, dict[str, str]], status: int, body: str
) -> None:
    """No page is put aside for it."""
    behind, sink, _ = engine
    behind.answer = (status, body)

    with pytest.raises(SinkError) as failed:
        verdicts(sink, "na", "nb")
    assert str(failed.value).isprintable()


def test_a_scan_goes_on_to_the_end(
    engine: tuple[ScriptedEngine, Sink, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Page by page."""
    monkeypatch.setattr("recrawl.crawler.delivery.engines._SCANNED", 2)
    _, sink, _ = engine
    verdicts(sink, "na", "nb", "nc", "nd", "ne")

    assert sorted(sink.scan() or ()) == [
        (f"http://a.test/{name}", n) for n, name in enumerate("abcde", 1)
    ]
