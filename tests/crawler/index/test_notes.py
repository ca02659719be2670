"""Notes on hosts, at hand and on a shelf."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from recrawl.crawler.index.notes import FileShelf, HostNotes


class Lent:
    """A shelf on which what was read and written is counted."""

    def __init__(self) -> None:
        self.held: dict[str, list[int]] = {}
        self.asked: list[str] = []

    def read(self, host: str) -> list[int] | None:
        self.asked.append(host)
        notes = self.held.get(host)
        return None if notes is None else list(notes)

    def every(self) -> Iterator[tuple[str, list[int]]]:
        yield from self.held.items()

    def write(self, changed: Mapping[str, list[int]], at_hand: Mapping[str, list[int]]) -> None:
        self.held |= changed


def test_a_host_that_is_not_at_hand_comes_from_the_shelf() -> None:
    """Also one whose notes have changed, and were not written yet; each is asked for once."""
    shelf = Lent()
    notes = HostNotes(shelf, most=2, every=100)
    for name in "abc":
        notes.put(name, [1])

    assert [host for host, _ in notes.at_hand()] == ["b", "c"]
    assert notes.of("a") == [1]
    assert shelf.asked == []
    notes.save(now=True)
    notes.of("b")
    notes.of("c")
    assert notes.of("a") == [1]
    assert notes.of("none") is notes.of("none") is None
    assert shelf.asked == ["b", "c", "a", "none"]


def test_the_one_that_was_asked_for_longest_ago_goes() -> None:
    """However it was asked for."""
    notes = HostNotes[list[int]](None, most=2, every=1)
    notes.put("a", [1])
    notes.put("b", [2])
    notes.of("a")
    notes.put("c", [3])

    assert [notes.of(name) for name in "abc"] == [[1], None, [3]]


def test_many_changes_are_written_together() -> None:
    """Or what there is, at the end; and nothing where nothing has changed."""
    shelf = Lent()
    notes = HostNotes(shelf, most=9, every=3)
    notes.put("a", [1])
    notes.put("a", [1, 2])
    notes.save()
    assert shelf.held == {}
    notes.put("b", [3])
    notes.save()
    assert shelf.held == {"a": [1, 2], "b": [3]}
    shelf.held = {}
    notes.save(now=True)
    assert shelf.held == {}
    notes.put("c", [4])
    notes.save(now=True)
    assert shelf.held == {"c": [4]}
    assert dict(notes.every()) == {"a": [1, 2], "b": [3], "c": [4]}


def test_the_first_changes_are_written_soon() -> None:
    """Of what was learned a kill takes the later half at most, or so many changes."""
    shelf, written = Lent(), []
    notes = HostNotes(shelf, most=9, every=100)
    for n in range(350):
        notes.put("a", [n])
        notes.save()
        if shelf.held.get("a") == [n]:
            written.append(n + 1)

    assert written == [16, 32, 64, 128, 228, 328]


def test_what_is_put_back_is_looked_up_anew() -> None:
    shelf = Lent()
    notes = HostNotes(shelf, most=9, every=100)
    notes.put("a", [1])
    assert notes.of("b") is None
    notes.settle()
    assert shelf.held == {"a": [1]}

    shelf.held = {"a": [2], "b": [3]}
    assert (notes.of("a"), notes.of("b")) == ([2], [3])


def test_a_file_keeps_hosts_that_nobody_asked_for(tmp_path: Path) -> None:
    """As many as are kept; of damaged ones the others."""
    path = tmp_path / "notes.json"
    path.write_text('{"a": [1], "b": "damaged", "c": [3]}')
    notes = HostNotes(FileShelf[list[int]](path, list[int], 3), most=3, every=1)
    notes.put("d", [4])
    notes.save()

    again = HostNotes(FileShelf[list[int]](path, list[int], 3), most=3, every=1)
    assert [again.of(name) for name in "abcd"] == [None, None, [3], [4]]
    assert again.of("c") == [3]
