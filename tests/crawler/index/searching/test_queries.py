"""What people type, and what is looked for."""

import pytest

from recrawl.crawler.index.searching.queries import MOST_PARTS, Wanted, read_query


def words(*texts: str) -> tuple[tuple[Wanted, ...], ...]:
    return tuple((Wanted(text),) for text in texts)


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("quiet lantern", words("quiet", "lantern")),
        ("quiet AND +lantern", words("quiet", "lantern")),
        ("(quiet) [lantern]", words("quiet", "lantern")),
        ('"quiet lantern"', ((Wanted("quiet lantern", None, together=True),),)),
        ("title:quiet", ((Wanted("quiet", "title"),),)),
        ("Host:a.test:81", ((Wanted("a.test:81", "host"),),)),
        ("quiet OR story lantern", ((Wanted("quiet"), Wanted("story")), (Wanted("lantern"),))),
        ("OR quiet OR", words("quiet")),
        ("http://a.test/1", words("http://a.test/1")),
        ("12:30 std::vector", words("12:30", "std::vector")),
        ("quiet & quiet *", words("quiet")),
        ("git rebase --onto", words("git", "rebase", "--onto")),
        ("git add -p", words("git", "add", "-p")),
        ("-story quiet", words("story", "quiet")),
        ("--cached", words("--cached")),
        ("-story", words("story")),
        ("cherry-pick", words("cherry-pick")),
        ("cafe\u0301", words("caf\u00e9")),
        (".gitignore C++ %s @x", words(".gitignore", "C++", "%s", "@x")),
    ],
)
def test_a_query_means_what_people_mean(text: str, groups: tuple[tuple[Wanted, ...], ...]) -> None:
    """Words, words together, fields, one of two; all else is punctuation."""
    read = read_query(text)

    assert read.groups == groups
    assert read.notes == ()


@pytest.mark.parametrize("text", ["quiet -story", "quiet NOT story", "NOT story quiet"])
def test_a_word_can_be_left_out(text: str) -> None:
    """By a sign before it, or by a word in capitals."""
    read = read_query(text)

    assert (read.groups, read.never) == (words("quiet"), (Wanted("story"),))


@pytest.mark.parametrize(
    ("text", "note", "groups"),
    [
        ('"quiet lantern', "a quotation mark is missing", words("quiet", "lantern")),
        ("colour:red", "no field 'colour'", ((Wanted("colour red", None, together=True),),)),
        ("(**)", "no word", ()),
        ("quiet " * 200, "first 1,000 characters", words("quiet")),
        (" ".join(f"w{n}" for n in range(99)), f"first {MOST_PARTS} words", None),
    ],
)
def test_what_cannot_be_read_is_named(
    text: str, note: str, groups: tuple[tuple[Wanted, ...], ...] | None
) -> None:
    """And the rest is looked for, of a length that bounds what it costs."""
    read = read_query(text)

    assert note in " ".join(read.notes)
    assert len(read.groups) <= MOST_PARTS
    assert groups is None or read.groups == groups
