"""The site that is served is searched by recrawl itself."""

import importlib.util
import urllib.request
from pathlib import Path
from types import ModuleType

import pytest

from recrawl.terms import Hit

SERVE = Path(__file__).parent.parent / "docs" / "serve.py"


@pytest.fixture(scope="module")
def serve() -> ModuleType:
    spec = importlib.util.spec_from_file_location("serve_docs", SERVE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_search_is_answered_from_a_crawl_of_the_site(serve: ModuleType, tmp_path: Path) -> None:
    """The page is found by its words; its files are served as they are."""
    site, state = tmp_path / "site", tmp_path / "state"
    site.mkdir()
    (site / "index.html").write_text("<title>Home</title><main><a href='owl.html'>o</a></main>")
    (site / "owl.html").write_text("<title>Owls</title><main>An owl sees in the dark.</main>")
    server = serve.serve(site, state, 0)
    home = f"http://127.0.0.1:{server.server_port}"

    def got(path: str) -> str:
        with urllib.request.urlopen(home + path, timeout=10.0) as answered:
            return str(answered.read().decode())

    try:
        n_pages = serve.index(f"{home}/", state)

        assert n_pages >= 1
        assert '<a href="owl.html">Owls</a>' in got("/search.html?q=dark+owl")
        assert "Nothing found." in got("/search.html?q=walrus")
        assert "An owl sees" in got("/owl.html")
    finally:
        server.shutdown()
        server.server_close()


def test_what_was_typed_or_crawled_is_text(serve: ModuleType) -> None:
    hit = Hit("http://a.test/x.html", "<b>bold</b>", "<script>", (), 1.0, 0.0)

    page = serve.answer('"><script>alert(1)</script>', [hit])

    assert "<script>" not in page
    assert "&lt;b&gt;bold" in page
