"""Notes on hosts, at hand and on a shelf."""

from collections.abc import Iterator, Mapping

from recrawl.crawler.index.repeats.notes import HostNotes


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

    def write(self, changed: Mapping[str, list[int]]) -> None:
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


def test_a_host_that_has_changed_much_is_written() -> None:
    """Or what there is, at the end; and nothing where nothing has changed."""
    shelf = Lent()
    notes = HostNotes(shelf, most=9, every=3)
    notes.put("a", [1])
    notes.put("b", [3])
    notes.put("a", [1, 2])
    notes.save()
    assert shelf.held == {}
    notes.put("a", [1, 2, 3])
    notes.save()
    assert shelf.held == {"a": [1, 2, 3]}
    shelf.held = {}
    notes.save(now=True)
    assert shelf.held == {"b": [3]}
    notes.save(now=True)
    assert shelf.held == {"b": [3]}
    assert dict(notes.every()) == {"a": [1, 2, 3], "b": [3]}


def test_a_host_that_is_at_hand_no_more_is_written() -> None:
    """However little has changed: else what many hosts taught would wait in memory."""
    shelf = Lent()
    notes = HostNotes(shelf, most=2, every=100)
    for name in "abc":
        notes.put(name, [1])
    notes.save()

    assert shelf.held == {"a": [1]}


def test_the_first_changes_are_written_soon() -> None:
    """Of what a host taught a kill takes the later half at most, or so many changes."""
    shelf, written = Lent(), []
    notes = HostNotes(shelf, most=9, every=100)
    for n in range(350):
        notes.put("a", [n])
        notes.save()
        if shelf.held.get("a") == [n]:
            written.append(n + 1)

    assert written == [16, 48, 112, 212, 312]


def test_what_is_put_back_is_looked_up_anew() -> None:
    shelf = Lent()
    notes = HostNotes(shelf, most=9, every=100)
    notes.put("a", [1])
    assert notes.of("b") is None
    notes.settle()
    assert shelf.held == {"a": [1]}

    shelf.held = {"a": [2], "b": [3]}
    assert (notes.of("a"), notes.of("b")) == ([2], [3])
