"""Numbers of lines beside code are no text of a page, however highlighters write them."""

import pytest

from recrawl.crawler.fetch.reading.extract import PageExtractor
from recrawl.crawler.fetch.reading.markdown import is_available
from recrawl.crawler.fetch.reading.reading_rules import ReadingRules
from recrawl.terms import Extract, FetchResponse

CODE = "def f():\n    return 1\n"
BLOCK = "```{}\ndef f():\n    return 1\n```"
PYGMENTS = (
    '<div class="highlight"><table class="highlighttable"><tr>{}<td class="linenos"><div '
    'class="linenodiv"><pre><span>{}</span>\n<span>{}</span></pre></div></td><td class="code"><div>'
    f"<pre><span></span>{CODE}</pre></div></td></tr></table></div>"
)
ROUGE = (
    '<figure class="highlight"><pre><code class="language-python"><table><tbody><tr><td '
    f'class="gutter"><pre class="lineno">1\n2\n</pre></td><td class="code"><pre>{CODE}</pre></td>'
    "</tr></tbody></table></code></pre></figure>"
)
CHROMA = (
    '<table class="lntable"><tr><td><pre><code><span class="lnt">1\n</span><span class="lnt">2\n'
    '</span></code></pre></td><td><pre><code class="language-python">'
    f"{CODE}</code></pre></td></tr></table>"
)
HEXO = (
    '<figure class="highlight python"><table><tr><td class="gutter"><pre><span class="line">1'
    '</span><br><span class="line">2</span><br></pre></td><td class="code"><pre><span class="line">'
    'def f():</span><br><span class="line">    return 1</span><br></pre></td></tr></table></figure>'
)
IN_LINE = (
    '<pre><code class="language-python"><span class="{0}">1</span>def f():\n<span class="{0}">2'
    "</span>    return 1\n</code></pre>"
)
BLOCKS = (
    '<div class="example"><pre class="line-numbers"><span id="1">1</span>\n<span id="2">2</span>\n'
    f'</pre> <pre class="python"><code class="language-python">{CODE}</code></pre></div>'
)
COLUMNS = (
    '<div class="both"><div class="gutter"><pre>1\n2</pre></div>\n<div class="code"><pre><code '
    f'class="language-python">{CODE}</code></pre></div></div>'
)


def read(html: str) -> Extract:
    """What is said between a word before and one after."""
    page = f"<main><p>Before</p>{html}<p>After</p></main>"
    response = FetchResponse("https://a.test/", 200, page.encode(), "text/html", "utf-8")
    return PageExtractor("recrawl", ReadingRules(markdown=is_available())).page(response)


@pytest.mark.parametrize(
    ("html", "language"),
    [
        (PYGMENTS.format("", "1", "2"), ""),
        (PYGMENTS.format("", "9", "10"), ""),
        (ROUGE, "python"),
        (CHROMA, "python"),
        (HEXO, "python"),
        (BLOCKS, "python"),
        (COLUMNS, "python"),
        (IN_LINE.format("ln"), "python"),
        (IN_LINE.format("linenos"), "python"),
        (IN_LINE.format("line-number"), "python"),
    ],
)
def test_numbers_of_lines_are_no_text(html: str, language: str) -> None:
    """And the code is a block of its own, with its lines."""
    found = read(html)

    assert found.text.split() == "Before def f(): return 1 After".split()
    if is_available():
        assert found.markdown == f"Before\n\n{BLOCK.format(language)}\n\nAfter\n"


def test_the_name_of_a_file_above_code_stays() -> None:
    """Where the table has it in a row of its own."""
    named = PYGMENTS.format('<th colspan="2">a.py</th></tr><tr>', "1", "2")

    assert read(named).text.split() == "Before a.py def f(): return 1 After".split()


@pytest.mark.parametrize(
    "html",
    [
        "<table><tr><td><pre>1\n2</pre></td><td><pre>a\nb</pre></td><td>c</td></tr></table>",
        "<table><tr><td><pre>1\n3</pre></td><td><pre>a\nb</pre></td></tr></table>",
        "<table><tr><td><pre>1</pre></td><td>one</td></tr></table>",
        "<table><tr><td>1</td><td><pre>a</pre></td></tr></table>",
        "<table><tr><td><pre>1</pre></td><td><pre>a</pre></td></tr><tr><td><pre>2</pre></td><td>"
        "<pre>b</pre></td></tr></table>",
        "<pre>1\n2\n3\n4</pre><pre>for n in (5, 6):\n    print(n)</pre>",
        "<pre>1\n2</pre><p>two lines</p><pre>a\nb</pre>",
        '<pre><span class="mi">1</span>, a\n<span class="mi">2</span>, b</pre>',
        '<pre><span class="ln">10</span> PRINT\n<span class="ln">20</span> GOTO 10</pre>',
        '<pre><span class="inline">1</span> a\n<span class="inline">2</span> b</pre>',
    ],
)
def test_other_numbers_are_text(html: str) -> None:
    """What does not count lines, or has other neighbours than code."""
    assert any(one in read(html).text.split() for one in ("1", "1,", "10"))
