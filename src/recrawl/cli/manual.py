"""Shell completion and ``man`` page of the command line, made from the parser itself.

Verbs whose parts are not installed are left out, so that what is offered can be run.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Literal

from recrawl.cli.output import say, write
from recrawl.errors import InputError
from recrawl.version import VERSION

if TYPE_CHECKING:
    from cyclopts import App

Shell = Literal["bash", "zsh", "fish"]

_MARKS: Final = re.compile(r"\*\*(.+?)\*\*|`(.+?)`|(?<!\w)\*(\[.+?\])\*")
_OPTION: Final = re.compile(r"\* `(?P<names>[^`]+)`:? ?(?P<text>.*)")
_HEADING: Final = re.compile(r"#{2,} (recrawl .+)")
_FOOTER: Final = """\
.SH FILES
.TP
.I recrawl.toml
Configuration of a crawl, written by
.BR "recrawl init" .
.TP
.I recrawl-state/
State and index of a crawl.
.SH EXIT STATUS
0 done, 1 failed while running, 2 what was given is wrong, 130 stopped by Ctrl-C.
"""


def show_completion(shell: Shell, /) -> None:
    """Print what makes a shell complete verbs and options of recrawl.

    Parameters
    ----------
    shell : bash, zsh or fish
    """
    write(_installed_verbs().generate_completion(shell=shell))


def install_completion(shell: Shell | None = None, /) -> None:
    """Have a shell complete verbs and options of recrawl from its next start on.

    Parameters
    ----------
    shell : bash, zsh or fish; yours, if none is named
    """
    from cyclopts.completion.detect import ShellDetectionError

    try:
        place = _installed_verbs().install_completion(shell=shell)
    except ShellDetectionError:
        raise InputError(
            "--install-completion: your shell is not known here; name it: bash, zsh or fish"
        ) from None
    say(f"Wrote {place}. Start your shell anew, and Tab completes verbs and options of recrawl")


def show_man() -> None:
    """Print the manual page: ``recrawl --show-man | man -l -``."""
    write(manual_page(_installed_verbs().generate_docs(output_format="markdown")))


def _installed_verbs() -> "App":
    from recrawl.cli.app import app

    return _without_missing(app)


def _without_missing(app: "App") -> "App":
    for name in list(app):
        try:
            verb = app[name]  # looking a verb up imports it
        except ImportError:
            del app[name]
        else:
            if not name.startswith("-"):
                _without_missing(verb)
    return app


def manual_page(markdown: str) -> str:
    """Return the help of all verbs, as Markdown, in the language of ``man``."""
    lines = [f'.TH RECRAWL 1 "" "recrawl {VERSION}" "User Commands"', ".ad l", ".SH NAME"]
    lines += [r"recrawl \- keep an index of a changing web fresh, with the fewest fetches"]
    lines += [".SH SYNOPSIS", ".B recrawl", r".I VERB \fR[\fIOPTIONS\fR]", ".SH VERBS"]
    verbs = markdown[markdown.index("\n## recrawl ") :]
    return "\n".join([*lines, *_roff(verbs.splitlines())]) + "\n" + _FOOTER


def _roff(lines: list[str]) -> Iterator[str]:
    in_code = False
    for line in lines:
        heading, option = _HEADING.fullmatch(line), _OPTION.fullmatch(line)
        if line.startswith("```"):
            in_code = not in_code
            yield ".nf" if in_code else ".fi"
        elif in_code:
            yield _escape(line)
        elif heading:
            yield f'.SS "{heading[1]}"'
        elif option:
            yield ".TP"
            yield rf"\fB{_escape(option['names'])}\fR"
            yield _text(option["text"])
        elif line.strip():
            yield _text(line.strip())
        else:
            yield ".PP"


def _escape(text: str) -> str:
    safe = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{safe}" if safe.startswith((".", "'")) else safe


def _text(line: str) -> str:
    plain = line.replace(r"\[", "[")
    return _escape(_MARKS.sub(lambda found: found[1] or found[2] or found[3], plain))
