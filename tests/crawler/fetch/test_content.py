"""What of a page is content where people say so, as Markdown, and what pages say of themselves."""

import asyncio

import pytest

from recrawl.crawler.fetch.reading.extract import PageExtractor
from recrawl.crawler.fetch.reading.isolation.extractor import IsolatedExtractor
from recrawl.crawler.fetch.reading.isolation.reader import Limits
from recrawl.crawler.fetch.reading.markdown import is_available
from recrawl.crawler.fetch.reading.reading_rules import ContentRule, ReadingRules
from recrawl.terms import Extract, FetchResponse

URL = "https://a.test/docs/page.html"
HTML = """<!doctype html><html lang="en"><head><title>Site | Page</title>
<meta name="author" content="Ada  Lovelace"><meta name="robots" content="noai, max-snippet:20">
<meta property="article:published_time" content="2026-01-02T03:04:05Z">
<meta name="tdm-reservation" content="1"><link rel="license" href="/licence">
<script type="application/ld+json">{"@graph": [{"dateModified": "2026-02-03"}]}</script></head>
<body><aside class="menu"><a href="/a">Menu</a></aside>
<main><h1 id="top">Page</h1><p>One <a href="../b?c=d#e">link</a> and <code>x*y</code>.</p>
<section id="install"><h2>Install<a class="headerlink" href="#install">\u00b6</a></h2>
<div class="highlight-sh notranslate"><pre>apt-get  install
  it</pre></div><ul><li>one<ul><li>two</li></ul></li></ul>
<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>x|y</td></tr></table></section>
<div class="share">Share it</div></main>
<article><h1>Title of it</h1><p>In the article.</p></article>
<footer>Made by</footer></body></html>"""


def read(html: str, *rules: ContentRule, markdown: bool = False, url: str = URL) -> Extract:
    """Read a page by rules."""
    response = FetchResponse(url, 200, html.encode(), "text/html", "utf-8", usage="TDM-Policy: /p")
    return PageExtractor("recrawl", ReadingRules(rules, markdown)).page(response)


def test_people_say_what_is_content() -> None:
    """By path; where a selector finds nothing, the page is read as without the rule."""
    rule = ContentRule("/docs/*", "article", (), "article h1")
    found = read(HTML, rule)
    assert (found.title, found.text) == ("Title of it", "Title of it\nIn the article.")
    assert found.main == "article"
    assert "https://a.test/a" in found.links  # where links lead is another question
    plain = read(HTML)
    assert plain.main == "main"
    assert read(HTML, rule, url="https://a.test/blog") == plain
    assert read(HTML, ContentRule("/docs/*", ".nowhere")) == plain
    assert "Share it" in plain.text
    assert "Share it" not in read(HTML, ContentRule("*", drop=(".share", ".nowhere"))).text
    assert read(HTML, ContentRule("*", "aside")).text == "Menu"  # also what is none elsewhere
    several = read(HTML, ContentRule("*", "main, main h1, article"))
    assert several.text.count("Page") == 1
    assert several.text.endswith("In the article.")


