"""What a page says: text, title, links, and what it asks of robots."""

from unicodedata import normalize
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborNode

from recrawl.crawler.control.urls import join
from recrawl.crawler.fetch.reading import main_content
from recrawl.crawler.fetch.reading.extract import MAX_LINKS, PageExtractor
from recrawl.crawler.fetch.reading.main_content import MAX_TEXT, MAX_TITLE
from recrawl.terms import Extract, FetchResponse

A = "http://a.test"


def page(html: str | bytes, *, robots_tag: str = "", content_type: str = "text/html") -> Extract:
    body = html if isinstance(html, bytes) else html.encode()
    response = FetchResponse(
        f"{A}/dir/page", 200, body, content_type=content_type, robots_tag=robots_tag
    )
    return PageExtractor("recrawl").page(response)


@pytest.mark.parametrize(
    ("expected", "html"),
    [
        ("A title", "<title> A\n title </title>"),
        ("A & B", "<title>A &amp; B</title>"),
        ("Heading", "<h1>Heading</h1>"),
        ("Heading", "<title> </title><h1>Head<b>ing</b></h1>"),
        ("First", "<title>First</title><title>Second</title>"),
        ("moss - grows", "<title></title><h1>NAME</h1>\n\n<p>moss -\ngrows</p><h1>SYNOPSIS</h1>"),
        ("NAME", "<h1>NAME</h1>"),
        ("red", "<title>\x1b\u202ered\x07</title>"),
        ("", "no title"),
        ("", ""),
    ],
)
def test_the_title_is_the_title_or_the_first_heading(expected: str, html: str) -> None:
    """One line, without what could command a terminal."""
    assert page(html).title == expected


@pytest.mark.parametrize("word", ["\u00e9l\u00e9phants", "c\u1ea5u", "\ud328\ud0a4\uc9c0"])
def test_letters_and_their_accents_are_one_sign(word: str) -> None:
    """However a page has them, as French, Vietnamese and Korean do; its links stay as they are."""
    apart = normalize("NFD", word)
    found = page(f"<title>{apart}</title><main><h1>{apart}</h1><p><a href=/{apart}>{apart}</a>")
    plain = page(f"{apart}\n{apart}", content_type="text/plain")

    assert (found.title, found.headings, found.anchors) == (word, (word,), (word,))
    assert set(found.text.split()) == {word}
    assert (plain.title, plain.text.split()) == (word, [word, word])
    assert found.links == (f"{A}/{quote(apart)}",)


def test_titles_and_texts_are_bounded() -> None:
    """A megabyte of title is no title."""
    found = page(f"<title>{'t' * 10_000}</title><main>{'x ' * MAX_TEXT}</main>")

    assert found.title == "t" * (MAX_TITLE - 1) + "…"
    assert len(found.text) <= MAX_TEXT


@pytest.mark.parametrize(
    ("expected", "html"),
    [
        ("main", "before<main>main</main>after"),
        ("article", "before<article>article</article>"),
        ("main", "<article>article</article><main>main</main>"),
        ("main", '<div>x</div><div role="main">main</div>'),
        ("all\nof it", "<p>all<div>of   \t it</div>"),
        ("kept", "kept<script>x</script><style>x</style><nav>x</nav><template>x</template>"),
        ("kept", "kept<div class='sidebar'>x</div><p hidden>x</p><p aria-hidden=true>x</p>"),
        ("kept", "<header>x</header><p>kept</p><footer>x</footer><noscript>x</noscript>"),
        ("one\ntwo", "<main>one\x00\x1b<br>two\x7f</main>"),
        ("", "<html><body></body></html>"),
        ("A heron\nThe reeds", "<img alt='A  heron'><img alt><map><area alt='The reeds'></map>"),
        ("kept", "<p>kept<img alt=picture>"),
        # What is read out to those who cannot see it is laid out by itself.
        (
            "Directory src/",
            "<p><span class='x sr-only'>Directory</span>src/<b class=sr-only></b>",
        ),
        ("read on about us", "<p><a>read on<i class=screen-reader-text>about</i><i>us</i></a>"),
    ],
)
def test_the_text_is_that_of_the_main_content(expected: str, html: str) -> None:
    """Where no part says that it is, all but boilerplate."""
    assert page(html).text == expected


SAID = "Herrings swim in schools of many thousands, and are eaten by whales, seals, cod and people."
BOX = f"{SAID} {SAID}"
LINKED = "\n".join(f"What others wrote about fish, part {n}" for n in range(9))
LINKS = "".join(f"<a href=/{n}>What others wrote about fish, part {n}</a>" for n in range(9))


