"""Layout of help: paragraphs as wide as the terminal, wherever docstrings break their lines."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cyclopts.help import HelpPanel
    from rich.console import Console, ConsoleOptions


class Paragraphs:
    """A layout for ``cyclopts`` that joins the lines of a paragraph before they are broken anew.

    What is indented, or a list, keeps its lines.
    """

    def __call__(self, console: "Console", options: "ConsoleOptions", panel: "HelpPanel") -> None:
        """Print one panel: arguments, options or verbs."""
        from cyclopts.help import DefaultFormatter

        for entry in panel.entries:
            _join(entry.description)
        DefaultFormatter()(console, options, panel)

    def render_usage(self, console: "Console", options: "ConsoleOptions", usage: Any) -> None:
        """Print the line that shows how a verb is called."""
        from cyclopts.help import DefaultFormatter

        DefaultFormatter().render_usage(console, options, usage)

    def render_description(self, console: "Console", options: "ConsoleOptions", about: Any) -> None:
        """Print what a verb does."""
        _join(about)
        if about:
            console.print(about)


def _join(about: Any) -> None:
    """Join the lines of each paragraph of a text, where it is one."""
    from rich.text import Text

    text = getattr(about, "primary_renderable", None)
    if isinstance(text, Text) and "\n" in text.plain:
        about.primary_renderable = Text("\n\n".join(map(_joined, text.plain.split("\n\n"))))


def _joined(paragraph: str) -> str:
    lines = paragraph.split("\n")
    is_laid_out = any(line.startswith((" ", "- ")) for line in lines)
    return paragraph if is_laid_out else " ".join(lines)
