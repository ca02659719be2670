"""The sinks that a configuration names."""

import re
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, parse_qsl, urlsplit

from recrawl.crawler.settings.checks import at_least, duration
from recrawl.crawler.settings.file import Deliver
from recrawl.crawler.settings.values import SinkSettings
from recrawl.errors import InvalidSettings

_ENGINES: Final = {
    "opensearch": ("bulk", "https://host:9200/index"),
    "elasticsearch": ("bulk", "https://host:9200/index"),
    "meilisearch": ("meilisearch", "https://host:7700/index"),
    "typesense": ("typesense", "https://host:8108/collection"),
    "solr": ("solr", "https://host:8983/solr/core"),
}
_FILES: Final = {".ndjson": "lines", ".zst": "lines", ".parquet": "tables"}
_TABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}(\.[A-Za-z_][A-Za-z0-9_]{0,62})?")
_OBJECT: Final = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LONGEST_NAME: Final = 200
_WHOLE_RECORDS: Final = (
    "webhook", "command", "python", "bulk", "meilisearch", "typesense", "solr", "lines"
)  # fmt: skip
_KNOWN: Final = (
    "postgresql://user@host/database, https://host/path (a webhook), "
    "opensearch+https://host:9200/index (elasticsearch, meilisearch, typesense and solr likewise), "
    "or a file ending in .ndjson, .ndjson.zst or .parquet"
)


def sink_settings(
    given: Sequence[Deliver], folder: Path, *, importance: bool
) -> tuple[SinkSettings, ...]:
    """Return what the ``[[deliver]]`` tables mean.

    Parameters
    ----------
    given : the tables
    folder : from which paths are meant
    importance : whether the feed tells what pages are worth

    Raises
    ------
    InvalidSettings
        One cannot be, or two have the same name.
    """
    sinks: dict[str, SinkSettings] = {}
    for one in given:
        sink = _sink(one, folder, importance=importance)
        if sink.name in sinks:
            raise InvalidSettings(
                f"deliver: {sink.name!r} is there twice; give one of them another name"
            )
        sinks[sink.name] = sink
    return tuple(sinks.values())


def _sink(given: Deliver, folder: Path, *, importance: bool) -> SinkSettings:
    if sum((given.to is not None, bool(given.command), given.python is not None)) != 1:
        raise InvalidSettings(f"deliver: give one of to, command and python; to is {_KNOWN}")
    if given.python is not None:
        if not _OBJECT.fullmatch(given.python):
            raise InvalidSettings(
                f"deliver.python: {given.python[:200]!r} names nothing; write a module and what is "
                'in it that makes the sink, as "mypackage.sinks:Embeddings"'
            )
        kind, to, name = "python", given.python, given.python[:_LONGEST_NAME]
    elif given.to is None:
        if not given.command[0] or any("\0" in word for word in given.command):
            raise InvalidSettings(
                f"deliver.command: {given.command!r} is no command; write a program and its "
                'arguments, as ["python3", "embed.py"]'
            )
        kind, to, name = "command", "", " ".join(given.command)[:_LONGEST_NAME]
    else:
        kind, to, name = _where(given.to, folder)
    where = f"deliver, {name}"
    if given.importance and not importance:
        raise InvalidSettings(
            f"{where}: importance = true, but the feed does not tell it; write importance = true "
            "under [feed] too"
        )
    return SinkSettings(
        name=_name(given.name, name),
        kind=kind,
        to=to,
        command=tuple(given.command),
        content=_one_of(f"{where}: content", given.content, ("none", "text", "markdown", "html")),
        chunk=_chunk(where, given, kind),
        paths=_paths(where, given.paths),
        keeps_removed=_one_of(f"{where}: removals", given.removals, ("delete", "mark")) == "mark",
        table=_table(where, given.table),
        batch=at_least(f"{where}: batch", given.batch, 1, 10_000),
        importance=importance and given.importance is not False,
        secret_file=None if given.secret_file is None else folder / given.secret_file,
        secret_env=_secret_env(where, given),
        timeout_s=duration(f"{where}: timeout", given.timeout, 0.1),
        retry_for_s=duration(f"{where}: retry_for", given.retry_for, 0.0)
        if kind in ("webhook", "command", "python")
        else inf,
    )


