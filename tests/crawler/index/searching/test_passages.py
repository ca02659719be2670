"""Which part of a text is shown."""

from recrawl.crawler.index.searching.passages import best_passage

FILLER = "and so it went on for a long while " * 50


def test_words_that_stand_together_beat_a_word_alone() -> None:
    """The first place that has one of them is not the best one."""
    text = f"lantern {FILLER} a quiet lantern {FILLER}"

    assert "quiet lantern" in best_passage(text, ["quiet", "lantern"])


def test_a_word_that_is_said_again_and_again_does_not_hide_where_all_stand() -> None:
    often = "A task is what runs here, and nothing else is said of it in this line.\n" * 30
    text = f"{often}{'And so on, for a while. ' * 20}\nTask groups wait for all of their tasks."

    assert best_passage(text, ["task", "group"]).startswith("Task groups wait")


def test_a_word_is_meant_from_its_beginning() -> None:
    """Not where it is a part of another."""
    text = f"startle {FILLER} the art of waiting {FILLER}"

    assert "the art of waiting" in best_passage(text, ["art"])


def test_without_the_words_it_is_the_beginning() -> None:
    """Of whatever length the text is."""
    assert best_passage("short", ["nothing"]) == "short"
    assert best_passage(FILLER, ["nothing"], length=20) == FILLER[:20]
    assert best_passage(FILLER, [], length=20) == FILLER[:20]


def test_a_long_text_costs_no_more_than_its_beginning() -> None:
    """What stands after a hundred thousand characters is not looked for."""
    text = "x " * 60_000 + "lantern"

    assert best_passage(text, ["lantern"], length=10) == text[:10]


def test_letters_that_grow_do_not_move_places() -> None:
    """A Turkish capital is two letters in lower case."""
    text = "\u0130" * 2_000 + " the lantern " + FILLER

    assert "lantern" in best_passage(text, ["lantern"])
