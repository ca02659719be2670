"""The main content of a page, its title and its headings, out of a tree of elements.

What stands on lines of its own is told by a form feed before it, which whoever made the tree put
there (:mod:`recrawl.crawler.fetch.reading.extract`).
"""

import re
from collections.abc import Callable
from itertools import islice
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from recrawl.crawler.fetch.reading.definitions import definitions
from recrawl.crawler.fetch.reading.elements import n_letters, n_linked, stands_within
from recrawl.crawler.fetch.reading.lines_beside import LINE, mark_lines_beside
from recrawl.crawler.fetch.reading.other_pages import boxes_of_other_pages
from recrawl.crawler.fetch.reading.own_contents import clear_own_contents
from recrawl.crawler.fetch.reading.people_online import SIGN, boxes_of_people_online
from recrawl.crawler.fetch.reading.reading_rules import ContentRule

READING: Final = 12  # raised when pages are to be read again, as other text of them is content now
MAX_TEXT: Final = 500_000
MAX_TITLE: Final = 300
MAX_HEADINGS: Final = 500
MAX_HEADING: Final = 200
BREAK: Final = "\f"
# Annotations of formulas say them again, in another language.
_NOT_CONTENT: Final = [
    "script", "style", "noscript", "template", "svg", "iframe", "object", "button", "select",
    "nav", "header", "footer", "annotation", "annotation-xml",
]  # fmt: skip
# What introduces a part of the page, what opens it, and links that look like buttons.
_OF_CONTENT: Final = (
    'main header, article header, [role="main"] header, h1 button, h2 button, h3 button, '
    "h4 button, h5 button, h6 button, dt button, summary button, a[href] button"
)
_BOILERPLATE: Final = (
    '[role="navigation"], [role="banner"], [role="contentinfo"], [role="search"], '
    '[aria-hidden="true"], [hidden], .sphinxsidebar, .navbar, .breadcrumb, '
    ".breadcrumbs, .cookie-banner, .advertisement, .footer, "
    "form :is(div,fieldset,details,table,p,pre,label,span).captcha, "  # another at each visit
    ".ttc, "  # what a manual of a program shows of a name in a listing when it is pointed at
    + ", ".join(  # what machines are told
        f'[{said}][style*="display:{space}none"]'
        for said in ("itemscope", "itemprop")
        for space in ("", " ")
    )
)
# What is shown when somebody asks for it: tabs, and what a button in a heading opens; of those that
# may be a text the first ones are judged, by a mark of ours.
_PANELS: Final = (
    '[role="tabpanel"][hidden], [role="tabpanel"][aria-hidden="true"], [hidden="until-found"]'
)
_OPENERS: Final = "button[aria-controls]"
_OPENING: Final = frozenset("h1 h2 h3 h4 h5 h6 dt".split())
_OPENED: Final = '[id][hidden], [id][aria-hidden="true"]'
_OF_PANELS: Final = ("tabpanel", "until-found", "aria-controls")
_PANEL: Final = "data-recrawl-panel"
_MOST_SHOWN: Final = 500
# Beside the content notices, menus and searches.
_DIALOGS: Final = 'dialog, [role="dialog"], [role="alertdialog"], [aria-modal="true"]'
_OF_DIALOGS: Final = ("dialog", "aria-modal")
_NOTICE: Final = "cookie"  # as notices call them in most languages
_MAIN: Final = ("main", "article", '[role="main"]')
_ANY_MAIN: Final = ", ".join(_MAIN)
# Boxes of a text, or lists of links; what somebody is asked to fill in, or the whole page.
_ASIDE: Final = (
    'aside, .sidebar, .related, .nav, [class^="nav-"], [class*=" nav-"], [class^="navi"], '
    '[class*=" navi"], [class^="navset"], [class*="-navbar"], [class^="prev-next"], .navheader, '
    ".navfooter, .navpath, .pager, .pagination, .search-results, "
    ":is(div,ul,td):is(#nav,#navigation,#sidebar,#menu):not(.section)"
)
_LEAST_ASIDE: Final = 100  # letters that lead nowhere, and more than those that do: it is a text
_LEAST_WITHIN: Final = 20  # the same within what says that it is content: notes, footnotes
_LEAST_PANEL: Final = 1  # the same of a tab there: a command, a line of code
_ASKS: Final = "input:not([type=hidden]), textarea, select, button"  # a form without: is a text
_MOST_READ: Final = 8  # times that the text of a page is read to judge its boxes
_LEAST_FORM: Final = 0.5  # of the letters of a page, or of those that lead nowhere: it is the page
_LEAST_ARTICLE: Final = 0.5  # of the letters of a page that lead nowhere: it holds them, or
_LEAST_ARTICLES: Final = 0.9  # several do, between which there is nothing
_LEAST_MAIN: Final = 0.1  # of the letters of a page, and
_FEW: Final = 100  # letters: what has fewer of both is hardly what the page is about
_WHOLE: Final = frozenset({"html", "body", "main"})
_NO_TEXT: Final = [
    "script", "style", "noscript", "template", "svg", "iframe", "object", "annotation",
    "annotation-xml",
]  # fmt: skip
_MOST_CHOSEN: Final = 500
_NAME: Final = "NAME"  # the first heading of any manual page, above its name
_HEADINGS: Final = "h1, h2, h3, h4, h5, h6, dt, caption, summary"
_PILCROW: Final = "\u00b6"
_HEADLINK: Final = f" \t\n\f{_PILCROW}"  # also where it is no link
_CONTROL: Final = re.compile(
    r"[\x00-\x08\x0b\x0d-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
# Where a word may be broken, or not, at the end of a line: no sign of the word. In scripts without
# spaces, Thai to Khmer, the second one tells where words end.
_UNSEEN: Final = re.compile(
    r"[\u00ad\u2060\ufeff]|\u200b(?![\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff])"
)
_BLANKS: Final = bytes(32 if _CONTROL.match(chr(code)) else code for code in range(128)) * 2


def main_content(
    tree: LexborHTMLParser, rule: ContentRule | None, url: str, html: str, *, is_app: bool
) -> tuple[str, list[LexborNode]]:
    """Return the elements with the main content, after the selector that found them.

    Parameters
    ----------
    tree : of the whole page
    rule : that people made for it
    url : of the page
    html : its source in small letters: elements whose signs are not in it are not looked for
    is_app : scripts are to fill the page: what is empty now need not stay so

    Notes
    -----
    What is no content is taken out of the tree. It is the whole body where no part of it says that
    it is, where that part says next to nothing, or where articles are parts of a text; a rule whose
    selector finds nothing on a page is none for it.
    """
    if rule is not None:
        _drop(tree, rule)
        chosen = _chosen(tree, rule) if rule.select else []
        if chosen:
            return rule.select, chosen
    clear_own_contents(tree, url)
    _take_out(tree, html)
    body = tree.body
    if body is None:
        return "body", []
    for selector in _MAIN:
        roots = [node for node in tree.css(selector) if not _is_in(node, selector)]
        if roots and (is_app or _is_main(selector, roots, body)):
            return selector, roots
        if roots:
            break
    return "body", [body]


def _take_out(tree: LexborHTMLParser, html: str) -> None:
    """Take what is no content out of the tree.

    The innermost first: what is taken out is gone with all that stands in it.
    """
    _unhide_panels(tree, html)
    forms = tree.css("form") if "<form" in html else []
    asking = {form.mem_id for form in forms if form.css_first(_ASKS) is not None}
    if "<header" in html or "<button" in html:
        for node in tree.css(_OF_CONTENT):
            node.unwrap()
    tree.strip_tags(_NOT_CONTENT)
    for node in reversed(tree.css(_BOILERPLATE)):
        if node.tag not in _WHOLE:
            node.decompose()
    _take_out_shown(tree, html)
    _take_out_boxes(tree, is_with_people=SIGN in html)
    forms = [form for form in tree.css("form") if form.mem_id in asking] if asking else []
    if forms and tree.body is not None:
        _take_out_forms(forms, tree.body)


def _take_out_forms(forms: list[LexborNode], body: LexborNode) -> None:
    """Take out forms, but for one that is the page: around most of it, or of its text and heading.

    Shops have all that they say of a thing in the form by which it is bought.
    """
    total = n_letters(body)
    told = total - n_linked(body) if any(n_letters(one) >= _LEAST_ASIDE for one in forms) else 0
    for form in reversed(forms):
        letters = n_letters(form)
        if letters >= _LEAST_FORM * total > 0.0:
            continue
        own = letters - n_linked(form) if letters >= _LEAST_ASIDE else 0
        is_page = own >= _LEAST_FORM * told or form.css_first("h1") is not None
        if own < _LEAST_ASIDE or not is_page:
            form.decompose()


def _unhide_panels(tree: LexborHTMLParser, html: str) -> None:
    """Mark what is shown when somebody asks for it, and hide it no longer."""
    if not any(sign in html for sign in _OF_PANELS):
        return
    opened = {
        name
        for button in tree.css(_OPENERS)[:_MOST_SHOWN]
        if button.parent is not None and button.parent.tag in _OPENING
        for name in (button.attributes.get("aria-controls") or "").split()
    }
    panels = tree.css(_PANELS)[:_MOST_SHOWN]
    panels += [node for node in tree.css(_OPENED) if node.id in opened] if opened else []
    for node in panels[:_MOST_SHOWN]:
        attributes = node.attrs
        for name in ("hidden", "aria-hidden"):
            if name in attributes:
                del attributes[name]
        attributes[_PANEL] = ""


def _take_out_shown(tree: LexborHTMLParser, html: str) -> None:
    """Take out what is shown when somebody asks for it, but for what is a text."""
    if not any(sign in html for sign in (*_OF_PANELS, *_OF_DIALOGS)):
        return
    shown = tree.css(f"[{_PANEL}], {_DIALOGS}")[:_MOST_SHOWN]
    if not shown or tree.body is None:
        return
    mains = {node.mem_id for node in tree.css(_ANY_MAIN)}
    panels = {node.mem_id for node in tree.css(f"[{_PANEL}]")}
    to_read = 2 * len(tree.body.text())  # or what is nested deeply is read at each depth
    for node in reversed(shown):
        text = node.text()
        to_read -= len(text) + 1
        if to_read <= 0:
            return
        is_within = bool(mains) and stands_within(node, mains)
        if node.mem_id in panels:
            is_text = _is_text(node, _LEAST_PANEL if is_within else _LEAST_ASIDE)
        else:
            is_text = _is_dialog_read(node, text, is_within=is_within)
        if not is_text and node.tag not in _WHOLE:
            node.decompose()


def _is_dialog_read(node: LexborNode, text: str, *, is_within: bool) -> bool:
    """Tell whether a dialog is a text: of the content and no notice, or all around the content."""
    if is_within:
        return _NOTICE not in text.lower() and _is_text(node, _LEAST_ASIDE)
    return node.css_first(_ANY_MAIN) is not None


def _take_out_boxes(tree: LexborHTMLParser, *, is_with_people: bool) -> None:
    if tree.body is None:
        return
    for box in boxes_of_people_online(tree.body) if is_with_people else ():
        box.decompose()
    for box in boxes_of_other_pages(tree.body):
        box.decompose()
    text = tree.body.text()
    mark_lines_beside(tree, text)
    boxes = [node for node in tree.css(f"{_ASIDE}, [{LINE}]") if node.tag not in _WHOLE]
    mains = {node.mem_id for node in tree.css(_ANY_MAIN)} if boxes else set()
    to_read = _MOST_READ * len(text)  # or what is nested deeply is read at each depth
    for node in reversed(boxes):
        if to_read <= 0:
            return
        to_read -= len(node.text()) + 1
        is_within = bool(mains) and stands_within(node, mains)
        if not _is_text(node, _LEAST_WITHIN if is_within else _LEAST_ASIDE):
            node.decompose()


def whole_text(tree: LexborHTMLParser) -> list[LexborNode]:
    """Return all that a page says, for one of which nothing looks like content.

    Nothing where it says which part is its content, and that is empty: it may be for now.
    """
    if tree.css_first(_ANY_MAIN) is not None:
        return []
    tree.strip_tags(_NO_TEXT)
    return [tree.body] if tree.body is not None else []


def _is_text(node: LexborNode, least: int) -> bool:
    linked = n_linked(node)
    return n_letters(node) - linked >= max(linked, least)


def _is_main(selector: str, roots: list[LexborNode], body: LexborNode) -> bool:
    if selector == "article" and _are_parts(roots, body):
        return False
    letters = sum(map(n_letters, roots))
    return letters >= _FEW or letters >= _LEAST_MAIN * n_letters(body)


def _are_parts(articles: list[LexborNode], body: LexborNode) -> bool:
    """Tell whether a page says more than its articles, as a manual that makes one of each entry."""
    said, total = (
        sum(n_letters(one) - n_linked(one) for one in some) for some in (articles, [body])
    )
    least = _LEAST_ARTICLE if len(articles) == 1 else _LEAST_ARTICLES
    return total - said >= _FEW and said < least * total


def _is_in(node: LexborNode, tag: str) -> bool:
    """Tell whether an element stands within another one like it, as comments do."""
    above = node.parent
    while above is not None and above.tag != tag:
        above = above.parent
    return above is not None


def _drop(tree: LexborHTMLParser, rule: ContentRule) -> None:
    for selector in rule.drop:
        for node in tree.css(selector):
            node.decompose()


def _chosen(tree: LexborHTMLParser, rule: ContentRule) -> list[LexborNode]:
    """Return what the selector finds, but for what stands within other finds."""
    tree.strip_tags(_NO_TEXT)
    found = tree.css(rule.select)[:_MOST_CHOSEN]
    marks = {node.mem_id for node in found}
    return [node for node in found if not stands_within(node, marks)]


def title_of(tree: LexborHTMLParser, wanted: str) -> str:
    """Return the title of a page.

    Parameters
    ----------
    wanted : selector of the element that holds it; empty, or without text: as the page says
    """
    for selector in (wanted, "title", "h1") if wanted else ("title", "h1"):
        node = tree.css_first(selector)
        if node is not None:
            title = clipped(node.text())
            below = tree.css_first("h1 + *") if title == _NAME else None
            title = clipped(below.text()) if below is not None else title
            if title:
                return title
    return ""


def clipped(text: str) -> str:
    """Return a title in one line, not longer than titles are kept."""
    clean = " ".join(printable(text[: 4 * MAX_TITLE]).split())
    return clean if len(clean) <= MAX_TITLE else clean[: MAX_TITLE - 1] + "…"


def printable(text: str) -> str:
    """Replace what is no text by spaces; in plain ASCII by a table, which is much quicker.

    Soft hyphens and their like go: a word is the same, wherever it may be broken.
    """
    if text.isascii():
        return text.encode().translate(_BLANKS).decode()
    return _CONTROL.sub(" ", _UNSEEN.sub("", text))


def text_of(roots: list[LexborNode]) -> str:
    """Return the text, a line for each block."""
    text = BREAK.join([root.text() for root in roots])
    text = printable(text[: 2 * MAX_TEXT])
    lines = [" ".join(block.split()) for block in text.split(BREAK)]
    if _PILCROW in text:  # the text of a heading's link to itself
        lines = [line.rstrip(_PILCROW).rstrip() for line in lines]
    return "\n".join([line for line in lines if line])[:MAX_TEXT]


def pictured(roots: list[LexborNode]) -> str:
    """Return what pictures show, a line for each: what a page of nothing else says."""
    pictures = (node for root in roots for node in root.css("img[alt], area[alt]"))
    shown = (clipped(node.attributes.get("alt") or "") for node in islice(pictures, MAX_HEADINGS))
    return "\n".join(dict.fromkeys(filter(None, shown)))


def headings_of(
    roots: list[LexborNode], title: str, is_own: Callable[[str], bool]
) -> tuple[str, ...]:
    """Return the headings, the terms that are explained, and then names without a heading.

    Those that lead to other pages are entries of a list, and come after the page's own. Of a page
    of nothing but entries the first heading is its title.

    Parameters
    ----------
    is_own : tells whether a link leads to the page itself
    """
    found: list[str] = []
    entries: list[str] = []
    for node in islice((node for root in roots for node in root.css(_HEADINGS)), MAX_HEADINGS):
        heading = printable(node.text()[: 2 * MAX_HEADING]).strip(_HEADLINK)
        if heading:
            leads_to = _leads_to(node)
            told = found if leads_to is None or is_own(leads_to) else entries
            told.append(" ".join(heading.split())[:MAX_HEADING])
    if not found and len(entries) > 1:
        found.append(title[:MAX_HEADING])
    explained = [name for root in roots for name in definitions(root)]
    return tuple(filter(None, dict.fromkeys([*found, *entries, *explained])))[:MAX_HEADINGS]


def _leads_to(heading: LexborNode) -> str | None:
    """Return where a heading leads that is nothing but a link; None: it is none."""
    within = [node for node in heading.iter(include_text=True) if not _is_blank(node)]
    around = heading.parent
    for node in (*within, around) if len(within) == 1 else (around,):
        if node is not None and node.tag == "a":
            return node.attributes.get("href") or None
    return None


def _is_blank(node: LexborNode) -> bool:
    return node.tag == "-text" and not node.text().strip(_HEADLINK)
