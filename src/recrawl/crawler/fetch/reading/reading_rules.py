"""Rules for what of a page is content, where people know better than its markup says."""

import json
from dataclasses import asdict, dataclass, field
from typing import Self

from recrawl.crawler.control.addresses.scope import Weights


@dataclass(frozen=True, slots=True)
class ContentRule:
    """Rule for what is content on some pages.

    Parameters
    ----------
    path : pattern of the pages, such as ``/docs/*``
    select : CSS selector of the main content; empty: as on other pages
    drop : CSS selectors of what is none
    title : CSS selector of the title; empty: as on other pages
    """

    path: str
    select: str = ""
    drop: tuple[str, ...] = ()
    title: str = ""


@dataclass(frozen=True)
class ReadingRules:
    """Rules for reading pages.

    Parameters
    ----------
    content : the first rule whose path matches counts
    markdown : whether the main content is kept as Markdown too, and what a page says of itself
    """

    content: tuple[ContentRule, ...] = ()
    markdown: bool = False
    _places: Weights = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        places = Weights([(rule.path, float(row)) for row, rule in enumerate(self.content)], -1.0)
        object.__setattr__(self, "_places", places)

    def of(self, url: str) -> ContentRule | None:
        """Return the rule for a page."""
        if not self.content:
            return None
        place = int(self._places.of(url))
        return None if place < 0 else self.content[place]

    def dump(self) -> str:
        """Return the rules as text, for a process that reads."""
        return json.dumps([self.markdown, [asdict(rule) for rule in self.content]])

    @classmethod
    def load(cls, text: str) -> Self:
        """Return rules from :meth:`dump`."""
        markdown, rules = json.loads(text)
        content = (ContentRule(**rule | {"drop": tuple(rule["drop"])}) for rule in rules)
        return cls(tuple(content), bool(markdown))