MANUALS = (  # what leads to the pages beside one, as manuals write it
    '<div class="header"><p>Next: <a href="c" accesskey="n" rel="next">Cells</a>, Up: '
    '<a href="d" rel="up">Data</a> [<a href="i" rel="contents">Contents</a>]</p></div><hr>',
    '<div class="navheader"><table><tr><th colspan="3">2.1. Ferns</th></tr><tr><td>'
    '<a href="p"><img alt="Prev"></a></td><th>Chapter 2. Plants</th></tr></table></div>',
    '<div class="header"><div class="navigationbar"><ul><li>Moss 5.15</li><li><a href="m">Classes'
    "</a></li><li>Ferns</li></ul></div></div>",
    '<ul class="pager"><li class="previous"><a href="a">\u2190 Algae</a></li><li class="next">'
    '<a href="c">Cacti \u2192</a></li></ul>',
    '<div class="pagination"><ul><li>Page 2 of 3</li><li><a href="1">1</a></li><li><span>2</span>'
    '</li><li><a href="3">3</a></li></ul></div>',
    '<div class="navpath"><ul><li class="navelem"><a href="p">Plants</a></li></ul></div>',
    '<div class="m-navbar"><div class="m-navbar-head"><a href="p">Plants</a><div><table><tr><td>'
    '<a href="a">Algae</a> (new)</td></tr><tr><td><a href="c">Cacti</a></td></tr></table></div>'
    "</div></div>",
    "<div class='prev-next-area'><a href='a' title='previous page'><div><p>previous</p><p>Algae</p>"
    "</div></a><a href='c' title='next page'><div><p>next</p><p>Cacti</p></div></a></div>",
    '<ul class="docnav"><li class="previous"><a href="a"><strong>Prev</strong></a></li>'
    '<li class="next"><a href="c"><strong>2.2. Cacti</strong></a></li></ul>',
    '<div class="search-results"><h1><span></span> results matching "<span></span>"</h1><ul></ul>'
    '<a href="s"></a></div>',
    '<div class="rel"><a rel="prev" href="a">Algae</a> | <a rel="next" href="c">Cacti</a></div>',
    '<div id="nav"><li>Plants</li><li><a href="a">Algae</a></li><li><a href="c">Cacti</a></div>',
    '<table><tr><td id="menu"><a href="a">Algae</a><br><a href="c">Cacti</a></td></tr></table>',
)


@pytest.mark.parametrize("beside", MANUALS)
def test_what_leads_to_the_pages_beside_one_is_no_text(beside: str) -> None:
    """Links are followed; a line that says more than where it leads is a text."""
    found = read(f"<body>{beside}<h1>Ferns</h1><p>They grow.</p>{beside}</body>", markdown=True)
    assert found.text == "Ferns\nThey grow."
    assert found.markdown.replace("---", "").strip() == "# Ferns\n\nThey grow."
    assert found.links
    sections = f"{beside}<h2>More</h2><p>Of them.</p>" * 100  # a manual may be one page
    assert set(read(f"<body>{sections}</body>").text.split("\n")) == {"More", "Of them."}
    said = f"<p>{'They like shade and water. ' * 5}<a rel='next' href='c'>Cacti</a> do not.</p>"
    assert "Cacti do not." in read(f"<body><h1>Ferns</h1>{said}</body>").text
    head, foot = (
        f"<p>Next: <a href='c'{rel}>Cacti</a>, Up: <a href='d'>Data</a></p>"
        for rel in (" rel='next'", "")
    )
    assert read(f"<body>{head}<h1>Ferns</h1>{foot}</body>").text == "Ferns"
    see = "<p>See <a href='c'>Cacti</a></p>"
    assert read(f"<body>{head}<h1>Ferns</h1>{see}</body>").text == "Ferns\nSee Cacti"
    assert "Blue" in read('<body><h1>Ferns</h1><p class="navy">Blue</p></body>').text
    part = (
        '<div class="section" id="menu"><h2><a href="#menu">Menu</a></h2><a href="c">Soup</a></div>'
    )
    assert read(f"<body><h1>Ferns</h1>{part}</body>").text == "Ferns\nMenu\nSoup"


@pytest.mark.parametrize(
    "beside",
    [
        "<ul><li>Prev by Date:\n<strong><a href='6'>{0}</a></strong></li>\n<li>Next by thread: "
        "<strong><a href='8'>Re: {0}</a></strong></li></ul>",
        "<UL><LI>Previous message (by thread): <A HREF='6'>[list] {0}\n</A></li><LI> Next message: "
        "<A HREF='8'>{0}</A></li></UL>",
        '<ul><li><dfn>Next in thread</dfn>: <a href="8">Ann: "{0}"</a></li></ul>',
        "<p>Next: <a href='8'>{0}</a></p>",
        "<ul><li>\u2190 Previous<br> <a href='6'>{0}</a></li><li>Next \u2192<br><a href='8'>{0}"
        "</a></li></ul>",
        "<p>\u00ab Previous post <a href='8'>{0}</a></p>",
        "<div><a href='8'><span>\u2190 Newer</span></a><br><a href='8'>{0}</a></div>",
        "<div><a href='6'>older</a> | <a href='8'>newer</a> <a href='8'>{0}</a></div>",
    ],
)
def test_a_line_that_says_which_page_is_next_is_no_text(beside: str) -> None:
    """As archives of mailing lists have it: what it says changes with each mail that comes."""
    one, other = (
        read(f"<body><h1>Of lamps</h1><p>They burn.</p>{beside.format(name)}</body>")
        for name in ("Of ropes", "Of bells")
    )
    assert one.text == other.text == "Of lamps\nThey burn."
    assert one.signature == other.signature
    assert "https://a.test/docs/8" in one.links


