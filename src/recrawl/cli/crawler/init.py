"""`recrawl init`: write a commented configuration for a site."""

import contextlib
import ipaddress
import tomllib
from pathlib import Path
from typing import Annotated
from urllib.parse import urljoin, urlsplit

from cyclopts import Parameter

from recrawl.cli.crawler.known import read_history, start_warm
from recrawl.cli.output import called_as, say
from recrawl.crawler.control.urls import host_of, normalise
from recrawl.crawler.settings import settings_of
from recrawl.errors import InputError
from recrawl.whole_files import whole_file

TEMPLATE = """\
# A crawl of {host}. Start it with:  recrawl run {file}
# Everything but seeds and contact may be left out; what is commented shows the default.

seeds = ["{url}"]
# seed_file = "seeds.txt"        # further addresses, one a line

# Site owners must be able to reach you: a mail address or a page about your crawler.
contact = "{contact}"
# name = "recrawl"               # what robots.txt files may call your crawler

# What you may spend, in requests: pages, redirects, robots.txt and sitemaps all count,
# but for first visits where first_pass below is "polite".
budget = "{budget}"
# robots = 8                     # at most so many fetches at a time, over all hosts
# state = "recrawl-state"        # where the index and the history of visits lie; or, for several
                                 # machines, "postgresql://user@host/database"
# keep_visits = "400d"           # older visits are forgotten, but for the latest 100 of each page

[scope]
# hosts = ["{name}"]             # default: the hosts of the seeds; "*.{domain}" for all below one
# include = ["/docs/*"]          # take in only these paths
# exclude = ["*/print/*"]        # and none of these
# max_depth = 100                # links from a seed; where a list goes on is no further than it
# max_pages = 1000000
# max_pages_per_host = 100000    # what is refused is counted; `recrawl status` tells
# max_hosts_per_domain = 1000    # of example.com, where "*.example.com" is in
# max_listings_per_host = 1000   # sitemaps, and as many feeds
# max_new_per_minute = 10000     # new addresses of a host; the rest of a sitemap waits its turn
# max_query_variants = 10000     # pages that differ in nothing but the query; kinds of address
                                 # that bring nothing new are hardly tried, long before that
# max_redirects = 5
# sitemaps = true
# feeds = true

[politeness]
# delay = "1s"                   # between requests to one host; or its crawl-delay if longer
# per_address = false            # true: hosts of one IP address are asked as one host would be
# first_backoff = "60s"          # after 429, 503 or no answer; doubles each time
# longest_backoff = "1d"
{private}

[revisit]
# min_interval = "10m"           # never visit a page more often than this
# max_interval = "30d"           # nor more seldom, as far as the budget goes
# initial_interval = "1d"        # to the second visit, before anything is known
# confirm_after = "1h"           # a 404 counts when it is seen again after this
# listings = "1d"                # how often sitemaps and feeds are read

# What is one fresh page worth? The first pattern that matches counts; otherwise 1.
# [[weights]]
# path = "/news/*"
# weight = 5
# half_life = "6h"               # what is new there is worth half after six hours

# What makes pages important; the shares add up to 1.
# [importance]
# links = 0.5                    # pages that many others link to
# logs = 0.0                     # what people ask for: recrawl importance from-log
# table = 0.0                    # the same from a table: recrawl importance from-table
# searches = 0.0                 # what recrawl serve shows as results; counted with a share only
# even = 0.5                     # all pages alike
# half_life = "30d"              # in which counts lose half of their weight
# every = "1h"                   # how often it is computed anew, at most

# A feed, sitemap or listing whose news come with the hour and the day: probed so many times a week,
# at the best times that its past probes tell of.
# [[sources]]
# url = "{feed}"
# kind = "feed"                  # or "sitemap", "page"
# probes = 40                    # a week; or every = "4h"
# min_gap = "10m"
# work_hours = "9-18"            # Monday to Friday; news then count ...
# preference = 3                 # ... three times as much
# time_zone = "Europe/Paris"

[fetch]
# timeout = "30s"                # for a whole page
# max_bytes = "4MiB"             # larger pages are skipped
# accept_language = "de, en;q=0.5"  # which languages are wanted of pages that have several
# proxy = "http://proxy.lan:3128"   # asked instead; hosts of allow_private are asked directly
# proxy_login_env = "PROXY_LOGIN"   # an environment variable that holds user:password

# What some hosts are sent besides; nobody else is. Secrets are never written here: they are read at
# the start from the environment or a file, and kept nowhere.
# [[access]]
# hosts = ["wiki.example.org", "*.internal"]
# headers = {{ X-Version = "2" }}  # that hold no secret
# secret_as = "bearer"           # "basic" (user:password), or the name of a header
# secret_env = "WIKI_TOKEN"      # or secret_file = "wiki.token"
# cookies_file = "cookies.txt"   # in the format of Netscape, as browsers and curl export it
# in_clear = false               # whether secrets may go over http

[reading]
# cpu = "2s"                     # of processor time for a page; one that takes more is quarantined
# memory = "512MiB"              # for the processes that read pages, together

# What of some pages is content, where their markup does not say it; the first path that matches
# counts. Try it: recrawl extract URL --select main
# [[content]]
# path = "/blog/*"
# select = "article"             # CSS selector; where it finds nothing, pages are read as they are
# drop = [".share", "#comments"]
# title = "article h1"

# Pages that scripts fill, filled by a browser (Chromium, and recrawl[browser]): takes seconds each,
# and every request that such a page makes counts.
# [[render]]
# path = "/app/*"
# wait_for = "#content"          # what is there when the page is; a page without it is a failure
# settle = "500ms"               # without a request, until the page counts as filled

[buffer]
# capacity = 32                  # pages between the robots and the indexer
# deadline = "10m"               # a page that waited longer is fetched again instead
# control = "optimal"            # robots by the optimal policy for the rates as they are measured;
                                 # "room": as many as there is room for in the buffer
# starvation_weight = 1.0        # an idle indexer costs so many lost pages for each that it could
                                 # have indexed meanwhile

[index]
# keep = "text"                  # "markdown" keeps the main content as Markdown too, and what pages
                                 # say of their author, dates and licence (recrawl[markdown])
# language = "auto"              # each page's own; or one for all, "none" for no stemming
# commit_every = "2s"
# command = ["python3", "embed.py"]  # reads a page a line as JSON, answers each with one line
# timeout = "10s"                # for the command, a page
# servers = 1                    # so many of the command run at a time

[archive]
# warc = "warc"                  # keep everything that is fetched in this folder, as WARC files
# max_file = "1GiB"

[feed]
# keep = "30d"                   # every change of the index is told for so long (recrawl changes);
                                 # of what is older the latest of each page
# importance = false             # true: it also tells what pages are worth ([importance] times
                                 # [[weights]]), and when that has changed by half or more

# Where changes are delivered to, beside the crawl; as many as you like, each by itself.
# [[deliver]]
# to = "postgresql://user@localhost/search"  # a table; or "https://..." (a webhook),
                                 # "opensearch+https://host:9200/index", "elasticsearch+https://...",
                                 # "changes/{{date}}.ndjson.zst", "changes/{{seq}}.parquet"
# command = ["python3", "embed.py"]  # instead of `to`: reads a change a line, answers each with one
# python = "mypackage.sinks:Embeddings"  # instead of `to`: a sink of your own
# name = "search"                # by which `recrawl sync` and `status` know it
# content = "text"               # or "markdown", "none"
# chunks = 800                   # each page in pieces of at most so many characters besides
# paths = ["/docs/*"]            # only these pages
# importance = true              # where [feed] tells it; false: not this sink
# removals = "delete"            # of a table; "mark" keeps the row, with removed_at
# table = "documents"
# batch = 500                    # changes at a time
# secret_env = "SEARCH_SECRET"   # or secret_file: password, signing key; never written here
# timeout = "30s"
# retry_for = "3d"               # webhooks and commands: then a change is given up, and told

[signals]
# indexnow_key = "..."           # take IndexNow pings that show this key, at /indexnow of `serve`
# callback = "https://crawl.example.org"  # where WebSub hubs reach `serve`: they announce feeds

[plan]
# Pages never seen are fetched as fast as politeness allows; the budget is for keeping them fresh.
# "budget": every request counts, from the first on.
first_pass = "polite"
# policy = "foresight"         # when pages are due: foresight (by what changed beside them too),
                                 # recrawl (by their own changes alone), uniform, proportional, or
                                 # as others do it: nutch, stormcrawler, news-crawl, miniflux
# replan = "5m"                  # how often change rates and visits are planned anew
# least_worth = "0 points"       # spend less than the budget where one visit a day would not
                                 # keep so much of the index fresh, such as "0.001 points"
# discovery_share = 0.5          # for pages never visited; left out: by what they are worth
# typical_change = "14d"         # how often a page changes, as a first guess

# Only where the state is a database, that several processes crawl into.
# [cluster]
# shards = 256                   # into which the hosts are divided; fixed when the state is made
# memory = "1GiB"                # what one process may keep of its shards in memory
# lease = "30s"                  # a process not heard of for so long, and a time-out, is replaced
"""


