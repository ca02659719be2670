"""`recrawl serve`: search and a live view of the crawl, in a browser."""

import asyncio
import os
import signal
from pathlib import Path
from urllib.parse import urlsplit

from recrawl.cli.crawler.place import HERE, CrawlNamed
from recrawl.cli.options import Quiet, UntilEof
from recrawl.cli.output import note
from recrawl.cli.sizes import check_whole
from recrawl.crawler.settings import load_settings
from recrawl.errors import InputError
from recrawl.web.guard import Access
from recrawl.web.listening import (
    PORT,
    SHORTEST_TOKEN,
    bind,
    is_loopback,
    origin_of,
    read_token,
)
from recrawl.web.server import serve as serve_pages


def serve(
    *,
    crawl: CrawlNamed = HERE,
    port: int = PORT,
    listen: str = "127.0.0.1",
    token_file: Path | None = None,
    name: tuple[str, ...] = (),
    behind_tls: bool = False,
    quiet: Quiet = False,
    until_eof: UntilEof = False,
) -> int:
    """Show search, the live crawl, any page explained, and what-ifs in a browser.

    Reads the state beside a running crawl or after it, and changes nothing. Only this machine
    reaches it, unless --listen names another address; then a token is needed, from --token-file or
    from the environment variable RECRAWL_TOKEN.

    Parameters
    ----------
    port
        Port to listen on; 0 for any that is free.
    listen
        Address to listen on, such as 0.0.0.0 for every one of this machine.
    token_file
        File with the token that is asked for, 16 characters or more.
    name
        Host name that this server may be asked by, beside localhost and addresses; may be given
        more than once.
    behind_tls
        Browsers reach this through a server that encrypts: cookies are then sent over TLS only.
    quiet
        Do not print the address.
    """
    check_whole("--port", port, 65_535, least=0)
    token = _token(token_file)
    if not is_loopback(listen) and token is None:
        raise InputError(
            f"--listen: {listen} is open to other machines, which needs a token: name a file with "
            "--token-file, or set RECRAWL_TOKEN"
        )
    directory = crawl.place()
    settings = load_settings(crawl.path) if crawl.state is None else None
    listener = bind(listen, port)
    names = {part.lower() for part in name}
    if settings is not None and settings.callback:  # by which hubs ask
        names.add(urlsplit(settings.callback).hostname or "")
    access = Access(frozenset(names), token, behind_tls)

    def on_start() -> None:
        if not quiet:
            where = origin_of(listener)
            note(f"Look at {where}/ (Ctrl-C ends it)")
        if until_eof:  # beside a crawl, which goes first
            os.nice(10)
            try:
                asyncio.get_running_loop().add_reader(0, _end_with_input)
            except PermissionError:  # a file, whose end is reached already
                signal.raise_signal(signal.SIGTERM)

    asyncio.run(
        serve_pages(
            listener,
            directory,
            access=access,
            settings=settings,
            config=str(crawl.path) if crawl.state is None else "CONFIG",
            on_start=on_start,
        )
    )
    return 0


def _end_with_input() -> None:
    if not os.read(0, 4096):
        asyncio.get_running_loop().remove_reader(0)
        signal.raise_signal(signal.SIGTERM)


def _token(file: Path | None) -> str | None:
    if file is not None:
        return read_token(file)
    token = os.environ.get("RECRAWL_TOKEN")
    if token is not None and len(token.strip()) < SHORTEST_TOKEN:
        raise InputError(f"RECRAWL_TOKEN: a token needs at least {SHORTEST_TOKEN} characters")
    return token.strip() if token is not None else None