@pytest.mark.parametrize(
    "said",
    [
        "Next steps: <a href='8'>Cacti</a>",
        "Next: <a href='8'>Cacti</a> and more",
        "Next: <a href='8'>Cacti</a>, <a href='9'>Moss</a>",
        "Next <a href='8'>Cacti</a>",
        "\u2190 Previously in <a href='8'>Cacti</a>",
        "Previous owner: <a href='8'>Ann</a>",
        "Next to come: Cacti",
        "Newer ones: <a href='8'>newer</a> <a href='8'>Cacti</a>",
        "Of folders <a href='8'>older</a> <a href='9'>Cacti</a>",
    ],
)
def test_a_line_that_says_more_than_which_page_is_next_is_a_text(said: str) -> None:
    """Several links, other words."""
    told = read(f"<body><h1>Of lamps</h1><p>{said}</p></body>").text

    assert told.startswith("Of lamps\n" + said.partition("<")[0].strip())


def test_what_machines_are_told_out_of_sight_is_no_text() -> None:
    """What is folded up may be read."""
    told = '<span itemscope style="display: none"><span itemprop="image">https://a.test/logo</span></span>'
    folded = '<div style="display: none">They also grow on walls.</div>'
    html = f"<body><main>{told}<h1>Ferns</h1>{folded}</main></body>"
    assert read(html).text == "Ferns\nThey also grow on walls."


def test_the_first_rule_that_matches_counts() -> None:
    """As everywhere in the configuration."""
    rules = ReadingRules((ContentRule("/docs/a*", "a"), ContentRule("/docs/*", "b")))
    assert rules.of("http://a.test/docs/all") == rules.content[0]
    assert rules.of("http://a.test/docs/bll") == rules.content[1]
    assert rules.of("http://a.test/") is None
    assert ReadingRules.load(rules.dump()) == rules


@pytest.mark.skipif(not is_available(), reason="html-to-markdown is not installed")
def test_markdown_keeps_what_text_does_not() -> None:
    """Headings, code with its language, lists, tables and links, which are absolute."""
    told = read(HTML, markdown=True).markdown
    assert "# Page\n\nOne [link](https://a.test/b?c=d#e) and `x*y`.\n\n## Install\n" in told
    assert "```sh\napt-get  install\n  it\n```" in told
    assert "- one\n  - two" in told
    assert "| A | B |\n| --- | --- |\n| 1 | x\\|y |" in told
    assert "Menu" not in told
    assert "Made by" not in told
    html = "<main><p>git-rebase(1) a*b*\n1) x<p>1) y<p>- z<pre>a\\-b (1\\)</pre><p>c\\-d `e"
    told = read(html, markdown=True).markdown
    assert told.startswith("git-rebase(1) a\\*b\\*")
    assert "\n\n1\\) y\n\n\\- z\n" in told  # which would be lists
    assert "\na\\-b (1\\)\n" in told
    menu = "<main><ul><li>a</li><li><form><input></form></li><li>- b</li></ul><pre>-\n</pre>"
    assert read(menu, markdown=True).markdown == "- a\n- \\- b\n\n```\n-\n```\n"
    linked = "<main><h2><a class='anchor' href='#a'>All</a> <a class='anchor' href='#a'>#</a></h2>"
    assert read(linked, markdown=True).markdown == f"## [All]({URL}#a)\n"
    named = (
        "<main><h2 id=a><a href='/all' aria-label='link to all'><i></i></a><span>All</span></h2>"
    )
    assert read(named, markdown=True).markdown == "## All\n"
    shown = "<main><h2 id=a>All<a href='#a'>#</a></h2><div role=tabpanel hidden>rod</div>"
    assert read(shown, markdown=True).markdown == "## All\n\nrod\n"
    chosen = read(HTML, ContentRule("*", "article"), markdown=True)
    assert chosen.markdown == "# Title of it\n\nIn the article.\n"


