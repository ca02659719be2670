"""What changed in a line, word by word."""

import pytest

from recrawl.crawler.control.texts.word_differences import word_steps

LONG = " ".join(["so", "it", "is"] * 66 + ["so"])  # 199 words, with as many spaces but one


def test_of_a_long_line_the_words_that_changed_are_told() -> None:
    """However often the others are said."""
    steps = word_steps(f"one {LONG}", f"two {LONG}")

    assert steps == [("-", "one"), ("+", "two"), (" ", f" {LONG}")]


@pytest.mark.parametrize(
    ("before", "after"), [("one", f"one {LONG} {LONG}"), (f"one {LONG} {LONG}", "one")]
)
def test_of_more_than_four_hundred_words_all_went_and_came(before: str, after: str) -> None:
    """And spaces, and signs; on either side."""
    assert word_steps(before, after) == [("-", before), ("+", after)]


@pytest.mark.parametrize(
    ("line", "gone", "come"),
    [
        ("この索引は{}検索のためのものです。", "全文", "部分"),
        ("您可以通过{}来操作软件包", "lanternd", "apt"),
        ("먼저 패키지를 {}합니다.", "설치", "제거"),
        ("ผู้ดูแล{}ตะเกียงในยามพลบค่ำ", "จุด", "ดับ"),
        ("पैकेज {} करने के लिए", "स्थापित", "स्थापना"),
        ("{} lamp", "nai\u0308ve", "nai\u0308ves"),
        ("其他，" * 150 + "{}", "静", "动"),
    ],
)
def test_no_more_than_what_changed_is_told_of_any_script(line: str, gone: str, come: str) -> None:
    """Whether spaces part its words or not, and never a vowel without what it is above."""
    before, after = line.split("{}")
    told = [(" ", before), ("-", gone), ("+", come), (" ", after)]

    steps = word_steps(line.format(gone), line.format(come))

    assert steps == [part for part in told if part[1]]
