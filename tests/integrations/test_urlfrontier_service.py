"""The service as its clients have it: gRPC over 127.0.0.1, and a process that is killed."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from recrawl.integrations.urlfrontier.interface import FAIL, METHODS, OK, SERVICE, SKIPPED, message

COMMAND = (sys.executable, "-m", "recrawl", "frontier-service")


class Client:
    """A client that knows the published names alone."""

    def __init__(self, port: int) -> None:
        self.channel = grpc.insecure_channel(f"127.0.0.1:{port}")
        self._methods = {one.name: one for one in METHODS}

    def call(self, name: str, request: Any = None, timeout: float = 30, **fields: Any) -> Any:
        method = self._methods[name]
        kinds = ("unary", "stream")
        make = f"{kinds[method.streams_in]}_{kinds[method.streams_out]}"
        asked = message(method.asked)
        call = getattr(self.channel, make)(
            f"/{SERVICE}/{name}", asked.SerializeToString, message(method.answered).FromString
        )
        if method.streams_in:
            return list(call(iter(request), timeout=timeout))
        answer = call(asked(**fields), timeout=timeout)
        return list(answer) if method.streams_out else answer

    def put(self, *items: Any) -> dict[str, int]:
        return {ack.ID: ack.status for ack in self.call("PutURLs", items)}


def discovered(url: str, name: str = "", **fields: str) -> Any:
    item = message("URLItem")(ID=name)
    item.discovered.info.MergeFrom(message("URLInfo")(url=url, **fields))
    return item


def known(url: str, date: int, **said: str) -> Any:
    item = message("URLItem")(ID=url)
    item.known.info.url, item.known.refetchable_from_date = url, date
    for name, value in said.items():
        item.known.info.metadata[name.replace("__", ".")].values.append(value)
    return item


@contextmanager
def service(state: Path, *more: str) -> Iterator[tuple[Client, subprocess.Popen[str]]]:
    process = subprocess.Popen(
        [*COMMAND, "--state", str(state), "--listen", "127.0.0.1:0", *more],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        said = process.stderr.readline()
        found = re.search(r":(\d+) \(", said)
        assert found, said
        client = Client(int(found[1]))
        with client.channel:
            yield client, process
    finally:
        process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()


def test_a_client_is_answered_by_the_published_semantics(tmp_path: Path) -> None:
    with service(tmp_path / "state") as (client, process):
        acks = client.put(
            discovered("http://a.test/1", "first"),
            discovered("http://a.test/1", "again"),
            discovered("http://b.test/1", key="mine"),
            discovered("nonsense", "bad"),
            known("http://a.test/done", 0, fetch__statusCode="200", signature="x"),
        )
        assert acks == {
            "first": OK,
            "again": SKIPPED,
            "http://b.test/1": OK,
            "bad": SKIPPED,
            "http://a.test/done": OK,
        }
        batch = message("DiscoveredBatch")(ID="b")
        for url in ("http://a.test/1", "http://c.test/"):
            batch.items.add(url=url)
        (ack,) = client.call("PutDiscovered", [batch])
        assert (ack.ID, list(ack.statuses)) == ("b", [SKIPPED, OK])

        assert sorted(client.call("ListQueues").values) == ["a.test", "c.test", "mine"]
        assert list(client.call("ListCrawls").values) == ["DEFAULT"]
        found = client.call("GetURLs", max_queues=2, max_urls_per_queue=1, delay_requestable=999)
        assert len({one.key for one in found}) == 2
        assert {one.crawlID for one in found} == {"DEFAULT"}
        stats = client.call("GetStats")
        assert (stats.size, stats.inProcess, stats.numberOfQueues) == (3, 2, 3)
        assert dict(stats.counts) == {"completed": 1, "active_queues": 3}

        status = client.call("GetURLStatus", url="http://a.test/done")
        assert status.known.refetchable_from_date == 0
        assert status.creation_date > 1_600_000_000
        with pytest.raises(grpc.RpcError, match="NOT_FOUND"):
            client.call("GetURLStatus", url="http://a.test/none")
        with pytest.raises(grpc.RpcError, match="INVALID_ARGUMENT"):
            client.call("GetURLStatus", url="nonsense")
        with pytest.raises(grpc.RpcError, match="UNIMPLEMENTED"):
            client.call("SetLogLevel")

        assert client.call("CountURLs", filter="A.TEST", ignoreCase=True).value == 2
        assert client.call("CountURLs", filter="A.TEST").value == 0
        listed = client.call("ListURLs", key="a.test", size=1, start=1)
        assert [one.known.info.key for one in listed] == ["a.test"]
        client.call("SetActive", state=False)
        assert client.call("GetActive").state is False
        assert client.call("GetURLs") == []
        client.call("SetActive", state=True)
        client.call("SetDelay", key="mine", delay_requestable=60)
        client.call("BlockQueueUntil", key="c.test", time=9_999_999_999)
        assert client.call("DeleteQueue", key="a.test").value == 2
        assert list(client.call("ListQueues").values) == ["mine"]
        assert client.call("PurgeURLs", days=1).value == 0
        assert client.call("DeleteCrawl", value="DEFAULT").value == 2

        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0


@pytest.mark.slow
def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    said = {"fetch__statusCode": "200", "signature": "x"}
    for turn in range(3):
        with service(tmp_path) as (client, process):
            acks = client.put(
                *(discovered(f"http://{n % 7}.test/{turn}/{n}") for n in range(300)),
                *(known(f"http://k.test/{turn}/{n}", 1, **said) for n in range(50)),
            )
            assert len(acks) == 350
            assert FAIL not in acks.values()
            os.kill(process.pid, signal.SIGKILL)
    with service(tmp_path) as (client, _):
        assert client.call("CountURLs").value == 3 * 350
        assert len(client.call("GetURLs")) == 3 * 300  # those in clients' hands as well
        at = client.call("GetURLStatus", url="http://k.test/0/0")
        assert at.known.refetchable_from_date > at.creation_date


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--listen", "0.0.0.0:0"), "--open"),
        (("--listen", "127.0.0.1"), "127.0.0.1:7071"),
        (("--listen", "127.0.0.1:70710"), "65535"),
        (("--listen", "there:1"), "no address"),
        (("--budget", "fast"), "--budget"),
        (("--budget", "-1/h"), "--budget"),
        (("--policy", "best"), "uniform"),
        (("--min-interval", "31d"), "longer than"),
        (("--replan", "0s"), "> 0"),
    ],
)
def test_wrong_options_end_in_one_message(
    given: tuple[str, str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from recrawl.cli import main

    with pytest.raises(SystemExit) as ended:
        main(["frontier-service", "--state", str(tmp_path / "state"), *given])
    told = capsys.readouterr().err
    assert ended.value.code == 2
    assert said in told
    assert told.count("\n") == 1
    assert not (tmp_path / "state").exists()


@pytest.mark.slow
def test_a_port_or_a_state_that_is_taken_is_told(tmp_path: Path) -> None:
    with service(tmp_path / "a") as (client, _):
        taken = client.call("ListNodes").values[0]
        for state, code, said in (("b", 2, "--listen"), ("a", 1, "runs here already")):
            ended = subprocess.run(
                [*COMMAND, "--state", str(tmp_path / state), "--listen", taken],
                capture_output=True,
                text=True,
                check=False,
                timeout=60,
            )
            assert (ended.returncode, ended.stderr.count("\n")) == (code, 1)
            assert said in ended.stderr