@pytest.mark.skipif(not is_available(), reason="html-to-markdown is not installed")
@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("code python", "python"),
        ("code file python", "python"),
        ("code python literal-block", "python"),
        ("code literal-block", ""),
        ("code", ""),
        ("code file", ""),
        ("code block big", ""),
        ("language-python line", "python"),
        ("brush: python notranslate", "python"),
        ("language- wide", ""),
    ],
)
def test_a_class_of_code_says_its_language(said: str, language: str) -> None:
    """As DokuWiki and docutils write it, of whom each also writes it without one, and others."""
    told = read(f'<main><p>a</p><pre class="{said}">b</pre></main>', markdown=True).markdown

    assert told == f"a\n\n```{language}\nb\n```\n"


@pytest.mark.skipif(not is_available(), reason="html-to-markdown is not installed")
@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<pre data-language=Sh><code>b</code></pre>", "sh"),
        ("<pre><code class='ruby syntaxhl' data-language=ruby>b</code></pre>", "ruby"),
        ("<pre><code data-lang=go>b</code></pre>", "go"),
        ("<p>go</p><pre><code data-lang=go>b</code></pre>", "go"),
        ("<pre class='rust rust-example-rendered'><code>b</code></pre>", "rust"),
        ("<pre class='sourceCode python'><code class='sourceCode python'>b</code></pre>", "python"),
        ("<pre class='sourceCode numberSource sql'><code>b</code></pre>", "sql"),
        ("<pre><code class='hljs JavaScript'>b</code></pre>", "javascript"),
        ("<pre class=hljs><code class='hljs language-js'>b</code></pre>", "js"),
        ("<div class=python><pre class=programlisting>b</pre></div>", ""),
        ("<pre data-language=plaintext><code>b</code></pre>", ""),
        ("<pre data-language='of the house'><code>b</code></pre>", ""),
    ],
)
def test_an_attribute_of_code_or_a_word_of_its_class_says_its_language(
    html: str, language: str
) -> None:
    """On the block or on the code in it, where no class says it in a longer way."""
    told = read(f"<main><p>a</p>{html}</main>", markdown=True).markdown

    assert told == f"a\n\n```{language}\nb\n```\n"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<div class=language-ts><button>Copy</button><span>ts</span> <pre>b</pre></div>", "b"),
        ("<div><div class=head><b>TS</b></div><pre class='brush: ts'>b</pre></div>", "b"),
        ("<p>ts</p><div><pre><code class=language-ts>b</code></pre></div>", "b"),
        ("<p>ts</p><div class='highlight ts'><pre>b</pre></div>", "b"),
        ("<p>ts</p><p>c</p><pre class=language-ts>b</pre>", "ts\nc\nb"),
        ("<pre>ts</pre><pre class=language-ts>b</pre>", "ts\nb"),
        ("<p>In ts</p><pre class=language-ts>b</pre>", "In ts\nb"),
    ],
)
def test_the_label_of_code_that_says_its_language_is_no_text(html: str, text: str) -> None:
    """Where the code says so itself, and nothing stands between."""
    assert read(f"<main><p>a</p>{html}</main>").text == f"a\n{text}"


@pytest.mark.skipif(not is_available(), reason="html-to-markdown is not installed")
def test_what_is_slanted_within_what_is_slanted_is_so_once() -> None:
    """As manuals write the arguments of a function; a sign within would end what is around it."""
    html = "<main><p><em><var>z</var> =</em> <b>move</b> <i>(<i>x</i>, <dfn>y</dfn>)</i></main>"

    assert read(html, markdown=True).markdown == "*z =* **move** *(x, y)*\n"


