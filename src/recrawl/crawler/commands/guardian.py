"""Runs a command that must not outlive us: a program of its own, started by path.

It holds the reading end of a pipe whose writing end only the crawl has. When the crawl ends,
however it ends, the pipe is closed, and the command's whole process group is killed.

    python guardian.py PIPE COMMAND...
"""

import os
import selectors
import signal
import sys

CANNOT_START = 127


def main() -> None:
    """Start the command in our place in the group; wait for its end, or for the crawl's."""
    pipe, command = int(sys.argv[1]), sys.argv[2:]
    os.set_inheritable(pipe, False)
    try:
        child = os.posix_spawnp(command[0], command, os.environ)
    except OSError:
        os._exit(CANNOT_START)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):  # the command's now: who reads its output must see its end
        os.dup2(null, stream)
    with selectors.DefaultSelector() as events:
        events.register(pipe, selectors.EVENT_READ)
        events.register(os.pidfd_open(child), selectors.EVENT_READ)
        events.select()
    os.killpg(0, signal.SIGKILL)  # what the command has started, and we


if __name__ == "__main__":
    main()
