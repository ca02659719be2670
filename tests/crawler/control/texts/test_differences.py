"""What a page says anew: the lines that came and went, and no more of them than can be kept."""

from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.crawler.control.texts.differences import difference, edit

LINES = st.lists(st.text("ab \u00e9", min_size=1, max_size=6), max_size=12).map("\n".join)


def test_a_line_that_became_another_stands_before_it() -> None:
    """And what has nothing in common with any stands alone."""
    before = "Version 3.1 of the manual\nThis paragraph goes.\nThis one stays."
    after = "Version 3.2 of the manual\nThis one stays.\n0123456789 is new"

    assert difference(before, after).split("\n") == [
        "-Version 3.1 of the manual",
        "+Version 3.2 of the manual",
        "-This paragraph goes.",
        "+0123456789 is new",
    ]


def test_long_lines_are_clipped_to_where_they_part() -> None:
    """A paragraph of thousands of characters in which one word is another."""
    before = "x" * 5_000 + " black " + "y" * 5_000
    told = difference(before, before.replace("black", "white")).split("\n")

    assert [line[0] for line in told] == ["-", "+"]
    assert "black" in told[0]
    assert "white" in told[1]
    assert all(len(line) < 250 for line in told)


def test_wherever_two_lines_part_that_place_is_shown() -> None:
    """With up to sixty characters before it, where not all of them fit."""
    for at in range(400):
        before = "x" * at + "black" + "y" * 400

        gone, come = difference(before, before.replace("black", "white")).split("\n")

        shown = f"…{'x' * 60}" if at >= 180 else "x" * at
        assert gone.startswith(f"-{shown}black")
        assert come.startswith(f"+{shown}white")


def test_a_line_is_whole_up_to_a_thousand_characters_with_its_mark() -> None:
    told = edit("\n".join(["a" * 999, "b" * 1_000]), "")

    assert told.split("\n")[1:3] == [f"-{'a' * 999}", f"-{'b' * 999}…"]


def test_of_a_long_line_that_place_is_shown() -> None:
    """As of a program, which is one: with sixty characters before it. Another line is whole."""
    before, after = (f"{'x' * 5_000}{word}{'y' * 2_000}" for word in ("black", "white"))

    told = edit(f"a title\n{before}", f"another\n{after}\nlast").split("\n")

    shown = [f"{'x' * 60}{word}{'y' * 933}…" for word in ("black", "white")]
    assert told[1:] == ["-a title", f"-…{shown[0]}", "+another", f"+…{shown[1]}", "+last"]


def test_two_lines_that_stayed_are_shown_before_a_change_and_two_after_it() -> None:
    lines = list("abcdefghi")

    told = edit("\n".join(lines), "\n".join([*lines[:4], "E", *lines[5:]]))

    assert told.split("\n") == ["@@ -3,5 +3,5 @@", " c", " d", "-e", "+E", " f", " g"]


def test_the_number_of_lines_is_bounded() -> None:
    """Whatever was replaced."""
    before, after = ("\n".join(f"{word} {n}" for n in range(9_999)) for word in ("old", "fresh"))

    assert len(difference(before, after).split("\n")) <= 24


def test_lines_that_only_moved_are_no_difference() -> None:
    """Nor is a text that stayed as it was."""
    assert difference("one\ntwo\nthree", "three\none\ntwo") == ""
    assert difference("one", "one") == ""


@given(LINES, LINES)
def test_only_lines_of_the_one_go_and_of_the_other_come(before: str, after: str) -> None:
    """As short lines are not clipped: what went stood there before, what came stands there now."""
    told = [line for line in difference(before, after).split("\n") if line]

    assert all(line[1:] in before.split("\n") for line in told if line[0] == "-")
    assert all(line[1:] in after.split("\n") for line in told if line[0] == "+")


def patched(before: str, told: str) -> str:
    """Apply a unified diff."""
    held, made, at = before.split("\n"), [], 0
    for line in told.split("\n") if told else []:
        if line.startswith("@@"):
            start = int(line.split()[1].partition(",")[0][1:]) - 1
            made += held[at:start]
            at = start
            continue
        if line[:1] in ("-", " "):
            assert held[at] == line[1:]
            at += 1
        if line[:1] in ("+", " "):
            made.append(line[1:])
    return "\n".join(made + held[at:])


@given(LINES, LINES)
def test_a_unified_diff_makes_one_text_of_the_other(before: str, after: str) -> None:
    """Whatever the two are, as long as it is short enough to be whole."""
    assert patched(before, edit(before, after)) == after
    assert (edit(before, after) == "") == (before == after)


def test_texts_that_differ_in_thousands_of_lines_are_replaced_whole() -> None:
    """In little time, and in few characters, however they are made to be slow."""
    slow = [
        (
            "\n".join("xy"[n % 2] for n in range(50_000)),
            "\n".join("xy"[n % 3 % 2] for n in range(50_000)),
        ),
        ("\n".join(map(str, range(50_000))), "\n".join(map(str, range(50_000, 0, -1)))),
        ("a" * 500_000, "b" * 500_000),
    ]
    for before, after in slow:
        told = edit(before, after)
        assert 0 < len(told) <= 16_100
        assert (
            patched("a\nb\nc\nd\ne\nf", edit("a\nb\nc\nd\ne\nf", "a\nx\nc\nd\ne\ng"))
            == "a\nx\nc\nd\ne\ng"
        )


def test_of_a_long_text_only_what_changed_is_told() -> None:
    """At its head and its foot, with thousands of lines between them, many of which are alike."""
    lines = [f"line {n}" if n % 2 else "}" for n in range(6_000)]
    changed = ["a new head", *lines[:3_000], "one more", *lines[3_000:-1], "another foot"]

    told = edit("\n".join(lines), "\n".join(changed)).split("\n")

    assert [line for line in told if line[0] in "+-"] == [
        "+a new head",
        "+one more",
        "-line 5999",
        "+another foot",
    ]
    assert patched("\n".join(lines), "\n".join(told)) == "\n".join(changed)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.sampled_from("abcde"), max_size=12), st.lists(st.sampled_from("abcde")))
def test_a_long_diff_makes_one_text_of_the_other(before: list[str], after: list[str]) -> None:
    """Whatever stands before and behind the lines that both have once."""
    held, new = ("\n".join([*some, *map(str, range(2_100)), *some]) for some in (before, after))

    assert len(edit(held, new)) > 16_000 or patched(held, edit(held, new)) == new
