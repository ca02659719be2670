"""A robot policy that people bring as JSON, to be compared with the optimum."""

from pathlib import Path

import msgspec
import numpy as np

from recrawl.crawler.settings.toml import explain_mismatch
from recrawl.errors import InvalidTable
from recrawl.fleet import ControlledBuffer, RobotPolicy
from recrawl.kernels.arrays import Flags
from recrawl.tables.text_bytes import read_text_bytes


class PolicyFile(msgspec.Struct, forbid_unknown_fields=True):
    """Content of a policy file: targets, or both tables."""

    targets: list[int] | None = None
    arrival: list[list[bool | int]] | None = None
    departure: list[list[bool | int]] | None = None

    def __call__(self, model: ControlledBuffer) -> RobotPolicy:
        """Return the policy for a model's numbers of pages and robots."""
        if self.targets is not None:
            if len(self.targets) != model.buffer + 1:
                raise InvalidTable(
                    f"--policy: targets has {len(self.targets)} entries; a buffer of "
                    f"{model.buffer} needs {model.buffer + 1}, one for each of 0..{model.buffer}"
                )
            return RobotPolicy.from_targets(tuple(self.targets), model.robots)
        tables = [_table(name, getattr(self, name), model) for name in ("arrival", "departure")]
        return RobotPolicy(*tables)


def _table(name: str, rows: list[list[bool | int]] | None, model: ControlledBuffer) -> Flags:
    shape = (model.buffer + 1, model.robots + 1)
    if rows is None:
        raise InvalidTable(f"--policy: no {name}; give targets, or both arrival and departure")
    for number, row in enumerate(rows):
        if len(row) != shape[1]:
            raise InvalidTable(
                f"--policy: {name}, row {number} has {len(row)} entries; {model.robots} robots "
                f"need {shape[1]}, for 0..{model.robots} active"
            )
    if len(rows) != shape[0]:
        raise InvalidTable(
            f"--policy: {name} has {len(rows)} rows; a buffer of {model.buffer} needs {shape[0]}"
        )
    table = np.array(rows, dtype=np.int64)
    wrong = np.argwhere((table != 0) & (table != 1))
    if wrong.size:
        q, r = wrong[0]
        raise InvalidTable(f"--policy: {name}, row {q}, column {r}: {table[q, r]} is not 0 or 1")
    return table.astype(np.bool_)


def read_policy_file(path: Path) -> PolicyFile:
    """Read a policy; call the result with a model to get it in that model's size.

    Raises
    ------
    InvalidTable
        If the file cannot be read or holds something else.
    """
    try:
        found = msgspec.json.decode(read_text_bytes(path, is_json=True), type=PolicyFile)
    except msgspec.ValidationError as error:
        raise InvalidTable(
            f'{path}: {explain_mismatch(str(error))}; write {{"targets": [...]}} or both tables '
            "of 0 and 1"
        ) from error
    except (msgspec.MsgspecError, RecursionError) as error:
        raise InvalidTable(
            f'{path}: is no JSON; write {{"targets": [...]}} or both tables of 0 and 1'
        ) from error
    return found