@pytest.mark.parametrize(
    ("expected", "html"),
    [
        # Pages of ASP.NET are one form; a form on a page is none of it.
        (
            f"Fish\n{SAID}",
            f"<form method=post><h1>Fish</h1><p>{SAID}</p><button>Go</button></form>",
        ),
        (SAID, f"<p>{SAID}</p><form>Leave a comment <input></form>"),
        (SAID, f"<p>{SAID}</p><form>Like <button>it</button></form><form>By <select></form>"),
        # Shops have what they say of a thing in the form by which it is bought.
        (f"Cod\n{BOX}\n{BOX} {BOX}", f"<form><h1>Cod</h1><p>{BOX}<input></form><p>{BOX} {BOX}"),
        (f"Cod\n{BOX}\n{LINKED}", f"<form><b>Cod</b><p>{BOX}<input></form><p>{LINKS}"),
        (BOX, f"<p>{BOX}</p><form><h1>Sign in</h1>Your name <input></form>"),
        (f"{BOX} {BOX}", f"<p>{BOX} {BOX}</p><form>{BOX} <input></form>"),
        # What trackers show to those who may change nothing.
        (f"{SAID}\nBob", f"<p>{SAID}</p><form><input type=hidden value=1><p>Bob</p></form>"),
        # Boxes of text in the middle of a page, as DocBook and docutils make them; lists of links.
        (f"one\n{BOX}\ntwo", f"<p>one</p><div class=sidebar><p>{BOX}</p></div><p>two</p>"),
        (f"one\n{SAID}", f"<main><p>one</p><aside class=footnote>{SAID}</aside></main>"),
        ("one", f"<p>one</p><aside>{LINKS}</aside><div class=related>{LINKS}</div>"),
        ("one", f"<div id=mainnav class=nav><h2>Context</h2>{LINKS}</div><p>one</p>"),
        (f"{BOX}\none", f"<div class='nav wide'><p>{BOX}</p></div><p>one</p>"),
        ("one", "<main><p>one</p><aside>Share<a href=/>this page with friends</a></aside></main>"),
        ("one", f"<p>one</p><aside><div class=sidebar><p>{LINKS}</p></div>short</aside>"),
        # What introduces an article is of it, what opens an answer is its question.
        (f"Fish\nA lead.\n{SAID}", f"<article><header><h1>Fish</h1><p>A lead.</header><p>{SAID}"),
        (f"Fish\n{SAID}", f"<div role=main><header><h1>Fish</h1></header><p>{SAID}</div>"),
        (f"Who?\n{SAID}", f"<h2><button>Who?</button></h2><div>{SAID}</div>"),
        # Links that look like buttons lead somewhere, buttons do something.
        ("one\nsea\ntwo", "<p>one</p><a href=/t><button type=button>sea</button></a><p>two"),
        ("one\ntwo", "<p>one</p><a><button>Like</button></a><button>Go</button><p>two"),
        # Several articles, and comments within one.
        ("one\ntwo", "<article>one</article><p>x</p><article>two</article>"),
        ("one\nsaid", "<article>one<article>said</article></article>"),
        # Entries of a manual, each an article; what stands beside one is less than it.
        (f"{BOX}\none\ntwo", f"<p>{BOX}</p><article>one</article><article>two</article>"),
        (f"{BOX}\n{SAID}", f"<p>{BOX}</p><article>{SAID}</article>"),
        (BOX, f"<article>{BOX}</article><div>{SAID}</div>"),
        (f"{SAID}\n{SAID}", f"{LINKS}<article>{SAID}</article><article>{SAID}</article>"),
        # A part that is called the main one and says nothing is not what the page is about.
        (f"{BOX}\n{BOX}", f"<main id=top></main><p>{BOX}</p><p>{BOX}</p>"),
        ("Hi", "<main>Hi</main><p>few words beside it</p>"),
        # Where nothing looks like content, all of it is; an empty main part may be for now.
        (BOX, f"<body aria-hidden=true><header>{BOX}</header></body>"),
        ("Menu", "<nav>Menu</nav>"),
        ("", "<nav>Menu</nav><main></main>"),
        ("", f"<div id=root></div><nav>{BOX}</nav><script>start()</script>"),
    ],
)
def test_what_is_content_shows_in_what_it_says(expected: str, html: str) -> None:
    """Names of elements and classes are hints: neither is a text lost to one, nor a menu taken."""
    assert page(html).text == expected


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows with each box that is read to see whether it is a text."""
    real, judged = main_content._is_text, list[int]()

    def is_text(node: LexborNode, least: int) -> bool:
        judged.append(least)
        return real(node, least)

    monkeypatch.setattr(main_content, "_is_text", is_text)
    return judged


def test_boxes_within_boxes_are_read_a_few_times_and_not_once_for_each_depth(
    judged: list[int],
) -> None:
    """Four hundred reads of one text would be an attack; what is not judged is kept."""
    assert page(f"{'<aside>' * 400}{BOX}").text == BOX
    assert len(judged) < 50


@pytest.mark.parametrize(
    "html",
    [
        "<body class=captcha><p>{}</p>",
        "<main><article class='post captcha'><p>{}</p></article></main>",
        "<main><div class='post tag-captcha'><p>{}</p></div></main>",
        "<main><div class=captcha><p>{}</p></div></main>",
        "<main><section id=captcha><p>{}</p></section></main>",
    ],
)
def test_pages_about_what_forms_ask_to_tell_people_from_robots_are_read(html: str) -> None:
    assert page(html.format(BOX)).text == BOX


def test_a_page_that_scripts_are_to_fill_is_not_taken_by_what_stands_beside() -> None:
    """Its main part is empty, and a browser is asked."""
    html = f"<p>{BOX}</p><main id=app></main><script>start()</script>"

    assert page(html).text == ""
    assert page(html).needs_scripts


@pytest.mark.parametrize(
    ("expected", "html"),
    [
        ("os.path.join is one", "<p><i>os</i>.<b>path</b><span>.</span><span>join</span> is one"),
        ("Prev\nNext", "<a href=1>Prev</a><a href=2>Next</a>"),
        ("one two\nthree", "<table><tr><td>one\ntwo</td><td>three</td></tr></table>"),
        ("term\nwhat it is", "<dl><dt>term<dd>what it is</dl>"),
        ("net\nrod", "<input type=radio><label>net</label><input type=radio><label>rod</label>"),
    ],
)
def test_a_line_is_a_block_and_words_stay_whole(expected: str, html: str) -> None:
    """Marks within a word do not end it; a cell, an entry or a link of a list is a line."""
    assert page(html).text == expected


def test_headings_and_terms_are_told_without_marks_of_links() -> None:
    """Each once, without what navigation repeats."""
    html = "<nav><h2>Menu</h2></nav><h1>A <b>head</b></h1><dt>--onto</dt><h1>A head<a>¶</a></h1>"

    assert page(html).headings == ("A head", "--onto")


@pytest.mark.parametrize(
    ("html", "headings"),
    [
        ("<h3><a href='/1'>One</a></h3><h3> <a href=2>Two</a></h3>", ("All", "One", "Two")),
        ("<a href=1><h3>One</h3></a><a href=2><h3>Two</h3></a>", ("All", "One", "Two")),
        ("<h3><a href='/1'>One</a></h3><h1>Lamps</h1>", ("Lamps", "One")),
        ("<h1><a href=/1>One</a></h1><h2>Glass</h2>", ("Glass", "One")),
        ("<h2>One <a href=/1>1</a></h2><h2><a href='#b'>Two</a></h2>", ("One 1", "Two")),
        ("<h1><a href=page>One</a></h1><h2><a href=2>Two</a></h2>", ("One", "Two")),
        ("<h1><a href=/c>One</a></h1><h2><a href=2>Two</a></h2>", ("One", "Two")),
        ("<h1><a href=/1>One</a></h1><p>Of it.</p>", ("One",)),
        ("<h1><a name=b>One</a></h1><h2><a>Two</a></h2>", ("One", "Two")),
    ],
)
def test_headings_that_lead_elsewhere_come_after_the_pages_own(
    html: str, headings: tuple[str, ...]
) -> None:
    """An entry is not what its list is called."""
    head = "<head><title>All</title><link rel=canonical href=/c></head>"

    assert page(f"{head}<main>{html}</main>").headings == headings


def test_the_mark_of_a_headings_link_to_itself_is_no_text() -> None:
    html = (
        "<main><h1>A head<a class=headerlink href='#a'>\u00b6</a></h1><p>See \u00b6 4.</p></main>"
    )

    assert page(html).text == "A head\nSee \u00b6 4."


@pytest.mark.parametrize(
    "head",
    [
        # Behind a heading, before it, around it, beside it: Sphinx, VitePress, rustdoc, mdBook,
        # Doxygen, Starlight, themes of Hugo.
        "<h2 id=nets>Nets<a class=headerlink href=#nets>#</a></h2>",
        "<h2 id=nets tabindex=-1>Nets <a href='#nets' aria-label='Permalink'>&#8203;</a></h2>",
        "<h2 id=nets><a class=doc-anchor href='#nets'>§</a>Nets</h2>",
        "<section id=nets><a href='#nets' class=anchor>§</a><h3><code>Nets</code></h3></section>",
        "<h2 id=nets><a class=header href='#nets'>Nets</a></h2>",
        "<h2><span class=permalink><a href='#nets'>&#9670;&#160;</a></span>Nets</h2>",
        "<h2 id=nets>Nets <a href='#nets'><i class=material-icons>link</i></a></h2>",
        "<div><h2 id=nets>Nets</h2><a href='#nets'><b class=sr-only>This: Nets</b></a></div>",
        "<h2 id=nets>Nets <a href='#nets' class=visually-hidden>Link to here</a></h2>",
        "<h2 id='n%C3%A4he'>Nets <a href='/page#user-content-nets'>🔗</a></h2>",
        "<dl><dt id=nets>Nets<a href='#nets'>¶</a></dt></dl>",
        "<table id=nets><caption>Nets<a href='#nets'>#</a></caption></table>",
        # Beside it what leads to the top of the page: RDoc.
        "<h2 id=nets>Nets <span><a href='#nets'>¶</a> <a href='#top'>↑</a></span></h2>",
    ],
)
def test_what_leads_a_heading_to_itself_is_no_text(head: str) -> None:
    """Neither in the text, nor in headings, nor in a title that is made of one."""
    found = page(f"<main>{head}<p>A net has knots.</main>")

    assert found.text.split("\n") == ["Nets", "A net has knots."]
    assert found.headings in (("Nets",), ())
    assert page(f"<main>{head.replace('h2', 'h1')}</main>").title in ("Nets", "")


@pytest.mark.parametrize(
    "head",
    [
        # MediaWiki, old and new, and whoever documents code.
        "<h2><b>{0}</b><span>[<a href=?s={0}>edit</a> | <a href=?v={0}>source</a>]</span></h2>",
        "<div><h2 id={0}>{0}</h2><span><b>[</b><a href=?s={0}><b>edit</b></a><b>]</b></span></div>",
        "<h2>{0} <a href=/src/{0}>[source]</a><a href=#{0}>¶</a> </h2>",
    ],
)
def test_links_to_edit_what_a_heading_opens_or_to_its_source_are_no_text(head: str) -> None:
    """They are followed as others are."""
    parts = "".join(f"{head.format(name)}<p>All of {name}." for name in ("Nets", "Knots"))
    found = page(f"<main>{parts}</main>")

    assert found.headings == ("Nets", "Knots")
    assert found.text.split("\n") == ["Nets", "All of Nets.", "Knots", "All of Knots."]
    assert len(found.links) >= 2


@pytest.mark.parametrize(
    "html",
    [
        "<h2>Nets <a href=/tar>[Tar 1904]</a></h2><h2>Knots <a href=/rope>[Rope 1911]</a></h2>",
        "<h2>Nets <a href=#old>[old]</a></h2><h2>Knots <a href=#old>[old]</a></h2>",
        "<h2><a href=/1>[one]</a></h2><h2><a href=/2>[one]</a></h2>",
    ],
)
def test_what_else_stands_in_brackets_behind_a_heading_is_text(html: str) -> None:
    """What is cited there, what holds of some, what is all of one."""
    assert page(f"<main>{html}</main>").text.count("[") == 2


def test_permalinks_are_found_behind_thousands_of_other_links() -> None:
    """To places in other pages, and of a table of contents."""
    others = "<a href='other#x'>a net</a> <a href='#nets'>nets</a> " * 4_000

    found = page(f"<main><p>{others}<h2 id=nets>Nets <a href='#nets'>#</a></h2></main>")

    assert found.text.endswith("\nNets")


@pytest.mark.parametrize(
    ("expected", "html"),
    [
        ("C#", "<h2 id=c>C#</h2>"),
        ("1.\nNets", "<h2 id=a><a href='#a'>1. </a><a href='#a'>Nets</a></h2>"),
        ("#", "<h2 id=hash><a href='#hash'>#</a></h2>"),
        ("+\n-", "<ul><li><a href='#plus'>+</a><li><a href='#minus'>-</a></ul><h3 id=plus></h3>"),
        ("Nets link", "<h2 id=a>Nets <a href='#other'>link</a></h2>"),
        ("Nets top", "<h2 id=a>Nets <a href='#top'>top</a></h2>"),
        ("Nets ↑", "<h2 id=a>Nets <a href='#other'>↑</a></h2>"),
        ("See # there", "<p>See <a href='#there'>#</a> there</p>"),
    ],
)
def test_what_a_heading_says_is_text_though_it_leads_to_itself(expected: str, html: str) -> None:
    """Numbers, names and signs that stand for themselves."""
    assert page(f"<main>{html}</main>").text == expected


@pytest.mark.parametrize(
    ("expected", "html"),
    [
        # Tabs, as Sphinx, Docusaurus and others hide all but one of them; what a question opens.
        ("use\nnet\nrod", "<p>use<div role=tabpanel>net</div><div role=tabpanel hidden>rod</div>"),
        ("use\nrod", "<p>use<div role=tabpanel aria-hidden=true>rod</div>"),
        ("use\nrod", "<p>use<div role=tabpanel style='display:none'>rod</div>"),
        ("use\nrod", "<p>use<div hidden=until-found>rod</div>"),
        ("Why?\nrod", "<h3><button aria-controls=a>Why?</button></h3><div id=a hidden>rod</div>"),
        ("Why?\nrod", "<details><summary>Why?</summary><p>rod</p></details>"),
        # What is hidden otherwise, and menus that are shown in the way of tabs.
        ("use", "<p>use<div hidden>rod<div role=tabpanel hidden>rod</div></div>"),
        ("use", f"<p>use<div role=tabpanel hidden>{LINKS}</div>"),
        ("use", f"<h3><button aria-controls=a></button></h3><p>use<div id=a hidden>{LINKS}</div>"),
        ("use", "<p>use<button aria-controls=a>Go</button><div id=a hidden>rod</div>"),
        # Dialogs: what the text shows, what asks for something.
        (f"use\n{BOX}", f"<p>use<dialog><p>{BOX}</dialog>"),
        ("use", f"<p>use<dialog>{BOX} We use cookies.</dialog>"),
        ("use", "<p>use<div role=dialog aria-modal=true>Search <input></div>"),
    ],
)
def test_what_is_hidden_until_it_is_asked_for_is_text_if_it_reads_as_one(
    expected: str, html: str
) -> None:
    assert page(f"<main>{html}</main>").text == expected


@pytest.mark.parametrize(
    ("expected", "html"),
    [
        ("use", f"<p>use<dialog>{BOX}</dialog>"),
        ("use", f"<p>use<div role=alertdialog>{BOX}</div>"),
        ("use", "<p>use<div role=tabpanel hidden>Nothing found</div>"),
        (f"use\n{BOX}", f"<p>use<div role=tabpanel hidden>{BOX}</div>"),
        ("use", "<div role=dialog><main>use</main></div>"),
    ],
)
def test_beside_the_content_it_is_text_only_if_it_is_a_long_one(expected: str, html: str) -> None:
    """Dialogs there are notices, menus and searches, unless all the content stands in one."""
    assert page(html).text == expected


def test_hidden_tabs_are_read_a_few_times_and_not_once_for_each_depth(
    judged: list[int],
) -> None:
    """Nor are thousands of them judged."""
    assert page(f"<main>{'<div role=tabpanel hidden>' * 400}{BOX}").text == BOX
    assert len(judged) < 10
    page("<main>" + "<div role=tabpanel hidden>net</div>" * 5_000)
    assert len(judged) < 600


@pytest.mark.parametrize(
    ("expected", "word"),
    [
        ("Donaudampfschiff", "Do&shy;nau&shy;dampf&shy;schiff"),
        ("indexOf(int ch)", "indexOf&#8203;(int ch)"),
        ("a/b", "a/&#x2060;b"),
        ("\u0e01\u0e32\u200b\u0e23", "\u0e01\u0e32\u200b\u0e23"),  # Thai: a word ends here
        ("\u0645\u06cc\u200c\u0634\u0648\u062f", "\u0645\u06cc\u200c\u0634\u0648\u062f"),  # Persian
    ],
)
def test_where_a_word_may_be_broken_is_no_sign_of_it(expected: str, word: str) -> None:
    """In titles, headings, texts, texts of links; what tells words apart stays."""
    html = f"<title>{word}</title><main><h1>{word}</h1><p>{word}<p><a href=/x>{word}</a></main>"

    found = page(f"\ufeff{html}")

    assert (found.title, found.headings, found.anchors) == (expected, (expected,), (expected,))
    assert found.text == "\n".join([expected] * 3)


@pytest.mark.parametrize(
    ("expected", "links"),
    [
        ("red lamp", "<a href=/7>7</a> <a href=/7>red lamp</a> <a href=/7>more</a>"),
        ("red lamp", "<a href=/7><img></a> <a href=/7>#7</a> <a href=../7>red lamp</a>"),
        ("7", "<a href=/7>7</a> <a href=/7>8</a>"),
        ("red lamp", "<a href=/7>red lamp</a> <a href=/7>7</a>"),
    ],
)
def test_a_page_is_called_what_the_first_link_with_a_word_says(expected: str, links: str) -> None:
    """Tables lead to a thing by its number, then by its name."""
    assert page(f"<main>{links}</main>").anchors == (expected,)


def test_markdown_has_a_title_and_headings() -> None:
    """Links in it are not followed: they are text."""
    found = page("words\n# A title #\n\n## More\n#no heading", content_type="text/markdown")

    assert (found.title, found.headings) == ("A title", ("A title", "More"))
    assert found.links == ()


def test_xml_is_its_text_and_a_listing_is_no_page() -> None:
    """No element stands in a line with the next; sitemaps and feeds are read elsewhere."""
    xml = "<?xml version='1.0'?><book><title>Rain</title><by>Ann</by><year>2026</year></book>"

    found = page(xml, content_type="application/xml")

    assert (found.title, found.text.split("\n")) == ("Rain", ["Rain", "Ann", "2026"])
    assert not found.noindex
    for listing in ("<urlset>", "<rss version='2.0'>", "<feed xmlns='x'>", "<s:sitemapindex>"):
        assert page(f"<?xml version='1.0'?>{listing}", content_type="text/xml").noindex


def test_what_xhtml_opens_and_closes_at_once_holds_nothing() -> None:
    """As XML it may close any element so; what is sent as HTML may not."""
    html = '<html><head><title>T</title><script src="a.js"/></head><body><a id="x"/><p>A<br/>b</p>'

    assert page(html, content_type="application/xhtml+xml").text == "A\nb"
    assert page(html).text == ""


def test_plain_text_is_its_own_content() -> None:
    """Its first line is the title, and it has no links."""
    found = page("\n A title\nwords <a href=/x>\x1b", content_type="text/plain")

    assert found.title == "A title"
    assert found.text == "\n A title\nwords <a href=/x> "
    assert found.links == ()


@pytest.mark.parametrize(
    ("expected", "html"),
    [
        (["/dir/x"], "<a href=x>"),
        (["/x"], "<a href='/x#y'>"),
        (["/dir/x"], "<a href=' x\n'>"),
        (["/dir/page?q"], "<a href='?q'>"),
        (["/x", "/y"], "<a href=/x><a href=/y><a href=/x>"),
        (["/area"], "<area href=/area>"),
        (["/frame"], "<iframe src=/frame></iframe>"),
        (["/nav", "/foot"], "<nav><a href=/nav></a></nav><footer><a href=/foot></a></footer>"),
        ([], "<a href='#x'><a href='javascript:x()'><a href='mailto:x@y'><a href='DATA:,x'><a>"),
        ([], "<a href=/x rel=nofollow><a href=/y rel='Noopener NOFOLLOW'>"),
        ([], "<a href='http://[bad'><a href=''><a href=' '>"),
        (["/sub/x"], "<base href=/sub/><a href=x>"),
        (["/sub/x"], "<a href=x><base href=/sub/>"),
        (["/dir/x"], "<base href='mailto:x@y'><a href=x>"),
        (["/dir/x"], "<base><a href=x>"),
        (["/one/x"], "<base href=/one/><base href=/two/><a href=x>"),
        (["/unclosed"], "<table><tr><td><a href=/unclosed<b>"),
        (["/caf%C3%A9"], "<a href=/café>"),
        (["/x?a=1&b=2"], "<a href='/x?a=1&amp;b=2'>"),
        (["/en/"], "<meta http-equiv=refresh content='0; url=/en/'>"),
        (["/en/", "/x"], "<meta http-equiv=Refresh content=' 1.5 ,URL = \"/en/\"'><a href=/x>"),
        (["/dir/en"], "<meta http-equiv=refresh content='0;en'>"),
        ([], "<meta http-equiv=refresh content=300><meta http-equiv=refresh content='5; '>"),
        ([], "<meta http-equiv=refresh content='0; url=javascript:x()'>"),
        ([], "<meta http-equiv=refresh content='0; url=/x'><meta name=robots content=nofollow>"),
        ([], "<noscript><meta http-equiv=refresh content='0; url=/simple'></noscript>"),
        ([], "<body><p>x<meta http-equiv=refresh content='0; url=/of-a-comment'>"),
        (["/fr/"], "<link rel=alternate hreflang=fr href=/fr/><link rel=prefetch href=/y>"),
        (["/?p=1", "/?p=3"], "<link rel=prev href='/?p=1'><link rel='x NEXT' href='/?p=3'>"),
        ([], "<body><p>x<link rel=next href=/of-a-comment>"),
    ],
)
def test_links_are_found_wherever_they_stand(expected: list[str], html: str) -> None:
    """In normal form, in order, once; not those that must not or cannot be followed."""
    found = page(html).links

    assert [link.removeprefix(A).removesuffix("%3Cb") for link in found] == expected


FEW = "<title>Redirecting</title><p>The net is now <a href=/rod>elsewhere</a>."


@pytest.mark.parametrize(
    ("target", "html"),
    [
        ("/rod", f"<meta http-equiv=refresh content='0; url=/rod'>{FEW}"),
        ("/rod", f"<meta http-equiv=Refresh content='5;URL=../rod'>{FEW}"),
        (None, f"<meta http-equiv=refresh content='30; url=/rod'>{FEW}"),
        (None, f"<meta http-equiv=refresh content='0; url=#there'>{FEW}"),
        (None, f"<meta http-equiv=refresh content='0; url=javascript:x()'>{FEW}"),
        (None, f"<meta http-equiv=refresh content='0; url=/rod'>{FEW}{BOX}{BOX}"),
        (None, f"<meta name=robots content=nofollow><meta http-equiv=refresh content=0;/a>{FEW}"),
        (None, FEW),
    ],
)
def test_a_page_that_sends_its_reader_on_says_where_to(target: str | None, html: str) -> None:
    """At once, and saying next to nothing; not a page that is loaded anew, or that is a page."""
    assert page(html).sends_to == (None if target is None else f"http://a.test{target}")


@pytest.mark.parametrize(
    ("target", "links", "header", "html"),
    [
        ("/rod", ["/rod"], "0; url=/rod", "<p>little"),
        ("/rod", ["/rod", "/a"], '3;URL="../rod"', "<p>little <a href=/a>x</a>"),
        ("/rod", ["/rod"], "0; url=/rod", "<meta http-equiv=refresh content='0; url=/rod'>"),
        (None, ["/rod"], "30; url=/rod", "<p>little"),
        (None, ["/rod"], "0; url=/rod", BOX + BOX + BOX),
        (None, [], "0; url=/rod", "<meta name=robots content=nofollow>"),
        (None, [], "0; url=#there", "<p>little"),
        (None, [], "0", "<p>little"),
    ],
)
def test_the_header_that_sends_a_reader_on_means_what_the_element_does(
    target: str | None, links: list[str], header: str, html: str
) -> None:
    """It is a link, and the page a redirect if it sends on at once and says next to nothing."""
    response = FetchResponse(f"{A}/dir/page", 200, html.encode(), "text/html", refresh=header)

    found = PageExtractor("recrawl").page(response)

    assert found.sends_to == (None if target is None else A + target)
    assert [link for link in found.links if link != f"{A}/dir/page"] == [A + link for link in links]
    assert len(found.anchors) == len(found.links)


@pytest.mark.parametrize(
    ("expected", "link", "charset"),
    [
        ("?t=%EB%E5%F1", "?t=лес", "windows-1251"),
        ("/%D0%BB?t=%EB", "/л?t=л#л", "windows-1251"),
        ("?t=%83A%83%5C", "?t=アソ", "Shift_JIS"),
        ("?t=%C3%A9l%C3%A8ve", "?t=élève", "utf-8"),
        ("?t=%C3%A9l%C3%A8ve", "?t=élève", "utf-16"),
        ("?t=%E9%26%238364%3B&u=1", "?t=é&#8364;&u=1", "iso-8859-2"),
        ("?t=%C3%A9", "?t=%C3%A9", "iso-8859-2"),
        ("/x", "/x#?л", "windows-1251"),
    ],
)
def test_queries_of_links_are_in_the_charset_of_their_page(
    expected: str, link: str, charset: str
) -> None:
    """As browsers send them; a script of such a site knows its pages by no other bytes."""
    html = f'<meta charset="{charset}"><link rel=canonical href="{link}"><a href="{link}">x</a>'

    found = page(html.encode(charset))

    address = join(f"{A}/dir/page", expected)
    assert found.links == (address,)
    assert found.canonical == address


def test_an_index_of_thousands_of_pages_leads_to_each() -> None:
    """As that of the packages of a distribution, or of the words of a dictionary."""
    html = "".join(f"<p><a href=/words/{number}>word</a>" for number in range(20_000))

    assert len(page(html).links) == 20_000


def test_links_are_bounded() -> None:
    """A page of a hundred thousand links is a trap."""
    html = "".join(f"<a href=/{number}>" for number in range(MAX_LINKS + 500))

    assert len(page(html).links) == MAX_LINKS


@pytest.mark.parametrize(
    ("canonical", "feeds", "html"),
    [
        (f"{A}/real", (), "<link rel=canonical href=/real>"),
        (f"{A}/real", (), "<link rel='CANONICAL alternate' href=/real>"),
        (None, (), "<link rel=canonical href='javascript:x'>"),
        (None, (), "<body><p><link rel=canonical href=/in-body></p></body>"),
        (None, (f"{A}/f",), "<link rel=alternate type=application/rss+xml href=/f>"),
        (None, (f"{A}/f",), "<link rel=alternate type=Application/ATOM+xml href=/f>"),
        (None, (), "<link rel=alternate type=text/html href=/f>"),
        (None, (), "<link rel=alternate type=application/rss+xml>"),
        (None, (), "<link rel=stylesheet href=/f>"),
    ],
)
def test_canonical_address_and_feeds(
    canonical: str | None, feeds: tuple[str, ...], html: str
) -> None:
    """From the head only: whoever writes comments must not move a page."""
    found = page(f"<html><head>{html}" if "<body>" not in html else f"<html><head></head>{html}")

    assert (found.canonical, found.feeds) == (canonical, feeds)


@pytest.mark.parametrize(
    ("noindex", "nofollow", "meta"),
    [
        (False, False, "<meta name=robots content='index, follow'>"),
        (True, False, "<meta name=robots content=noindex>"),
        (True, True, "<META NAME=ROBOTS CONTENT='NoIndex , NOFOLLOW'>"),
        (True, True, "<meta name=robots content=none>"),
        (True, False, "<meta name=recrawl content=noindex>"),
        (False, False, "<meta name=otherbot content=noindex>"),
        (False, False, "<meta name=robots>"),
        (False, False, "<meta name=description content=noindex>"),
        (True, True, "<meta name=robots content=noindex><meta name=recrawl content=nofollow>"),
    ],
)
def test_meta_tags_for_robots_are_obeyed(noindex: bool, nofollow: bool, meta: str) -> None:
    """For everybody, or for us by name; what is asked adds up."""
    found = page(f"<html><head>{meta}</head><body><a href=/x>")

    assert (found.noindex, found.nofollow) == (noindex, nofollow)
    assert bool(found.links) is not nofollow


@pytest.mark.parametrize(
    ("noindex", "nofollow", "header"),
    [
        (False, False, ""),
        (False, False, "all"),
        (True, False, "noindex"),
        (True, True, "NOINDEX, nofollow"),
        (True, True, "none"),
        (True, False, "noarchive, noindex"),
        (True, False, "recrawl: noindex"),
        (True, True, "ReCrawl: noindex, nofollow"),
        (False, False, "otherbot: noindex, nofollow"),
        (False, True, "otherbot: noindex, recrawl: nofollow"),
        (True, False, "noindex, otherbot: nofollow"),
        (True, False, "unavailable_after: 25 Jun 2035 15:00:00 GMT, noindex"),
        (True, False, "unavailable_after: Wed, 03 Feb 2010 10:00:00 GMT"),
        (False, True, "unavailable_after: Sun, 03 Feb 2999 10:00:00 GMT, nofollow"),
        (False, False, "otherbot: unavailable_after: Wed, 03 Feb 2010 10:00:00 GMT"),
        (True, False, "max-snippet: 20, noindex"),
        (True, False, "max-image-preview: large, noindex"),
        (True, False, "max-video-preview: -1, noindex"),
    ],
)
def test_the_header_for_robots_is_obeyed(noindex: bool, nofollow: bool, header: str) -> None:
    """X-Robots-Tag: for everybody, or after a name; a directive with a value is no name."""
    for content_type in ("text/html", "text/plain"):
        found = page("words", robots_tag=header, content_type=content_type)
        assert (found.noindex, found.nofollow) == (noindex, nofollow)


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 100_000 + "deep",
        "<div>" * 50_000 + "</div>" * 50_000,
        "<p><b id=x></p>" * 50_000,
        "<foo></bar>" * 50_000,
        "<i><p></i>" * 10_000,
        "<b><i>" * 20_000,
        "<table>" * 20_000,
        "<a href=x>" * 50_000,
        "<p" + " a=b" * 100_000 + ">",
        "<!--" * 100_000,
        "<svg><math>" * 10_000,
        "&amp" * 100_000,
        "<select><option>" * 20_000,
        "</p>" * 50_000,
    ],
    ids=lambda html: html[:12],
)
@pytest.mark.timeout(20)
def test_nesting_ends_in_bounded_time_and_stack(html: str) -> None:
    """A page made to break parsers is a page."""
    found = page(html)

    assert len(found.signature) == 16


@pytest.mark.parametrize(
    "html",
    [
        "<div><span>x</span></div>" * 5_000,
        "<p>x<br><img src=x><li>y<td>z" * 5_000,
        "<svg><path d='x'/><use href='#x' /></svg>" * 3_000,
        "<svg>" + "<path d='M0 0'/>" * 5_000 + "</svg>",
        "<script>'<div>'</script><b>x</b>" * 5_000,
        "<div>" * 400 + "x</div>" * 400 + "<i>y</i>" * 3_000,
    ],
    ids=lambda html: html[:12],
)
def test_pages_that_are_long_but_not_deep_are_read_to_their_end(html: str) -> None:
    """Tags without an end, shapes of a drawing, any number of siblings."""
    assert page(html + "<p>the end</p>").text.endswith("the end")


@given(
    st.lists(
        st.sampled_from(
            ("<", ">", "<a href=", "'", '"', "<base href=", "<meta name=robots content=", "noindex",
             "</", "<!--", "-->", "<![CDATA[", "<title>", "&#0;", "&#x110000;", "\x00", "é",
             "main", "<main>", "<template>", "<link rel=canonical href=", "//", "http://", " ",
             "<frameset>")
        ),
        max_size=30,
    )
)  # fmt: skip
def test_no_markup_breaks_it(pieces: list[str]) -> None:
    """What comes out is in normal form, or not there."""
    found = page("".join(pieces))

    assert all(link.startswith(("http://", "https://")) for link in found.links + found.feeds)
    assert "\x00" not in found.text + found.title


def test_meta_tags_count_wherever_the_parser_puts_them() -> None:
    """A page of another DOCTYPE, or with text before its head, has them in the body."""
    html = '<p>text<meta name="robots" content="index, nofollow"><a href="/x">x</a>'

    found = page(html)

    assert found.nofollow
    assert not found.noindex
    assert found.links == ()


@pytest.mark.parametrize(
    ("noindex", "until"),
    [
        (True, "2001-02-03"),
        (True, "2001-02-03T10:00:00+00:00"),
        (True, "Wed, 03 Feb 2010 10:00:00 GMT"),
        (True, "03 Feb 2010 10:00:00 GMT"),
        (False, "2999-02-03"),
        (False, "soon"),
    ],
)
def test_a_page_is_not_indexed_after_the_day_that_it_names(noindex: bool, until: str) -> None:
    """In the forms of HTTP, of mail and of ISO 8601."""
    assert page(f'<meta name="robots" content="unavailable_after: {until}">').noindex is noindex


@pytest.mark.parametrize(
    ("needs", "html"),
    [
        (True, '<div id="root"></div><script src="/app.js"></script>'),
        (True, '<div id="app">Loading...</div><script>start()</script>'),
        (
            False,
            '<div id="root">' + "Words that are there without scripts. " * 3 + "</div><script>",
        ),
        (False, '<div id="root"></div>'),
        (False, "<p>short<script>count()</script>"),
        (True, "<body><noscript>Needs scripts.</noscript><script>start()</script>"),
        (False, "<title>Nothing yet</title>"),
    ],
)
def test_a_page_that_scripts_fill_is_known_as_one(needs: bool, html: str) -> None:
    """It has scripts, an element for them to fill, and next to nothing to say."""
    assert page(html).needs_scripts is needs
