"""Reads a host's robots.txt, and what follows from it."""

from dataclasses import replace
from typing import Final

from recrawl.crawler.control.dispatching.dispatch import AskRobots, Dispatcher
from recrawl.crawler.control.dispatching.host_records import host_record
from recrawl.crawler.control.dispatching.retry import retry_after_s
from recrawl.crawler.control.dispatching.robots_txt import (
    MAX_ROBOTS_BYTES,
    MAX_ROBOTS_REDIRECTS,
    RobotsRules,
    robots_from_answer,
)
from recrawl.crawler.control.urls import host_of, join
from recrawl.crawler.control.worth.openings import RULES_HOLD_S
from recrawl.crawler.runtime.outcomes import disallowed
from recrawl.crawler.runtime.parts import Rules, World
from recrawl.crawler.runtime.recorder import Recorder
from recrawl.errors import FetchError, failure_words
from recrawl.terms import FetchResponse, Kind

_RETRY_S: Final = 300.0  # the first time; then the host is left alone for ever longer
_LONGEST_RETRY_S: Final = 86_400.0
_LONGEST_PLACE: Final = 200  # characters of where a redirect led to, that are told
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


class RobotsReader:
    """Robot's daily step before visiting a host: read robots.txt."""

    def __init__(
        self, world: World, rules: Rules, dispatcher: Dispatcher, recorder: Recorder
    ) -> None:
        self._world = world
        self._rules = rules
        self._dispatcher = dispatcher
        self._recorder = recorder

    async def read(self, task: AskRobots) -> None:
        """Fetch /robots.txt and put its rules in force; sitemaps it names are discoveries."""
        why, words = "", ""
        asked: list[str] = []
        response: FetchResponse | None = None
        try:
            response = await self._fetch(task, asked)
        except FetchError as error:
            why, words = error.kind, failure_words(error.kind)
            if asked and asked[-1] != f"{task.host}/robots.txt":  # it may be another host's trouble
                words = f"{asked[-1][:_LONGEST_PLACE]}: {words}"
        except BaseException:
            self._dispatcher.cancelled(task.host_id, self._world.clock.now_s())
            raise
        now_s = self._world.clock.now_s()
        queue = self._dispatcher.host(task.host_id)
        if response is None:
            if not self._dispatcher.unanswered(task.host_id, now_s, why):
                await self._world.note_silence(host_record(self._dispatcher, task.host_id))
                return  # what its rules were is not forgotten
        else:
            self._dispatcher.answered(task.host_id, now_s, response.status, response.retry_after)
            if response.status in _REDIRECTS:
                self._dispatcher.follow_robots(task.host_id, response.location or "")
                return
        status = response.status if response else None
        body = response.body if response else b""
        rules = robots_from_answer(self._rules.agent, status, body)
        is_other = queue.robots_body is not None and queue.robots_body != body
        queue.robots_status, queue.robots_body = status, body
        words, until_s = words or f"answered {status}", now_s + RULES_HOLD_S
        if not rules.reachable:
            until_s = self._retry_at_s(response, now_s)
            self._dispatcher.refused(task.host_id, now_s, words, is_news=False)
        await self._put_in_force(task, rules, until_s, words)
        if is_other and rules.sitemaps:
            await self._look_for(task, rules)

    async def _look_for(self, task: AskRobots, rules: RobotsRules) -> None:
        """Have sitemaps read that were not there, if the rules name them that are new."""
        now_s, named = self._world.clock.now_s(), _named(task.host, rules)
        if await self._world.on_state(self._world.frontier.look_for, now_s, named):
            self._dispatcher.observe_due(task.host_id, now_s)

    async def _fetch(self, task: AskRobots, asked: list[str]) -> FetchResponse:
        """Follow up to five redirects; beyond, or to nowhere, it counts as not there.

        Each address goes to ``asked`` before it is.

        A redirect that stays on the host is returned, to be followed in its turn: it is a request
        like any other, and comes no sooner. Where hosts of one IP address are asked as one, each
        redirect is.
        """
        url = task.url or f"{task.host}/robots.txt"
        n_hops = self._dispatcher.host(task.host_id).robots_hops
        for _ in range(MAX_ROBOTS_REDIRECTS + 1 - n_hops):
            asked.append(url)
            response = await self._world.fetcher.fetch(
                url, max_bytes=MAX_ROBOTS_BYTES, truncate=True
            )
            if response.status not in _REDIRECTS:
                return response
            target = join(url, response.location) if response.location else None
            if target is None:
                break
            waits = self._dispatcher.ips is not None or host_of(url) == host_of(target) == task.host
            if waits and n_hops < MAX_ROBOTS_REDIRECTS:
                return replace(response, url=url, location=target)
            url = target
            self._dispatcher.budget.spend(self._world.clock.now_s())
        return FetchResponse(url=url, status=404)

    def _retry_at_s(self, response: FetchResponse | None, now_s: float) -> float:
        if response is not None:
            if response.status < 300:  # they are there, and too many to judge by
                return now_s + RULES_HOLD_S
            asked_s = retry_after_s(response.retry_after, now_s)
            if asked_s is not None:
                return min(max(asked_s, now_s + 1.0), now_s + _LONGEST_RETRY_S)
        return now_s + _RETRY_S

    async def _put_in_force(
        self, task: AskRobots, rules: RobotsRules, until_s: float, why: str
    ) -> None:
        now_s = self._world.clock.now_s()
        forbidden = self._dispatcher.set_robots(task.host_id, rules, until_s, why=why)
        self._recorder.add(
            [disallowed(lease, now_s, self._recorder.due_times) for lease in forbidden]
        )
        await self._world.save_host(host_record(self._dispatcher, task.host_id))
        if rules.reachable:
            admission = self._rules.admission
            found = admission.of(_named(task.host, rules), kind=Kind.SITEMAP)
            if not found:  # none is named, or all are elsewhere, as on a host for files
                found = admission.of([f"{task.host}/sitemap.xml"], kind=Kind.SITEMAP)
            self._recorder.add(found=found)
        self._world.events.emit(
            "robots", {"host": task.host, "reachable": rules.reachable, "until_s": until_s}
        )


def _named(host: str, rules: RobotsRules) -> list[str]:
    """Return the sitemaps that rules name."""
    named = (join(f"{host}/", sitemap) for sitemap in rules.sitemaps)
    return [url for url in named if url]