@pytest.mark.skipif(not is_available(), reason="html-to-markdown is not installed")
def test_code_in_markdown_is_what_people_would_copy() -> None:
    """Manuals link names in code to what they are; in a block of it a link is read as written."""
    html = "<main><p>A<pre>pub x: <a href='/u8'>u8</a>, <b><a>y</a></b><img src=a alt=z></pre>"
    lines = "<main><p>A<pre><ol><li><a href=b>for</a> x:<li>  y</ol></pre><ul><li>b</ul>"

    assert read(html, markdown=True).markdown == "A\n\n```\npub x: u8, yz\n```\n"
    assert read(lines, markdown=True).markdown == "A\n\n```\nfor x:\n  y\n```\n\n- b\n"


@pytest.mark.skipif(not is_available(), reason="html-to-markdown is not installed")
@pytest.mark.parametrize(
    "html",
    [
        "<details><summary><h3>Title</h3></summary><p>b</details>",
        "<b><h3>Title</h3></b><p>b",
        "<summary><strong><h3>Title</h3></strong></summary><p>b",
        "<section><summary><div><h3>Title</h3></div><p>b</summary></section>",
    ],
)
def test_a_heading_is_one_whatever_it_stands_in(html: str) -> None:
    """Not a word in bold that begins with a sign."""
    assert read(f"<main><p>a</p>{html}</main>", markdown=True).markdown == "a\n\n### Title\n\nb\n"


@pytest.mark.skipif(not is_available(), reason="html-to-markdown is not installed")
@pytest.mark.parametrize(
    ("html", "said"),
    [
        ('<a href="/x"><h3>Title</h3><p>b</p></a>', "### [Title](https://a.test/x)\n\nb"),
        (
            '<a href="/x"><div><img src="i" alt="A"><div><h2>Ti <i>tle</i></h2></div></div>b</a>',
            "![A](https://a.test/docs/i)\n\n## [Ti *tle*](https://a.test/x)\n\nb",
        ),
        ('<h3><a href="/x">Title</a></h3><p>b', "### [Title](https://a.test/x)\n\nb"),
        ('<a href="javascript:x()"><h3>Title</h3>b</a>', "### Title\n\nb"),
        ("<a><h3>Title</h3>b</a>", "### Title\n\nb"),
    ],
)
def test_the_heading_of_a_card_is_a_heading_and_its_link(html: str, said: str) -> None:
    """Where a whole card is a link, what it says is text."""
    told = read(f"<main><p>a</p>{html}</main>", markdown=True).markdown

    assert told == f"a\n\n{said}\n"


def test_a_block_of_code_in_another_one_is_one() -> None:
    """As generators nest what they coloured in what was code before."""
    html = "<main><pre><code><div><pre><span>void</span>\nf()\n</pre></div></code></pre></main>"
    assert read(html, markdown=True).markdown == "```\nvoid\nf()\n```\n"


@pytest.mark.skipif(not is_available(), reason="html-to-markdown is not installed")
def test_what_a_table_places_on_a_page_is_no_table_of_markdown() -> None:
    """Where its cells, or those of a table in one, hold headings or lines of code."""
    cells = "<td>Menu</td><td><h2>Fern</h2><p>It grows.<pre>a\nb</pre><ul><li>one<li>two</ul></td>"
    placed = f"<table><tr><td>Left<td><table><tr>{cells}</table><tr><td>Below</table>Behind"
    facts = "<table><tr><th>A<th>B<tr><td><pre>c</pre><td><ul><li>d<li>e</ul></table>"
    told = read(f"<body>{placed}{facts}", markdown=True).markdown
    assert told == (
        "Left\n\nMenu\n\n## Fern\n\nIt grows.\n\n```\na\nb\n```\n\n- one\n- two\n\n"
        "Below\n\nBehind\n\n| A | B |\n| --- | --- |\n| `c` | d e |\n"
    )


