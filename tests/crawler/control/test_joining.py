"""What joining keeps is what joining anew would find."""

import ada_url
from hypothesis import given
from hypothesis import strategies as st

from recrawl.crawler.control.urls import _joined, join, normalise

HOSTS = st.sampled_from(
    ["http://a.test", "https://b.a.test:8080", "http://127.0.0.1:90", "http://[::1]", "http://é.x"]
)
PATHS = st.text(alphabet="ab/.?%;#&=\\: ", max_size=12)
REFERENCES = st.one_of(
    st.builds(
        "{}{}".format, st.sampled_from(["http://c.test", "https:", "http:", "//d", "/", ""]), PATHS
    ),
    st.text(max_size=20),
)


@given(HOSTS, PATHS, REFERENCES)
def test_joining_by_the_host_alone_changes_nothing(host: str, path: str, reference: str) -> None:
    """Where a reference leads hangs on no more of the page than what the answer is kept under."""
    base = normalise(f"{host}/{path}")
    assert base is not None

    assert join(base, reference) == _joined.__wrapped__(base, reference)


@given(HOSTS, PATHS)
def test_references_that_say_all_ignore_the_page(host: str, path: str) -> None:
    """As the standard's parser has it."""
    reference = f"{host}/{path}"

    assert ada_url.join_url("https://z.test/y?x", reference) == ada_url.normalize_url(reference)
