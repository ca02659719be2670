"""What a view says beside its thing, and beside what other views of its kind said of theirs."""

from recrawl.crawler.control.addresses.gists import Gist
from recrawl.crawler.control.addresses.views import ViewsOfThings

SHOWN = 7


def says(beside: int, figures: int = 0) -> Gist:
    """Return what a page says, of which only the bits of its words are told."""
    return Gist(1, 1, beside=beside, figures=figures)


def told_of(**things: int) -> ViewsOfThings:
    """Remember the words of things."""
    views = ViewsOfThings()
    for url, words in things.items():
        views.keep(url, says(words))
    return views


def test_a_view_is_within_its_thing_where_one_of_another_thing_went_as_far_beyond_its_own() -> None:
    """Beyond: the same labels. One that says more is none, nor one whose thing is not known."""
    views = told_of(a=0b0011, b=0b1100)
    labels, more = 0b1 << 20, 0b1 << 30

    def is_within(thing: str, words: int) -> bool:
        return views.is_within(SHOWN, [hash(thing)], says(words))

    assert not is_within("a", 0b0001 | labels)  # the first of its kind
    assert not is_within("a", 0b0010 | labels)  # the only thing so far
    assert is_within("b", 0b0100 | labels)
    assert not is_within("b", 0b0100 | labels | more)
    assert not is_within("c", 0b0100 | labels)
    assert not views.is_within(SHOWN + 1, [hash("b")], says(0b0100 | labels))


def test_of_a_thing_that_says_much_nothing_is_within() -> None:
    """Any word falls by chance on one of its bits."""
    views = told_of(a=(1 << 600) - 1, b=(1 << 600) - 1)

    assert not any(views.is_within(SHOWN, [hash(thing)], says(0b1)) for thing in "ababab")


def test_a_month_is_as_others_where_it_says_no_other_word_and_the_figures_of_one() -> None:
    views = ViewsOfThings()

    told = [
        views.is_as_other_dates(SHOWN, says(words, figures))
        for words, figures in ((0b0011, 5), (0b1100, 6), (0b0110, 5), (0b0110, 9), (0b10001, 5))
    ]

    assert told == [False, False, True, False, False]
