"""The files that pages load."""

import hashlib
import re
from pathlib import Path

import pytest

import recrawl.web
from recrawl.web.files import static_file, static_url

FOLDER = Path(recrawl.web.__file__).parent / "static"
# uPlot 1.6.32, as its author published it.
VENDORED = {
    "LICENSE": "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
    "uplot.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
    "uplot.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
}


@pytest.mark.parametrize("name", VENDORED)
def test_what_others_wrote_is_as_they_wrote_it(name: str) -> None:
    """Byte by byte."""
    body = (FOLDER / "vendor" / name).read_bytes()

    assert hashlib.sha256(body).hexdigest() == VENDORED[name]


def test_an_address_changes_with_its_file() -> None:
    """So that browsers may keep it for ever."""
    found = static_file("page.css")

    assert found is not None
    assert static_url("page.css") == f"/static/page.css?v={found.version}"
    assert hashlib.sha256(found.body).hexdigest().startswith(found.version)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*")), ids=lambda path: path.name)
def test_nothing_is_asked_of_another_site(path: Path) -> None:
    """No address but that of the name space of SVG."""
    if path.is_file():
        others = set(re.findall(r"(?:https?:)?//[a-z0-9.]+\.[a-z]+", path.read_text()))
        assert others <= {"http://www.w3.org"}


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_stands_out(scheme: int) -> None:
    """By 4.5 to 1 for text and 3 to 1 for edges of controls, as WCAG 2.2 AA has it."""
    sheet = (FOLDER / "page.css").read_text()
    block = re.findall(r":root \{(.*?)\}", sheet, re.DOTALL)[scheme]
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", block))

    for front, back in (
        ("text", "ground"),
        ("quiet", "ground"),
        ("accent", "ground"),
        ("text", "raised"),
        ("on-accent", "accent"),
        ("text", "accent-soft"),
    ):
        assert contrast(colours[front], colours[back]) >= 4.5, (front, back)
    assert contrast(colours["edge"], colours["ground"]) >= 3.0
