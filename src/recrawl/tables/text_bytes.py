"""The bytes of a table or of a configuration that people bring, checked before any reader has them.

One rule for every verb: text is UTF-8, with or without a byte order mark, holds no NUL, and is not
nested so deeply that a reader would run out of stack.
"""

import codecs
import io
import re
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np
from typing_extensions import override

from recrawl.errors import InvalidTable

MAX_NESTING: Final = 64  # of lists and objects; a table needs two
_LONGEST_LINE: Final = 64 << 20
_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_BRACKETS: Final = re.compile(rb"[\[\]{}]")


class CheckedBytes(io.RawIOBase):
    """A file of text, read piece by piece; refused where the rule is broken.

    Parameters
    ----------
    file : open for reading bytes
    path : what messages call it
    is_json : whether its lines may be nested
    """

    def __init__(self, file: BinaryIO, path: Path, *, is_json: bool) -> None:
        super().__init__()
        self._file = file
        self._path = path
        self._is_json = is_json
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._lines = 0  # that ended before what is read next
        self._line = b""  # the one that has not ended yet
        self._first = True

    @override
    def read(self, size: int = -1) -> bytes:
        """Return the next bytes.

        Raises
        ------
        InvalidTable
            They are no UTF-8, hold a NUL, or are nested too deeply; with the line.
        """
        block = self._file.read(size)
        self._check(block)
        if self._first and block.startswith(codecs.BOM_UTF8):
            block = block[len(codecs.BOM_UTF8) :]
        self._first = False
        return block

    @override
    def readable(self) -> bool:
        return True

    @override
    def tell(self) -> int:
        return self._file.tell()

    @override
    def close(self) -> None:
        self._file.close()
        super().close()

    def _check(self, block: bytes) -> None:
        nul = block.find(b"\0")
        if nul >= 0:
            raise InvalidTable(
                f"{self._path}, line {self._number(block, nul)}: holds a NUL; text has none"
            )
        try:
            self._decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            line = self._number(bytes(error.object), error.start)
            raise InvalidTable(
                f"{self._path}, line {line}: is not UTF-8; save the file as UTF-8"
            ) from None
        if self._is_json:
            self._check_nesting(self._line + block, is_last=not block)
        last = block.rfind(b"\n")
        if self._is_json:
            self._line = block[last + 1 :] if last >= 0 else self._line + block
            if len(self._line) > _LONGEST_LINE:
                raise InvalidTable(
                    f"{self._path}, line {self._lines + 1}: is longer than {_LONGEST_LINE >> 20} "
                    "MiB; JSON Lines has one object in each line"
                )
        self._lines += block.count(b"\n")

    def _number(self, text: bytes, place: int) -> int:
        return self._lines + text.count(b"\n", 0, place) + 1

    def _check_nesting(self, text: bytes, *, is_last: bool) -> None:
        """Look closely at lines with many brackets, or with brackets that are left open.

        An object that goes on in the next line is none to us, but it is to the reader: nesting
        would then grow from line to line.
        """
        codes = np.frombuffer(text, np.uint8)
        signs = np.zeros(256, np.int64)
        signs[list(b"[{")], signs[list(b"]}")] = 1, -1
        steps = signs[codes]
        opened = np.concatenate([[0], np.cumsum(steps > 0)])
        depths = np.concatenate([[0], np.cumsum(steps)])
        starts = np.concatenate([[0], np.flatnonzero(codes == ord("\n")) + 1])
        ends = np.concatenate([starts[1:], [codes.size]])
        odd = (opened[ends] - opened[starts] > MAX_NESTING) | (depths[ends] != depths[starts])
        for line in np.flatnonzero(odd):
            name = f"{self._path}, line {self._lines + int(line) + 1}"
            depth = check_nesting(text[starts[line] : ends[line]], name)
            if depth and (is_last or line < starts.size - 1):
                raise InvalidTable(
                    f"{name}: not a JSON object on one line; JSON Lines has one in each line"
                )


def check_nesting(text: bytes, name: str) -> int:
    """Refuse JSON whose lists and objects are nested too deeply for any reader. O(n).

    Parameters
    ----------
    text : n bytes of JSON, or a piece of it that does not begin within a string
    name : what messages call it

    Returns
    -------
    How many of them are left open; negative where more are closed than were opened.

    Raises
    ------
    InvalidTable
        Deeper than ``MAX_NESTING``.
    """
    depth = 0
    for sign in _BRACKETS.findall(_STRING.sub(b"", text)):
        depth += 1 if sign in b"[{" else -1
        if depth > MAX_NESTING:
            raise InvalidTable(f"{name}: is nested more than {MAX_NESTING} deep")
    return depth


def read_text_bytes(path: Path, *, is_json: bool = False) -> bytes:
    """Read a file of text whole, by the rule of this module, without its byte order mark.

    Parameters
    ----------
    path : of the file
    is_json : check its nesting too

    Raises
    ------
    InvalidTable
        It cannot be read, or breaks the rule.
    """
    try:
        with path.open("rb") as file:
            checked = CheckedBytes(file, path, is_json=False)
            content = checked.read()
            checked.read(0)  # where the last character was cut
    except OSError as error:
        raise InvalidTable(f"{path}: cannot be read: {error.strerror or error}") from None
    if is_json:
        check_nesting(content, str(path))
    return content
