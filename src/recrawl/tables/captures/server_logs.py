"""Access logs in which a crawler asked only for what is new: 304 says that nothing had changed."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from recrawl.errors import InvalidTable
from recrawl.tables.access_logs import read_line
from recrawl.tables.captures.lines import read_lines
from recrawl.tables.captures.looks import Look, Tally

WANTED: Final = "lines of the combined format, or JSON with method, uri, status, time, user agent"


@dataclass(slots=True)
class AgentLog:
    """Reads what one crawler asked for.

    Parameters
    ----------
    agent : part of the user agent that it shows, in any case
    host : scheme, name and port of the pages where the lines do not tell; "": they must
    n_not_modified : answers 304 so far
    n_of_agent : its requests so far
    """

    agent: str
    host: str = ""
    n_not_modified: int = 0
    n_of_agent: int = 0

    def read(self, path: Path, tally: Tally) -> Iterator[Look]:
        """Yield the visits of the crawler.

        Raises
        ------
        InvalidTable
            The file cannot be read, or its lines do not tell the host and nobody else does.
        """
        for number, raw in read_lines(path, tally):
            tally.n_records += 1
            line = read_line(raw)
            if line is None:
                tally.bad(path, f"line {number}", "is neither of the combined format nor JSON")
                continue
            if self.agent.lower() not in line.agent.lower() or line.method != "GET":
                tally.n_left_out += 1
                continue
            self.n_of_agent += 1
            name = line.host.removesuffix(":443").removesuffix(":80")  # %v:%p of Apache
            host = f"http{'s' * line.host.endswith(':443')}://{name}" if name else self.host
            if self.host.partition("://")[2] == name:
                host = self.host
            if not host:
                raise InvalidTable(
                    f"{path}, line {number}: does not tell the host; give it by --host, such as "
                    "--host https://example.org"
                )
            is_page = 200 <= line.status < 300 or line.status == 304
            self.n_not_modified += line.status == 304
            changed = line.status != 304 if is_page else None
            yield Look(host + line.target, line.at_s, None, changed, line.status)

    def check(self) -> None:
        """Refuse a log that tells nothing of changes.

        Raises
        ------
        InvalidTable
            The crawler is not in it, or never asked for what is new only.
        """
        if not self.n_of_agent:
            raise InvalidTable(f"--agent: no GET of {self.agent!r} is in the log")
        if not self.n_not_modified:
            raise InvalidTable(
                f"--agent: {self.agent!r} was never answered 304 in {self.n_of_agent:,} requests: "
                "where a crawler does not ask for what is new only, a log cannot tell a change"
            )
