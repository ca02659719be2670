"""Waiting while a crawl stops."""

import asyncio
from collections.abc import Callable


async def wait_until(is_over: Callable[[], bool], deadline_s: float) -> None:
    """Wait for a condition, at most until an instant.

    Parameters
    ----------
    is_over : the condition, looked at every 10 ms
    deadline_s : by the loop's clock
    """
    loop = asyncio.get_running_loop()
    while not is_over() and loop.time() < deadline_s:  # noqa: ASYNC110 - only while stopping
        await asyncio.sleep(0.01)


async def cancelled(*tasks: asyncio.Task[None]) -> None:
    """Cancel tasks and wait for their end; what they raise is their task group's to report."""
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