@pytest.mark.skipif(not is_available(), reason="html-to-markdown is not installed")
def test_a_formula_is_said_once() -> None:
    """Not again in the notation of whoever wrote it, which nobody is shown."""
    said = "<mrow><mi>x</mi><mo>=</mo><mn>1</mn></mrow>"
    of_tex = '<annotation encoding="application/x-tex">x = 1</annotation>'
    of_words = '<annotation-xml encoding="application/xhtml+xml"><b>one</b></annotation-xml>'
    html = f"<main><p>So <math><semantics>{said}{of_tex}{of_words}</semantics></math>.</main>"

    assert read(html).text == "So x=1."
    assert read(html, ContentRule("*", "p")).text == "So x=1."


@pytest.mark.skipif(not is_available(), reason="html-to-markdown is not installed")
def test_numbers_and_signs_within_a_line_are_as_they_were_written() -> None:
    """But where they would begin a list or a heading, or end one, or an address."""
    html = (
        "<main><p>version 1.0 of C# + D = 3. x<p>1.5 m<p>1. x<br># y<br>+ z<br>=<ul><li>2. x</ul>"
        "<h2>C #</h2><table><tr><th>a|b<th>c = d</table><p>a\\.b<p>x<a href='/a)b'>c</a>"
    )
    told = read(html, markdown=True).markdown

    assert told.startswith(
        "version 1.0 of C# + D = 3. x\n\n1.5 m\n\n1\\. x  \n\\# y  \n\\+ z  \n\\=\n\n"
        "- 2\\. x\n\n## C \\#"
    )
    assert "| a\\|b | c = d |" in told
    assert "a\\\\.b" in told
    assert "(https://a.test/a\\)b)" in told
    code = "<main><p><code>T</code> - a non-<code>null</code> 1.0 <code>a\\-b 1\\.0</code>-like"
    told = read(code, markdown=True).markdown
    assert told == "`T` - a non-`null` 1.0 `a\\-b 1\\.0`-like\n"


@pytest.mark.skipif(not is_available(), reason="html-to-markdown is not installed")
def test_links_that_say_nothing_are_left_out_of_markdown() -> None:
    """As those to edit a section are, of which the words were taken; pictures say something."""
    edit = "<span>[<a href='/e{0}' title='Edit section: {0}'>edit</a>]</span>"
    html = "".join(f"<h2>{name}{edit.format(name)}</h2><p>of {name}" for name in "AB")
    html += "<p><a href='/x'><svg></svg></a><a href='/y' title='Y'></a><a href='/z'><img src=p></a>"

    assert read(f"<main>{html}", markdown=True).markdown == (
        "## A\n\nof A\n\n## B\n\nof B\n\n"
        '[Y](https://a.test/y "Y") [![](https://a.test/docs/p)](https://a.test/z)\n'
    )


@pytest.mark.skipif(not is_available(), reason="html-to-markdown is not installed")
def test_dashes_between_words_are_as_they_were_written() -> None:
    """But where they would begin a list, a line of dashes or a table's."""
    html = "<main><p>git-log - it logs - so -v<p>- a - b<ul><li>- c</ul><ol><li>- d</ol><p>e<br>---"
    told = read(html, markdown=True).markdown

    assert told.startswith("git-log - it logs - so -v\n\n\\- a - b\n\n- \\- c\n\n1. \\- d\n\ne")
    assert "\n---" not in told


@pytest.mark.skipif(not is_available(), reason="html-to-markdown is not installed")
@pytest.mark.parametrize(
    ("html", "told"),
    [
        ("<p>git-log -\nit logs", "git-log -\nit logs"),
        ("<p>--all<p>-v<p>--", "--all\n\n-v\n\n\\-\\-"),
        (
            "<h1>4. Ferns</h1><h2>+ 2.1. Moss</h2><h3>3. #</h3>",
            "# 4. Ferns\n\n## + 2.1. Moss\n\n### 3. \\#",
        ),
        ("<p>f(T&amp;&amp; x)", "f(T&& x)"),
        ("<p>write &amp;lt; or &amp;#38;", "write \\&lt; or \\&#38;"),
        ("<p>a \\-b", "a \\\\\\-b"),
    ],
)
def test_options_references_and_numbered_headings_have_no_needless_escapes(
    html: str, told: str
) -> None:
    """What would be a list, a line, a character's name or the end of a heading keeps them."""
    assert read(f"<main>{html}", markdown=True).markdown == f"{told}\n"


