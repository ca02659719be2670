"""Arguments typed after ``recrawl``: checked before they are parsed, and parse errors explained.

Every message is ours: it names the argument, the value, and what would be right.
"""

import difflib
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, get_args, get_origin

from cyclopts import CycloptsError
from cyclopts.exceptions import (
    CoercionError,
    MissingArgumentError,
    RepeatArgumentError,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
)

from recrawl.errors import InputError

_NEGATIVE: Final = re.compile(r"-[0-9.]")
_STREAMED: Final = ("--log", "--from")  # a lone hyphen after these is a standard stream
_KINDS: Final = {int: "a whole number", float: "a number", bool: "yes or no"}


def checked_arguments(arguments: Sequence[str]) -> list[str]:
    """Return arguments in which a value such as ``-1s`` or ``-`` belongs to the option before it.

    Raises
    ------
    InputError
        One is no UTF-8, holds a NUL, or is longer than any that means something.
    """
    checked: list[str] = []
    for number, argument in enumerate(arguments, start=1):
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise InputError(f"argument {number}: {argument!r} is not UTF-8") from None
        if "\0" in argument:
            raise InputError(f"argument {number}: {argument!r} holds a NUL")
        before = checked[-1] if checked else ""
        is_option = before.startswith("--") and len(before) > 2 and "=" not in before
        streamed = argument == "-" and before in _STREAMED
        if streamed or (is_option and _NEGATIVE.match(argument)):
            checked[-1] = f"{before}={argument}"
        else:
            checked.append(argument)
    return checked


def complaint(error: CycloptsError) -> str:
    """Return what is wrong with arguments that could not be parsed."""
    name = _name(error)
    match error:
        case MissingArgumentError():
            if error.keyword or (error.argument is not None and error.argument.tokens):
                return f"{name}: needs a value after it"
            return f"{name} is missing; see recrawl {_verb(error)}--help"
        case UnknownOptionError():
            option = error.token.keyword or error.token.value
            known = [name for one in error.argument_collection if one.parse for name in one.names]
            near = difflib.get_close_matches(option, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"see recrawl {_verb(error)}--help"
            return f"{option}: there is no such option; {hint}"
        case CoercionError() if error.token is not None:
            return f"{name}: {error.token.value!r} is not {_wanted(error.target_type)}"
        case RepeatArgumentError():
            return f"{error.token.keyword or name}: is given twice; once is enough"
        case UnknownCommandError() | UnusedCliTokensError():
            return _unknown_word(error)
        case _:
            return f"{name}: cannot be understood; see recrawl {_verb(error)}--help"


def _name(error: CycloptsError) -> str:
    keyword = getattr(error, "keyword", None) or getattr(
        getattr(error, "token", None), "keyword", None
    )
    if keyword:
        return str(keyword)
    if error.argument is None:
        return "the command line"
    return str(error.argument.name) if error.argument.name else "an argument"


def _verb(error: CycloptsError) -> str:
    return "".join(f"{part} " for part in error.command_chain or ())


def _wanted(kind: object) -> str:
    if get_origin(kind) is Literal:
        return f"one of {', '.join(map(str, get_args(kind)))}"
    return _KINDS.get(kind, "what is wanted there") if isinstance(kind, type) else "wanted there"


def _unknown_word(error: CycloptsError) -> str:
    words = error.unused_tokens or ["?"]
    known = [] if error.app is None else [name for name in error.app if not name.startswith("-")]
    near = difflib.get_close_matches(words[0], known, n=1)
    if isinstance(error, UnknownCommandError):
        hint = f"did you mean {near[0]!r}?" if near else f"the verbs are {', '.join(known)}"
        return f"{words[0]!r} is no verb; {hint}"
    option = _option_for(words[0], error)
    hint = f"did you mean {option}?" if option else f"see recrawl {_verb(error)}--help"
    return f"{words[0]!r} is one argument too many; {hint}"


def _option_for(word: str, error: CycloptsError) -> str | None:
    """Return how a crawl is named that was named by position, as `run` takes its configuration."""
    if error.app is None:
        return None
    known = {name for one in error.app.assemble_argument_collection() for name in one.names}
    is_folder = len(word) < 256 and Path(word).is_dir()  # a longer name is that of no file
    means_state = word.startswith("postgresql://") or is_folder
    for option, is_meant in (("--config", word.endswith(".toml")), ("--state", means_state)):
        if is_meant and option in known:
            return f"{option} {shlex.quote(word)}"
    return None
