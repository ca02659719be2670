"""The description by which a browser adds this search to its own."""

from html import escape


def description(origin: str) -> str:
    """Return an OpenSearch 1.1 description of the search at an origin such as ``http://a.test``."""
    at = escape(origin, quote=True)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">\n'
        "  <ShortName>recrawl</ShortName>\n"
        "  <Description>Search the pages that recrawl keeps fresh</Description>\n"
        "  <InputEncoding>UTF-8</InputEncoding>\n"
        f'  <Url type="text/html" template="{at}/?q={{searchTerms}}"/>\n'
        f'  <Url type="application/json" template="{at}/api/search?q={{searchTerms}}"/>\n'
        "</OpenSearchDescription>\n"
    )