@pytest.mark.skipif(not is_available(), reason="html-to-markdown is not installed")
def test_years_in_brackets_and_dashes_behind_numbers_and_links_are_as_they_were_written() -> None:
    """But not where a number and a bracket would begin a list."""
    html = "<main><p><a href=/x>T</a> - of 2019 - 2024 (1-3/3), (12), (2024)<p>1) - x<br>12) y"
    html += "<ul><li>3) z<li>Part 3 - (45)</ul><p>&gt;2) c"

    assert read(html, markdown=True).markdown == (
        "[T](https://a.test/x) - of 2019 - 2024 (1-3/3), (12), (2024)\n\n1\\) - x  \n12\\) y\n\n"
        "- 3\\) z\n- Part 3 - (45)\n\n\\>2\\) c\n"
    )


@pytest.mark.skipif(not is_available(), reason="html-to-markdown is not installed")
def test_labels_and_links_beside_each_other_are_words_of_their_own() -> None:
    """As of tabs, in Markdown as in the text."""
    tabs = "<label>C</label><input type=radio><label>D</label><label>E</label>"
    links = "<a href=/c>F</a><a href=/d>G</a>"
    told = read(f"<main><p>A<div>{tabs}</div><p>{links}<p><label>H</label>s", markdown=True)

    assert told.text == "A\nC\nD\nE\nF\nG\nHs"
    assert told.markdown == "A\n\nC D E\n\n[F](https://a.test/c) [G](https://a.test/d)\n\nHs\n"


@pytest.mark.skipif(not is_available(), reason="html-to-markdown is not installed")
def test_markdown_says_what_the_text_says_of_forms_and_menus() -> None:
    """A list of issues with a box before each is a form, and the page; a rule may choose a menu."""
    rows = "".join(f"<tr><td><input type=checkbox><td>Issue {n}" for n in range(9))
    found = read(f"<main><h1>All</h1><form><table>{rows}</table></form></main>", markdown=True)
    chosen = read("<main>a</main><nav><p>Menu</nav>", ContentRule("*", "nav"), markdown=True)
    box = "<main><p>a</p><aside class=sidebar>A box that says more of it than links.</aside></main>"

    assert read(box, markdown=True).markdown == "a\n\nA box that says more of it than links.\n"
    assert "Issue 8" in found.text
    assert "| Issue 8 |" in found.markdown
    assert (chosen.text, chosen.markdown) == ("Menu", "Menu\n")


@pytest.mark.skipif(not is_available(), reason="html-to-markdown is not installed")
@pytest.mark.parametrize(
    "html",
    [
        "<main>" + "<blockquote>" * 3000 + "deep",
        "<main>" + "<ul><li>" * 3000 + "deep",
        "<main><table>" + "<tr><td>" * 2000 + "x",
        "<main><pre>" + "`" * 5000,
        "<main>" + "<a href='x'>" * 2000,
        "<main>" + "\x11I" * 10,
        "<main>\x00\ufffe<p>&lt;script&gt;alert(1)&lt;/script&gt;",
        "",
    ],
)
def test_whatever_is_served_markdown_ends(html: str) -> None:
    """And text that looks like markup is none."""
    told = read(html, markdown=True).markdown
    assert "<script" not in told.replace("\\<", "")
    assert "\x00" not in told


@pytest.mark.skipif(not is_available(), reason="html-to-markdown is not installed")
def test_what_a_page_says_of_itself_is_recorded() -> None:
    """As it is written: whoever reads it decides what to make of it."""
    about = read(HTML, markdown=True).about
    assert about is not None
    assert about.published == "2026-01-02T03:04:05Z"
    assert about.modified == "2026-02-03"
    assert about.author == "Ada Lovelace"
    assert about.licenses == ("https://a.test/licence",)
    assert about.robots == "noai, max-snippet:20"
    assert about.usage == "TDM-Policy: /p, tdm-reservation: 1"
    assert about.places == (("Page", "top"), ("Install", "install"))
    assert read(HTML).about is None
    for wrong in ("[" * 100_000, '{"author": [[]]}', '{"@graph": 3}', "{", '"x"'):
        html = f'<script type="application/ld+json">{wrong}</script><p>x'
        assert read(html, markdown=True).about is not None


