"""`recrawl extract`: what of a page is content, tried before a crawl keeps it."""

import mimetypes
from pathlib import Path
from typing import Annotated, Final, Literal

from cyclopts import Parameter

from recrawl.cli.crawler.place import DEFAULT_CONFIG
from recrawl.cli.options import Json
from recrawl.cli.output import note, print_json, say, write
from recrawl.crawler.control.texts.chunks import chunks as chunked
from recrawl.crawler.control.urls import normalise
from recrawl.crawler.reports.markdown import as_markdown
from recrawl.crawler.runtime.feed_reader import about_of
from recrawl.crawler.settings import Settings, load_settings
from recrawl.crawler.settings.pages import check_selectors
from recrawl.crawler.settings.values import ContentSettings
from recrawl.crawler.wiring.looks import Look, look_at, read_as
from recrawl.errors import FetchError, InputError, PoisonPage, StateError
from recrawl.terms import Document, FetchResponse

_MOST_BYTES: Final = 64 * 2**20
_LEAST_CHUNK, _MOST_CHUNK = 50, 100_000


def extract(  # noqa: PLR0913 - its parameters are its options
    page: str,
    *,
    config: Path | None = None,
    url: str = "https://localhost/",
    select: str = "",
    drop: tuple[str, ...] = (),
    title: str = "",
    as_: Annotated[Literal["markdown", "text"], Parameter(name="--as")] = "markdown",
    chunks: int | None = None,
    json_: Json = False,
) -> int:
    """Show what of a page is content, as a crawl would keep it.

    By the [[content]] tables of the configuration, or by the selectors given here instead. Nothing
    is kept. What is said of the page goes to standard error, its content to standard output.

    Parameters
    ----------
    page
        Address of a page, which is fetched as the crawl would, or a file that holds one.
    config
        Configuration of the crawl.  [default: recrawl.toml, where there is one]
    url
        Of a file: the address that it has.
    select
        CSS selector of the main content.
    drop
        CSS selector of what is no content; may be given more than once.
    title
        CSS selector of the title.
    as_
        What is shown of the content: Markdown or text.
    chunks
        Show it in pieces of at most so many characters.
    """
    if chunks is not None and not _LEAST_CHUNK <= chunks <= _MOST_CHUNK:
        raise InputError(f"--chunks: {chunks} must be {_LEAST_CHUNK} to {_MOST_CHUNK} characters")
    check_selectors("--", select, drop, title)
    instead = ContentSettings("*", select, drop, title) if select or drop or title else None
    is_address = "://" in page
    settings = _settings(config, page if is_address else None)
    response = _fetched(settings, page) if is_address else _opened(Path(page), url)
    try:
        look = read_as(settings, response, instead)
    except (FetchError, PoisonPage) as error:
        raise StateError(f"{page}: {error}") from error
    document = Document.of(look.response.url, look.extract, 0.0)
    pieces = _pieces(document, chunks)
    if json_:
        print_json(_record(look, document, pieces))
        return 0
    _tell(look, document)
    if pieces is None:
        write(document.text + "\n" if as_ == "text" else as_markdown(document))
    else:
        for piece in pieces:
            say(f"--- {piece['id']}  {'#' + str(piece['anchor']) if piece['anchor'] else ''}")
            say(str(piece["text"]))
    return 0


def _settings(config: Path | None, address: str | None) -> Settings:
    if config is not None or DEFAULT_CONFIG.exists():
        return load_settings(config or DEFAULT_CONFIG)
    if address is not None:
        raise InputError(
            "a site is told who asks: write a configuration with `recrawl init URL`, and name it "
            "with --config if it is not recrawl.toml here"
        )
    return Settings(["https://localhost/"], "mailto:nobody@localhost")


def _fetched(settings: Settings, page: str) -> FetchResponse:
    url = normalise(page)
    if url is None:
        raise InputError(f"{page[:300]!r} is no http or https address")
    try:
        return look_at(settings, url)
    except FetchError as error:
        raise StateError(f"{url}: {error}") from error


def _opened(path: Path, url: str) -> FetchResponse:
    address = normalise(url)
    if address is None:
        raise InputError(f"--url: {url[:300]!r} is no http or https address")
    try:
        with path.open("rb") as file:
            body = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise InputError(
            f"{path}: {error.strerror}; name a file, or an address with http:// or https://"
        ) from error
    if len(body) > _MOST_BYTES:
        raise InputError(f"{path} is larger than {_MOST_BYTES >> 20} MiB")
    kind = mimetypes.guess_type(path.name)[0] or "text/html"
    return FetchResponse(address, 200, body, kind)


def _pieces(document: Document, most: int | None) -> list[dict[str, object]] | None:
    if most is None:
        return None
    places = document.about.places if document.about is not None else ()
    found = chunked(document.url, as_markdown(document), places, most)
    return [one._asdict() | {"headings": list(one.headings)} for one in found]


def _record(
    look: Look, document: Document, pieces: list[dict[str, object]] | None
) -> dict[str, object]:
    extract = look.extract
    record: dict[str, object] = {
        "url": document.url,
        "title": document.title,
        "selector": extract.main,
        "language": extract.language or None,
        "canonical": extract.canonical,
        "noindex": extract.noindex,
        "headings": list(document.headings),
        "links": list(extract.links),
        "text": document.text,
        "markdown": as_markdown(document),
    }
    record |= about_of(document)
    return record if pieces is None else record | {"chunks": pieces}


def _tell(look: Look, document: Document) -> None:
    extract, rule = look.extract, look.rule
    note(f"{document.url}: {document.title or 'without a title'}")
    where = f"Main content: {extract.main or 'all of it'}, {len(document.text):,} characters"
    note(f"{where} of text, {len(document.headings)} headings, {len(extract.links)} links.")
    if rule is not None and rule.select and extract.main != rule.select:
        note(f"select: there is no {rule.select} on this page; it is read as without the rule.")
    if extract.noindex:
        note("It asks not to be indexed.")
    if extract.sends_to is not None:
        note(f"It sends its reader to {extract.sends_to}, which the crawl takes as a redirect.")
    if extract.unreadable:
        note(f"It cannot be indexed: {extract.unreadable}.")
    if extract.needs_scripts:
        note("It says next to nothing without scripts; see [[render]] in the configuration.")
    about = about_of(document).get("about")
    for name, value in (about if isinstance(about, dict) else {}).items():
        shown = ", ".join(value) if isinstance(value, list) else value
        note(f"{name.capitalize()}: {shown}")
    if not document.markdown:
        note("Without lists, links and code: install recrawl[markdown] for those.")