def init(
    url: str,
    *,
    contact: str = "",
    budget: Annotated[str, Parameter(allow_leading_hyphen=True)] = "1000/h",
    out: Path = Path("recrawl.toml"),
    allow_private: bool = False,
    history: Path | None = None,
    force: bool = False,
) -> int:
    """Write a commented configuration for a site.

    Parameters
    ----------
    url
        Where the crawl starts.
    contact
        How site owners reach you: a mail address or a page. The crawl refuses to start without.
    budget
        Requests that you may spend, such as 1000/h or 6/min.
    out
        File to write.
    allow_private
        The site is on this machine or in a private network.
    history
        Visits by others, as recrawl history writes them: the crawl begins with their pages, and
        with what they tell of change rates.
    force
        Overwrite the file if it exists.
    """
    scheme = "" if "://" in url else _scheme_of(url)
    seed = normalise(scheme + url)
    if seed is None:
        raise InputError(f"{url!r} is no http or https address, such as https://example.org/")
    if out.exists() and not force:
        raise InputError(
            f"{out} exists; choose another file with --out, or overwrite it with --force"
        )
    for name, value in (("--contact", contact), ("--budget", budget), ("--out", str(out))):
        if not value.isprintable() or any(sign in value for sign in '"\\'):
            raise InputError(f"{name}: {value!r} holds a character that cannot stand there")
    host = host_of(seed)
    authority = host.partition("://")[2]
    name = urlsplit(seed).hostname or authority  # of an IPv6 address without its brackets
    is_near = _is_near(authority)
    private = (
        f'allow_private = ["{name}"]  # hosts that may have private addresses'
        if allow_private or is_near
        else f'# allow_private = ["{name}"]  # hosts that may have private addresses'
    )
    text = TEMPLATE.format(
        host=host,
        name=authority,
        domain="example.org" if is_near else authority,
        url=seed,
        feed=urljoin(seed, "feed.xml"),
        contact=contact,
        budget=budget,
        private=private,
        file=out,
    )
    # What `run` would refuse is refused here, in its words; the contact may be filled in later.
    settings = settings_of(
        out, tomllib.loads(text), None if contact else {"contact": "https://localhost/"}
    )
    with contextlib.ExitStack() as stack:
        looks = None if history is None else stack.enter_context(read_history(history, settings))
        with whole_file(out) as part:
            part.write_text(text, encoding="utf-8")
        if looks is not None:
            start_warm(looks, settings)
    if scheme:
        say(
            f"No scheme was given, so the crawl starts at {seed}; write http:// or https:// to "
            "choose."
        )
    if is_near and not allow_private:
        say(f"{name} is on this machine or in a private network: allow_private names it.")
    missing = "" if contact else "Fill in `contact`, then "
    say(f"Wrote {out}. {missing or 'Now '}start with:  {called_as()} run {out}")
    return 0


def _scheme_of(address: str) -> str:
    """Return http:// for what is on this machine or in a private network, https:// otherwise."""
    authority = address.partition("/")[0]
    return "http://" if _is_near(authority) or authority.endswith(":80") else "https://"


def _is_near(authority: str) -> bool:
    """Tell a name or an address, with its port or without, of this machine or a private network."""
    name = authority.rpartition(":")[0] if ":" in authority.rpartition("]")[2] else authority
    try:
        return ipaddress.ip_address(name.strip("[]")).is_private
    except ValueError:
        return name.lower() == "localhost" or name.lower().endswith(".localhost")
