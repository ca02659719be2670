"""Options that many verbs have, each declared once with its help."""

from typing import Annotated, TypeAlias

from cyclopts import App, Parameter

Json: TypeAlias = Annotated[
    bool, Parameter(name="--json", help="Print one JSON object and nothing else.")
]
JsonAtEnd: TypeAlias = Annotated[
    bool, Parameter(name="--json", help="Print one JSON object at the end and nothing else.")
]
JsonForTables: TypeAlias = Annotated[
    bool, Parameter(name="--json", help="Print one JSON object instead of tables.")
]
JsonOfWritten: TypeAlias = Annotated[
    bool, Parameter(name="--json", help="Print one JSON object about what was written.")
]
Quiet: TypeAlias = Annotated[bool, Parameter(name=["--quiet", "-q"])]
UntilEof: TypeAlias = Annotated[
    bool,
    Parameter(show=False, help="End when standard input ends: with the crawl that started this."),
]


def verb_of_verbs(name: str, about: str) -> App:
    """Return a verb that has verbs of its own, whose manual offers no more than its help does.

    Parameters
    ----------
    name : of the verb
    about : its help
    """
    return App(
        name=name,
        help=about,
        help_format="plaintext",
        version_flags=[],
        result_action="return_value",
        default_parameter=Parameter(negative=()),
    )