def _where(to: str, folder: Path) -> tuple[str, str, str]:
    """Return kind, address and a name without secrets."""
    if not to or not to.isprintable() or len(to) > 2_000:
        raise InvalidSettings(f"deliver.to: {to[:200]!r} is no address; write {_KNOWN}")
    if "://" not in to:
        return _file(to, folder)
    try:
        parts = urlsplit(to)
        has_host = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        raise InvalidSettings(f"deliver.to: {_shown(to)!r} is no address; write {_KNOWN}") from None
    _check_secrets(to, parts)
    if parts.scheme in ("postgresql", "postgres"):
        return "postgresql", to, to.partition("?")[0][:_LONGEST_NAME]
    if any(sign.isspace() or not sign.isascii() for sign in to) or not has_host:
        raise InvalidSettings(f"deliver.to: {_shown(to)!r} is no address; write {_KNOWN}")
    return _web(to, parts)


def _file(to: str, folder: Path) -> tuple[str, str, str]:
    kind = _FILES.get(Path(to).suffix)
    if kind is None or (to.endswith(".zst") and not to.endswith(".ndjson.zst")):
        raise InvalidSettings(f"deliver.to: {to!r} has no ending that is known; write {_KNOWN}")
    if kind == "tables" and "{seq}" not in to:
        raise InvalidSettings(
            f"deliver.to: {to!r} needs {{seq}}, where the numbers of its changes stand: each "
            'batch makes a table, as "changes/{date}-{seq}.parquet"'
        )
    return kind, str(folder / to), to[:_LONGEST_NAME]


def _web(to: str, parts: SplitResult) -> tuple[str, str, str]:
    name = to.partition("?")[0][:_LONGEST_NAME]
    if parts.scheme in ("http", "https"):
        return "webhook", to.partition("#")[0], name
    scheme, _, inner = parts.scheme.partition("+")
    if scheme not in _ENGINES or inner not in ("http", "https"):
        raise InvalidSettings(
            f"deliver.to: nothing is known of {parts.scheme!r} ({_shown(to)!r}); write {_KNOWN}"
        )
    kind, example = _ENGINES[scheme]
    names = parts.path.strip("/").split("/")
    if not names[0] or len(names) != example.count("/") - 2:
        raise InvalidSettings(
            f"deliver.to: {_shown(to)!r} must end with the name of an index, as {scheme}+{example}"
        )
    return kind, to.partition("+")[2].partition("?")[0], name


def _check_secrets(to: str, parts: SplitResult) -> None:
    """Refuse secrets in an address: it is shown, and kept in the state."""
    is_database = parts.scheme in ("postgresql", "postgres")
    secret = parts.password is not None or (parts.username is not None and not is_database)
    if is_database:
        secret = secret or any("password" in key.lower() for key, _ in parse_qsl(parts.query))
    if secret:
        raise InvalidSettings(
            f"deliver.to: {_shown(to)!r} holds a secret; leave it out here and name a file with "
            "secret_file, or an environment variable with secret_env"
        )


def _shown(to: str) -> str:
    """Return an address without what may be secret in it."""
    scheme, _, rest = to.partition("://")
    place = rest.partition("/")[0].rpartition("@")[2]
    return f"{scheme}://{place[:200]}"


def _name(given: str | None, otherwise: str) -> str:
    if given is None:
        return otherwise
    if not given.strip() or not given.isprintable() or len(given) > _LONGEST_NAME:
        raise InvalidSettings(
            f'deliver.name: {given[:200]!r} is no name; write a word, as name = "search"'
        )
    return given


def _one_of(key: str, given: str, known: Sequence[str]) -> str:
    if given not in known:
        raise InvalidSettings(f"{key}: {given!r} is not one of {', '.join(known)}")
    return given


def _chunk(where: str, given: Deliver, kind: str) -> int:
    if not given.chunks:
        return 0
    if kind not in _WHOLE_RECORDS or given.content == "none":
        raise InvalidSettings(
            f"{where}: chunks come with content, to a webhook, a command, Python, a search engine "
            "or files of lines; this one takes none"
        )
    return at_least(f"{where}: chunks", given.chunks, 50, 100_000)


def _paths(where: str, given: Sequence[str]) -> tuple[str, ...]:
    if any(not pattern for pattern in given):
        raise InvalidSettings(f"{where}: a path pattern is empty; write one such as /docs/*")
    return tuple(given)


def _table(where: str, given: str) -> str:
    if not _TABLE.fullmatch(given):
        raise InvalidSettings(
            f"{where}: table {given[:100]!r} is no name of letters, digits and underscores, with a "
            "schema before a full stop where that is needed"
        )
    return given


def _secret_env(where: str, given: Deliver) -> str | None:
    if given.secret_env is None:
        return None
    if given.secret_file is not None:
        raise InvalidSettings(f"{where}: give either secret_file or secret_env, not both")
    if not _VARIABLE.fullmatch(given.secret_env):
        raise InvalidSettings(
            f"{where}: secret_env is no name of an environment variable; the secret itself does "
            "not belong here"
        )
    return given.secret_env