def test_an_author_is_called_by_a_name_where_a_page_has_one() -> None:
    """Open Graph has the address of a profile, which the name stands beside in the linked data."""
    profile = '<meta property="article:author" content="https://ada.test"><p>x'
    linked = '<script type="application/ld+json">{"author": {"name": "Ada"}}</script>'

    authors = [read(html, markdown=True).about for html in (profile + linked, profile)]

    assert [said.author for said in authors if said] == ["Ada", "https://ada.test"]


def test_half_a_letter_in_linked_data_is_no_letter() -> None:
    """As where a name was cut off in the middle of a picture sign; no file could take it."""
    cut = r'<script type="application/ld+json">{"author": {"name": "Ada \ud83d"}}</script><p>x'

    about = read(cut, markdown=True).about

    assert about is not None
    assert about.author == "Ada ?"


@pytest.mark.skipif(not is_available(), reason="html-to-markdown is not installed")
def test_a_reader_reads_by_the_same_rules() -> None:
    """In its own process, within the memory that it has."""
    rules = ReadingRules((ContentRule("/docs/*", "main", (".share",), "h1"),), markdown=True)
    response = FetchResponse(URL, 200, HTML.encode(), "text/html", "utf-8", usage="TDM-Policy: /p")

    async def main() -> Extract:
        extractor = IsolatedExtractor("recrawl", Limits(2.0, 512 * 2**20), rules)
        try:
            return await extractor.page(response)
        finally:
            extractor.close()

    found = asyncio.run(main())
    assert found == PageExtractor("recrawl", rules).page(response)
    assert found.markdown.startswith("# Page")


@pytest.mark.skipif(not is_available(), reason="html-to-markdown is not installed")
def test_links_of_markdown_lead_somewhere_or_nowhere() -> None:
    """What acts when it is followed, and pictures written into the page, are left out."""
    html = (
        "<main><h1>A</h1><p><a href='javascript:alert(1)'>one</a> <a href=' java\tscript:x'>two"
        "</a> <a href='data:text/html,x'>three</a> <a href='/b'>four</a> <a href='mailto:a@b.test'>"
        "five</a> <img src='data:image/png;base64,AA' alt='six'> <img src='/c.png' alt='seven'></p>"
    )
    told = read(html, markdown=True).markdown

    assert "one two three [four](https://a.test/b) [five](mailto:a@b.test) six" in told
    assert not any(word in told for word in ("script:", "data:"))
    assert "![seven](https://a.test/c.png)" in told


@pytest.mark.skipif(not is_available(), reason="html-to-markdown is not installed")
@pytest.mark.parametrize(
    "written",
    [
        "<video src='{}'>a</video>",
        "<audio src='{}'></audio>",
        "<blockquote cite='{}'>a</blockquote>",
        "<a href='{}'>a</a>",
        "<img src='{}' alt='a'>",
        "<a href='{0}'><img src='{0}' alt='a'></a>",
        "<iframe src='{}'></iframe>",
    ],
)
@pytest.mark.parametrize(
    "target",
    [
        "javascript:alert(1)", "vbscript:alert(1)", "data:text/html,alert(1)",
        "\u200ejavascript:alert(1)", "\x01javascript:alert(1)", "\x85javascript:alert(1)",
        "java&#10;script:alert(1)",
        "JaVaScRiPt&colon;alert(1)", "view-source:alert(1)", "blob:alert(1)",
    ],
)  # fmt: skip
def test_no_element_brings_a_link_that_acts(written: str, target: str) -> None:
    """Films, sounds and quotations have addresses too; disguises do not help."""
    told = read(f"<main><p>words {written.format(target)}</main>", markdown=True).markdown

    assert told.startswith("words")
    assert "alert" not in told
