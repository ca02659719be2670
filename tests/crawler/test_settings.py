"""The configuration: every key has an effect, and every wrong value is named with its key."""

import dataclasses
import re
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from recrawl.cli.crawler.init import TEMPLATE
from recrawl.crawler.settings import (
    Settings,
    SinkSettings,
    SourceSettings,
    load_settings,
)
from recrawl.crawler.settings.contradictions import contradictions, first_pass_words
from recrawl.crawler.settings.file import File
from recrawl.crawler.settings.toml import explain_mismatch
from recrawl.crawler.settings.values import AccessSettings, ContentSettings, RenderSettings
from recrawl.crawler.wiring.access import host_headers
from recrawl.errors import InvalidSettings

GOOD = 'seeds = ["http://a.test/"]\ncontact = "mailto:me@a.test"\n'
SOURCE = '[[sources]]\nurl = "http://a.test/feed"\n'
SINK = SinkSettings(
    "hook", "webhook", "https://hooks.my.domain/in?a=b", content="markdown", chunk=800,
    paths=("/docs/*",),
    keeps_removed=True, table="pages", batch=9, secret_env="KEY", timeout_s=5.0, retry_for_s=3600.0,
)  # fmt: skip
ACCESS = AccessSettings(("*.a.test",), (("X-V", "2"),), "X-Key", "KEY", None, None, True)
CONTENT = ContentSettings("/docs/*", "article", (".share",), "h1")
RENDER = RenderSettings("/app/*", "#done", 2.0)
PROBED = SourceSettings("http://a.test/feed", "feed", 42, 600.0, (9.0, 18.0), 2.0, "Europe/Paris")


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the shell says is no part of these tests."""
    for variable in ("CONTACT", "BUDGET", "STATE"):
        monkeypatch.delenv(f"RECRAWL_{variable}", raising=False)


def load(folder: Path, text: str) -> Settings:
    path = folder / "recrawl.toml"
    path.write_text(text, encoding="utf-8")
    return load_settings(path)


def complaint(folder: Path, text: str) -> str:
    """Return what is said about a file, after its name."""
    with pytest.raises(InvalidSettings) as told:
        load(folder, text)
    said = str(told.value)
    assert said.startswith(f"{folder / 'recrawl.toml'}: ")
    assert "\n" not in said
    return said.partition(": ")[2]


def test_seeds_and_a_contact_are_enough(tmp_path: Path) -> None:
    """Everything else has a default, and the file's defaults are those of `Settings`."""
    loaded = load(tmp_path, GOOD)

    expected = Settings(
        seeds=("http://a.test/",),
        contact="mailto:me@a.test",
        state=tmp_path / "recrawl-state",
        hosts=("a.test",),
    )
    assert loaded == expected


KEYS: list[tuple[str, Any, str]] = [
    ("keep_visits_s", 100 * 86_400.0, 'keep_visits = "100d"'),
    ("name", "bot", 'name = "bot"'),
    ("reading_cpu_s", 5.0, '[reading]\ncpu = "5s"'),
    ("reading_memory_bytes", 2**30, '[reading]\nmemory = "1GiB"'),
    ("budget_per_s", 0.1, 'budget = "6/min"'),
    ("n_robots", 3, "robots = 3"),
    ("hosts", ("*.test", "b.test:81"), '[scope]\nhosts = ["*.test", "b.test:81"]'),
    ("include", ("/docs/*",), '[scope]\ninclude = ["/docs/*"]'),
    ("exclude", ("*.pdf",), '[scope]\nexclude = ["*.pdf"]'),
    ("max_depth", 0, "[scope]\nmax_depth = 0"),
    ("max_pages", 7, "[scope]\nmax_pages = 7"),
    ("max_pages_per_host", 7, "[scope]\nmax_pages_per_host = 7"),
    ("max_hosts_per_domain", 7, "[scope]\nmax_hosts_per_domain = 7"),
    ("max_listings_per_host", 7, "[scope]\nmax_listings_per_host = 7"),
    ("max_new_per_minute", 7, "[scope]\nmax_new_per_minute = 7"),
    ("max_query_variants", 0, "[scope]\nmax_query_variants = 0"),
    ("max_redirects", 0, "[scope]\nmax_redirects = 0"),
    ("sitemaps", False, "[scope]\nsitemaps = false"),
    ("feeds", False, "[scope]\nfeeds = false"),
    ("delay_s", 0.25, '[politeness]\ndelay = "250ms"'),
    ("per_address", True, "[politeness]\nper_address = true"),
    ("first_backoff_s", 120.0, '[politeness]\nfirst_backoff = "2m"'),
    ("longest_backoff_s", 172_800.0, '[politeness]\nlongest_backoff = "2d"'),
    ("allow_private", ("a.test",), '[politeness]\nallow_private = ["a.test"]'),
    ("timeout_s", 5.0, '[fetch]\ntimeout = "5s"'),
    ("max_bytes", 500 * 1024, '[fetch]\nmax_bytes = "500KiB"'),
    ("accept_language", "de, en;q=0.5", '[fetch]\naccept_language = "de, en;q=0.5"'),
    ("proxy", "http://proxy.lan:3128", '[fetch]\nproxy = "http://proxy.lan:3128/"'),
    ("proxy_login_env", "LOGIN", '[fetch]\nproxy_login_env = "LOGIN"'),
    ("access", (dataclasses.asdict(ACCESS),), '[[access]]\nhosts = ["*.a.test"]\n'
     'headers = {X-V = "2"}\nsecret_as = "X-Key"\nsecret_env = "KEY"\nin_clear = true'),
    ("content", (dataclasses.asdict(CONTENT),), '[[content]]\npath = "/docs/*"\n'
     'select = "article"\ndrop = [".share"]\ntitle = "h1"'),
    ("render", (dataclasses.asdict(RENDER),), '[[render]]\npath = "/app/*"\n'
     'wait_for = "#done"\nsettle = "2s"'),
    ("keep_markdown", True, '[index]\nkeep = "markdown"'),
    ("min_interval_s", 60.0, '[revisit]\nmin_interval = "1m"'),
    ("max_interval_s", 31_557_600.0, '[revisit]\nmax_interval = "1y"'),
    ("initial_interval_s", 3600.0, '[revisit]\ninitial_interval = "1h"'),
    ("confirm_s", 0.0, '[revisit]\nconfirm_after = "0s"'),
    ("listing_s", 604_800.0, '[revisit]\nlistings = "1w"'),
    ("weights", (("/x*", 5.0), ("/y", 0.0)), '[[weights]]\npath = "/x*"\nweight = 5\n'
     '[[weights]]\npath = "/y"\nweight = 0.0'),
    ("half_lives", (("/n/*", 21_600.0),), '[[weights]]\npath = "/n/*"\nhalf_life = "6h"'),
    ("importance", (("even", 1.0),), "[importance]\neven = 1"),
    ("importance", (("links", 1.0),), "[importance]\nlinks = 1.0"),
    ("importance", (("searches", 1.0),), "[importance]\nsearches = 1"),
    ("importance", (("logs", 0.75), ("table", 0.25)), "[importance]\nlogs = 0.75\ntable = 0.25"),
    ("importance", (("table", 1.0),), "[importance]\ntable = 1"),
    ("count_half_life_s", 86_400.0, '[importance]\nhalf_life = "1d"'),
    ("importance_s", 60.0, '[importance]\nevery = "1m"'),
    ("sources", (dataclasses.asdict(PROBED),), SOURCE + 'every = "4h"\n'
     'min_gap = "10m"\nwork_hours = "9-18"\npreference = 2\ntime_zone = "Europe/Paris"'),
    ("buffer_capacity", 1, "[buffer]\ncapacity = 1"),
    ("buffer_deadline_s", 30.0, '[buffer]\ndeadline = "30s"'),
    ("control", "room", '[buffer]\ncontrol = "room"'),
    ("starvation_weight", 2.5, "[buffer]\nstarvation_weight = 2.5"),
    ("language", "none", '[index]\nlanguage = "none"'),
    ("commit_s", 0.05, '[index]\ncommit_every = "50ms"'),
    ("index_command", ("embed", "-x"), '[index]\ncommand = ["embed", "-x"]'),
    ("index_timeout_s", 90.0, '[index]\ntimeout = "90s"'),
    ("n_servers", 3, '[index]\nservers = 3'),
    ("warc", "warc", '[archive]\nwarc = "warc"'),
    ("warc_max_bytes", 10**6, '[archive]\nmax_file = "1MB"'),
    ("policy", "nutch", '[plan]\npolicy = "nutch"'),
    ("replan_s", 60.0, '[plan]\nreplan = "60s"'),
    ("deliver", (dataclasses.asdict(SINK),), '[[deliver]]\nto = "https://hooks.my.domain/in?a=b"\n'
     'name = "hook"\ncontent = "markdown"\nchunks = 800\npaths = ["/docs/*"]\nremovals = "mark"\n'
     'table = "pages"\nbatch = 9\nsecret_env = "KEY"\ntimeout = "5s"\nretry_for = "1h"'),
    ("shards", 8, "[cluster]\nshards = 8"),
    ("memory_bytes", 2**28, '[cluster]\nmemory = "256MiB"'),
    ("lease_s", 20.0, '[cluster]\nlease = "20s"'),
    ("feed_keep_s", 7 * 86_400.0, '[feed]\nkeep = "7d"'),
    ("feed_importance", True, "[feed]\nimportance = true"),
    ("indexnow_key", "abc-12345", '[signals]\nindexnow_key = "abc-12345"'),
    ("callback", "https://c.my.domain:8443", '[signals]\ncallback = "https://C.my.domain:8443/"'),
    ("least_worth", 0.00002, '[plan]\nleast_worth = "0.002 points"'),
    ("first_pass", "polite", '[plan]\nfirst_pass = "polite"'),
    ("discovery_share", 1.0, "[plan]\ndiscovery_share = 1"),
    ("prior_rate_per_s", 1 / 86_400, '[plan]\ntypical_change = "1d"'),
]  # fmt: skip


@pytest.mark.parametrize(
    ("field", "expected", "text"),
    KEYS,
    ids=[key[0] for key in KEYS],
)
def test_every_key_has_its_effect_and_no_other(
    tmp_path: Path, field: str, expected: object, text: str
) -> None:
    """One line changes one field."""
    needs = "\ncommand = ['x']" if field == "n_servers" else ""  # no servers without a step
    section = text.partition("\n")[0] if needs else ""
    plain = load(tmp_path, GOOD + section + needs)
    loaded = load(tmp_path, GOOD + text + needs)

    changed = {
        name: value
        for name, value in dataclasses.asdict(loaded).items()
        if value != dataclasses.asdict(plain)[name]
    }
    changed = {n: v.name if isinstance(v, Path) else v for n, v in changed.items()}
    assert changed == {field: pytest.approx(expected) if isinstance(expected, float) else expected}


def test_no_key_is_left_out_above() -> None:
    """A new setting needs a line in the table."""
    keys: set[str] = set()
    for key in msgspec.structs.fields(File):
        is_table = isinstance(key.type, type) and issubclass(key.type, msgspec.Struct)
        inner = msgspec.structs.fields(key.type) if is_table else ()
        keys |= {f"{key.name}.{field.name}" for field in inner} or {key.name}
    keys -= {"seeds", "seed_file", "contact", "state"}

    written = set()
    for _, _, text in KEYS:
        section, _, rest = text.partition("\n")
        if section.startswith("[["):
            written.add(section.strip("[]"))
        elif section.startswith("["):
            written.add(f"{section[1:-1]}.{rest.partition(' =')[0]}")
        else:
            written.add(text.partition(" =")[0])
    assert written == keys


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["bugdet", "did you mean 'budget'"], 'bugdet = "1/h"'),
        (["max_dept", "[scope]", "'max_depth'"], "[scope]\nmax_dept = 3"),
        (["wieght", "'weight'"], '[[weights]]\npath = "/"\nwieght = 3'),
        (["zzz", "known here", "delay"], "[politeness]\nzzz = 3"),
        (["nosuch"], "[nosuch]\nx = 1"),
        (["budget", "a text in quotes"], "budget = 5"),
        (["scope.max_depth", "a whole number"], '[scope]\nmax_depth = "3"'),
        (["scope.hosts", "a list"], '[scope]\nhosts = "a.test"'),
        (["weights", "path"], "[[weights]]\nweight = 3.0"),
        (["prbes", "[sources", "'probes'"], SOURCE + "prbes = 3"),
        (["sources", "'feed'", "https://example.org/feed"], '[[sources]]\nurl = "feed"'),
        (["sources", "kind", "'atom'", "sitemap"], SOURCE + 'kind = "atom"\nprobes = 3'),
        (["http://a.test/feed", "either probes", "every"], SOURCE + 'kind = "feed"'),
        (["probes", "0", "at least 1"], SOURCE + "probes = 0"),
        (["every", "'1s'", "too short"], SOURCE + 'every = "1s"'),
        (["168 probes", "2h", "84"], SOURCE + 'every = "1h"\nmin_gap = "2h"'),
        (["work_hours", "'9 to 5'", "9-18"], SOURCE + 'probes = 3\nwork_hours = "9 to 5"'),
        (["preference", "-1"], SOURCE + 'probes = 3\npreference = -1'),
        (["named twice"], SOURCE + "probes = 3\n" + SOURCE + "probes = 4"),
        (["budget", "2", "nine tenths"], 'budget = "2/h"\n' + SOURCE + 'every = "30m"'),
        (["sources", "c.test", "scope.hosts"],
         '[scope]\nhosts = ["a.test"]\n[[sources]]\nurl = "http://c.test/"\nprobes = 3'),
        (["budget", "'1000'", "1000/h"], 'budget = "1000"'),
        (["budget", "'0/h'", "above 0"], 'budget = "0/h"'),
        (["budget", "'1e9/s'", "100000/s"], 'budget = "1e9/s"'),
        (["robots", "0", "at least 1"], "robots = 0"),
        (["robots", "10001", "at most 10000"], "robots = 10001"),
        (["name", "'my bot/2'", "letters"], 'name = "my bot/2"'),
        (["name", "''"], 'name = ""'),
        (["scope.hosts", "empty"], "[scope]\nhosts = []"),
        (["scope.hosts", "'http://a.test'", "example.org"], '[scope]\nhosts = ["http://a.test"]'),
        (["seeds", "http://a.test/", "b.test"], '[scope]\nhosts = ["b.test"]'),
        (["scope.hosts", "''"], '[scope]\nhosts = [""]'),
        (["politeness.allow_private", "'10.0.0.0/8'", "*.example.org"],
         '[politeness]\nallow_private = ["10.0.0.0/8"]'),
        (["politeness.allow_private", "'a.test:80'", "without"],
         '[politeness]\nallow_private = ["a.test:80"]'),
        (["politeness.allow_private", "'wiki*.a.test'", "*.example.org"],
         '[politeness]\nallow_private = ["wiki*.a.test"]'),
        (["scope.include", "empty"], '[scope]\ninclude = [""]'),
        (["scope.exclude", "empty"], '[scope]\nexclude = ["/x", ""]'),
        (["buffer.control", "'best'", "room"], '[buffer]\ncontrol = "best"'),
        (["buffer.starvation_weight", "0"], "[buffer]\nstarvation_weight = 0.0"),
        (["scope.max_depth", "-1"], "[scope]\nmax_depth = -1"),
        (["scope.max_pages", "0"], "[scope]\nmax_pages = 0"),
        (["scope.max_pages_per_host", "0"], "[scope]\nmax_pages_per_host = 0"),
        (["scope.max_hosts_per_domain", "0"], "[scope]\nmax_hosts_per_domain = 0"),
        (["scope.max_listings_per_host", "-1"], "[scope]\nmax_listings_per_host = -1"),
        (["scope.max_new_per_minute", "0"], "[scope]\nmax_new_per_minute = 0"),
        (["scope.max_query_variants", "-1"], "[scope]\nmax_query_variants = -1"),
        (["scope.max_redirects", "21", "at most 20"], "[scope]\nmax_redirects = 21"),
        (["politeness.delay", "'1 parsec'", "30s"], '[politeness]\ndelay = "1 parsec"'),
        (["politeness.first_backoff", "'1ms'", "at least 1s"],
         '[politeness]\nfirst_backoff = "1ms"'),
        (["politeness.longest_backoff", "'0s'"], '[politeness]\nlongest_backoff = "0s"'),
        (["politeness.first_backoff", "2d", "longer", "longest_backoff"],
         '[politeness]\nfirst_backoff = "2d"'),
        (["fetch.timeout", "'0s'"], '[fetch]\ntimeout = "0s"'),
        (["fetch.max_bytes", "'lots'", "4MiB"], '[fetch]\nmax_bytes = "lots"'),
        (["fetch.max_bytes", "'10'", "1kB"], '[fetch]\nmax_bytes = "10"'),
        (["fetch.max_bytes", "'2GiB'", "1GiB"], '[fetch]\nmax_bytes = "2GiB"'),
        (["revisit.min_interval", "'0s'"], '[revisit]\nmin_interval = "0s"'),
        (["revisit.min_interval (2d)", "longer", "revisit.max_interval (1d)"],
         '[revisit]\nmin_interval = "2d"\nmax_interval = "1d"'),
        (["revisit.initial_interval"], '[revisit]\ninitial_interval = "soon"'),
        (["revisit.confirm_after"], '[revisit]\nconfirm_after = "-1s"'),
        (["revisit.listings"], '[revisit]\nlistings = ""'),
        (["weights", "-1", "'/x'", ">= 0"], '[[weights]]\npath = "/x"\nweight = -1'),
        (["weights", "nan", "'/x'"], '[[weights]]\npath = "/x"\nweight = nan'),
        (["weights.half_life", "'0s'", "at least 1s"],
         '[[weights]]\npath = "/x"\nhalf_life = "0s"'),
        (["weights: '/x' needs a weight, a half_life or both"], '[[weights]]\npath = "/x"'),
        (["weights.half_life", "'soon'"], '[[weights]]\npath = "/x"\nhalf_life = "soon"'),
        (["weights: inf for '/x' must be finite"], '[[weights]]\npath = "/x"\nweight = inf'),
        (["pattern is empty"], '[[weights]]\npath = ""\nweight = 1'),
        (["deliver", "one of to, command and python"], "[[deliver]]\nname = 'x'"),
        (["deliver.python", "'sinks'", "mypackage.sinks:"], "[[deliver]]\npython = 'sinks'"),
        (["one of to, command and python"], "[[deliver]]\nto = 'a.ndjson'\ncommand = ['x']"),
        (["deliver.command", "['']"], "[[deliver]]\ncommand = ['']"),
        (["nothing is known of 'gopher'", "postgresql://"], "[[deliver]]\nto = 'gopher://a/b'"),
        (["deliver.to", "no address"], '[[deliver]]\nto = "a\\u0007.ndjson"'),
        (["deliver.to", "no address"], f"[[deliver]]\nto = '{1_994 * 'a'}.ndjson'"),
        (["budget", "more than 100000/s"], 'budget = "100001/s"'),
        (["plan.typical_change", "0.0009s"], '[plan]\ntypical_change = "0.0009s"'),
        (["'a.xlsx'", "no ending that is known"], "[[deliver]]\nto = 'a.xlsx'"),
        (["'a.zst'", "no ending"], "[[deliver]]\nto = 'a.zst'"),
        (["'a.parquet'", "{seq}"], "[[deliver]]\nto = 'a.parquet'"),
        (["'http://'", "no address"], "[[deliver]]\nto = 'http:///x'"),
        (["no address"], "[[deliver]]\nto = 'http://a.test:99999/x'"),
        (["no address"], '[[deliver]]\nto = "https://a.test/x\\r\\nHost: b.test"'),
        (["no address"], "[[deliver]]\nto = 'https://a.test/x y'"),
        (["solr+https://a.test", "solr/core"], "[[deliver]]\nto = 'solr+https://a.test/core'"),
        (["typesense+https://a.test", "name of an index"],
         "[[deliver]]\nto = 'typesense+https://a.test/one/two'"),
        (["opensearch+https://a.test", "name of an index"],
         "[[deliver]]\nto = 'opensearch+https://a.test/'"),
        (["postgresql://h", "holds a secret", "secret_file"],
         "[[deliver]]\nto = 'postgresql://u:s3cret@h/d'"),
        (["holds a secret"], "[[deliver]]\nto = 'postgresql://u@h/d?password=s3cret'"),
        (["holds a secret"], "[[deliver]]\nto = 'https://token@h/d'"),
        (["deliver, a.ndjson: content", "'pdf'"],
         "[[deliver]]\nto = 'a.ndjson'\ncontent = 'pdf'"),
        (["deliver, a.ndjson: chunks", "49", "at least 50"],
         "[[deliver]]\nto = 'a.ndjson'\nchunks = 49"),
        (["chunks come with content", "takes none"],
         "[[deliver]]\nto = 'postgresql://h/d'\nchunks = 800"),
        (["fetch.accept_language", "de, en"], '[fetch]\naccept_language = "de\\r\\nX: y"'),
        (["fetch.proxy", "http://proxy.lan:3128"], '[fetch]\nproxy = "socks5://a:1"'),
        (["fetch.proxy", "http://proxy.lan:3128"], '[fetch]\nproxy = "http://a:99999"'),
        (["fetch.proxy", "proxy_login_env"], '[fetch]\nproxy = "http://me:s3cret@a:1"'),
        (["politeness.per_address", "fetch.proxy", "leave one"],
         '[politeness]\nper_address = true\n[fetch]\nproxy = "http://a:1"'),
        (["politeness.per_address", "[[render]]", "leave one"],
         '[politeness]\nper_address = true\n[[render]]\npath = "/app/*"'),
        (["fetch.proxy_login_env", "does not belong here"],
         '[fetch]\nproxy_login_env = "me:s3cret"'),
        (["access.hosts", "nobody else"], "[[access]]\nsecret_env = 'K'"),
        (["access, a.test", "give headers"], "[[access]]\nhosts = ['a.test']"),
        (["access, a.test", "X-A", "line break"],
         '[[access]]\nhosts = ["a.test"]\nheaders = {X-A = "1\\r\\nX-B: 2"}'),
        (["access, a.test", "no name of a header"],
         '[[access]]\nhosts = ["a.test"]\nheaders = {"X A" = "1"}'),
        (["Authorization is not for a configuration", "secret_env"],
         '[[access]]\nhosts = ["a.test"]\nheaders = {Authorization = "Bearer s3cret"}'),
        (["secret_as", "Host"], "[[access]]\nhosts = ['a.test']\nsecret_as = 'Host'"),
        (["access, a.test", "secret_env is no name"],
         "[[access]]\nhosts = ['a.test']\nsecret_env = 's3-cret!'"),
        (["access, a.test", "either secret_file or secret_env"],
         "[[access]]\nhosts = ['a.test']\nsecret_env = 'K'\nsecret_file = 'k'"),
        (["content.path", "/docs/*"], "[[content]]\npath = ''\nselect = 'p'"),
        (["content, /a", "select, drop or title"], "[[content]]\npath = '/a'"),
        (["content, /a: select", "'p['", "CSS selector"],
         "[[content]]\npath = '/a'\nselect = 'p['"),
        (["content, /a: select", "CSS selector"],
         f"[[content]]\npath = '/a'\nselect = '{1_001 * 'p'}'"),
        (["reading.cpu", "0.09s"], '[reading]\ncpu = "0.09s"'),
        (["reading.memory", "383MiB"], '[reading]\nmemory = "383MiB"'),
        (["reading.memory", "65GiB"], '[reading]\nmemory = "65GiB"'),
        (["content, /a: drop", "''"], "[[content]]\npath = '/a'\ndrop = ['']"),
        (["render.path"], "[[render]]\npath = ''"),
        (["render, /a: wait_for", "'#'"], "[[render]]\npath = '/a'\nwait_for = '#'"),
        (["render, /a: settle"], "[[render]]\npath = '/a'\nsettle = '-1s'"),
        (["index.keep", "'html'", "markdown"], '[index]\nkeep = "html"'),
        (["removals", "'keep'"], "[[deliver]]\nto = 'a.ndjson'\nremovals = 'keep'"),
        (["table", "'a;b'"], "[[deliver]]\nto = 'postgres://h/d'\ntable = 'a;b'"),
        (["deliver, a.ndjson", "the feed does not tell it", "[feed]"],
         "[[deliver]]\nto = 'a.ndjson'\nimportance = true"),
        (["batch", "0 must be"], "[[deliver]]\nto = 'a.ndjson'\nbatch = 0"),
        (["path pattern is empty"], "[[deliver]]\nto = 'a.ndjson'\npaths = ['']"),
        (["either secret_file or secret_env"],
         "[[deliver]]\nto = 'http://h/'\nsecret_file = 'a'\nsecret_env = 'B'"),
        (["secret_env is no name"], "[[deliver]]\nto = 'http://h/'\nsecret_env = 's3-cret!'"),
        (["timeout", "too short"], "[[deliver]]\nto = 'a.ndjson'\ntimeout = '0s'"),
        (["deliver.name", "no name"], "[[deliver]]\nto = 'a.ndjson'\nname = ' '"),
        (["'a.ndjson' is there twice"],
         "[[deliver]]\nto = 'a.ndjson'\n[[deliver]]\nto = 'a.ndjson'"),
        (["'tos'", "did you mean 'to'"], "[[deliver]]\ntos = 'a.ndjson'"),
        (["cluster.shards", "0"], "[cluster]\nshards = 0"),
        (["cluster.memory", "'1kB'"], '[cluster]\nmemory = "1kB"'),
        (["state", "mysql://", "postgresql://"], 'state = "mysql://a/b"'),
        (["feed.keep", "'0s'"], '[feed]\nkeep = "0s"'),
        (["'kept'", "[feed]", "keep"], '[feed]\nkept = "1d"'),
        (["signals.indexnow_key", "'short'", "8 to 128"], '[signals]\nindexnow_key = "short"'),
        (["signals.callback", "'c.my.domain'", "https://"], '[signals]\ncallback = "c.my.domain"'),
        (["signals.callback", "a path"], '[signals]\ncallback = "https://c.my.domain/x"'),
        (["plan.least_worth", "'much'", "0.001 points"], '[plan]\nleast_worth = "much"'),
        (["plan.least_worth", "'-1 points'"], '[plan]\nleast_worth = "-1 points"'),
        (["plan.least_worth", "'3 pages'"], '[plan]\nleast_worth = "3 pages"'),
        (["plan.first_pass", "'fast'", "polite"], '[plan]\nfirst_pass = "fast"'),
        (["buffer.capacity", "0"], "[buffer]\ncapacity = 0"),
        (["buffer.deadline"], '[buffer]\ndeadline = "0s"'),
        (["index.language", "'klingon'", "english"], '[index]\nlanguage = "klingon"'),
        (["index.commit_every"], '[index]\ncommit_every = "0s"'),
        (["index.command", "program"], '[index]\ncommand = [""]'),
        (["index.command", "NUL"], '[index]\ncommand = ["a\\u0000"]'),
        (["index.timeout"], '[index]\ntimeout = "0s"'),
        (["index.servers", "3", "index.command"], "[index]\nservers = 3"),
        (["index.servers", "65", "at most 64"], "[index]\nservers = 65\ncommand = ['x']"),
        (
            ["index.servers", "8", "only 4"],
            "[buffer]\ncapacity = 4\n[index]\nservers = 8\ncommand = ['x']",
        ),
        (["plan.policy", "'best'", "recrawl"], '[plan]\npolicy = "best"'),
        (["plan.replan"], '[plan]\nreplan = "0s"'),
        (["plan.discovery_share", "2.0", "between 0 and 1"], "[plan]\ndiscovery_share = 2.0"),
        (["plan.discovery_share", "nan"], "[plan]\ndiscovery_share = nan"),
        (["plan.typical_change"], '[plan]\ntypical_change = "0d"'),
        (["seed_file", "nowhere.txt", "No such file"], 'seed_file = "nowhere.txt"'),
        (["not valid TOML"], "seeds = ["),
    ],
)  # fmt: skip
def test_a_wrong_value_is_named_with_its_key_and_what_would_be_right(
    tmp_path: Path, words: list[str], text: str
) -> None:
    """One line, and nothing is written."""
    said = complaint(tmp_path, GOOD + text)

    for word in words:
        assert word in said
    assert [path.name for path in tmp_path.iterdir()] == ["recrawl.toml"]


@pytest.mark.parametrize(
    "text",
    [
        '[reading]\ncpu = "0.1s"\nmemory = "384MiB"',
        '[reading]\nmemory = "64GiB"',
        f"[[content]]\npath = '/a'\nselect = '{1_000 * 'p'}'",
    ],
)
def test_what_is_just_within_bounds_is_taken(tmp_path: Path, text: str) -> None:
    """Bounds are part of what they bound."""
    load(tmp_path, GOOD + text)


COMMAND = '[[deliver]]\ncommand = ["a"]\n'
SOURCE = "[[sources]]\nurl = 'http://a.test/'\nkind = 'page'\n"
HOURS = f"{SOURCE}probes = 1\nwork_hours = "


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("https://a.test/in", "to = 'https://a.test/in?key=some'"),
        ("solr+https://a.test/solr/core", "to = 'solr+https://a.test/solr/core?key=some'"),
        ("postgresql://u@h/d", "to = 'postgresql://u@h/d?sslmode=require'"),
        ("out/a.ndjson", "to = 'out/a.ndjson'"),
        ("python3 embed.py", "command = ['python3', 'embed.py']"),
        ("my.sinks:Made", "python = 'my.sinks:Made'"),
    ],
)
def test_a_sink_is_called_by_where_it_leads_without_the_query(
    tmp_path: Path, name: str, given: str
) -> None:
    """Unless it is given a name: a query may hold a secret, and names are shown."""
    (sink,) = load(tmp_path, f"{GOOD}[[deliver]]\n{given}").deliver

    assert sink.name == name


@pytest.mark.parametrize(
    ("where", "text", "within", "beyond"),
    [
        ("deliver, a: batch", f"{COMMAND}batch = ", "1", "0"),
        ("deliver, a: batch", f"{COMMAND}batch = ", "10_000", "10_001"),
        ("deliver, a: timeout", f"{COMMAND}timeout = ", "'0.1s'", "'0.09s'"),
        ("deliver, a: retry_for", f"{COMMAND}retry_for = ", "'0s'", "'-1s'"),
        ("sources, http://a.test/: probes", f"{SOURCE}probes = ", "1", "0"),
        ("sources, http://a.test/: probes", f"{SOURCE}probes = ", "10_080", "10_081"),
        ("sources, http://a.test/: every", f"{SOURCE}every = ", "'60s'", "'59s'"),
        (
            "sources, http://a.test/: preference",
            f"{SOURCE}probes = 1\npreference = ",
            "0.0",
            "-0.1",
        ),
        ("sources, http://a.test/: preference", f"{SOURCE}probes = 1\npreference = ", "9e9", "inf"),
        ("sources, http://a.test/: work_hours", HOURS, "'0-24'", "'0-25'"),
        ("sources, http://a.test/: work_hours", HOURS, "'8-9'", "'9-9'"),
    ],
)
def test_bounds_of_sinks_and_of_sources_are_part_of_what_they_bound(
    tmp_path: Path, where: str, text: str, within: str, beyond: str
) -> None:
    load(tmp_path, f"{GOOD}budget = '9/s'\n{text}{within}")

    assert where in complaint(tmp_path, f"{GOOD}budget = '9/s'\n{text}{beyond}")


def test_what_a_table_leaves_out_is_what_a_program_leaves_out(tmp_path: Path) -> None:
    """Sources, where hours of work are worth three times as much as others, and sinks."""
    sink = "[[deliver]]\nto = 'postgresql://me@db.my.domain/d'\n"

    told = load(tmp_path, f"{GOOD}{sink}{SOURCE}probes = 1")

    assert told.sources == (SourceSettings("http://a.test/", "page", 1),)
    to = "postgresql://me@db.my.domain/d"
    assert told.deliver == (SinkSettings(to, "postgresql", to),)
    assert load(tmp_path, f"{GOOD}{HOURS}'9-18'").sources[0].preference == 3.0


def test_a_source_is_probed_once_a_week_at_least(tmp_path: Path) -> None:
    """However seldom it was to be."""
    assert load(tmp_path, f"{GOOD}{SOURCE}every = '30d'").sources[0].n_probes == 1
    assert load(tmp_path, f"{GOOD}{SOURCE}every = '12h'").sources[0].n_probes == 14


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        (", line 2: not valid TOML: 'budget 5'; write name = value", "name = 'a'\nbudget 5"),
        (", line 2: not valid TOML: 'name = 1'; a key or table is", "name = 'a'\nname = 1"),
        (": not valid TOML: it ends too early, after 'seeds = ['", "\nseeds = ["),
        (": not valid TOML: is nested too deeply", f"x = {'[' * 100_000}"),
        (": not valid TOML: is nested too deeply, or holds a number", f"x = {'9' * 100_000}"),
        (", line 2: not valid TOML: is not UTF-8", "x = 1\ny = '\xff'"),
    ],
)
def test_where_a_file_is_no_toml_its_line_is_shown(
    tmp_path: Path, expected: str, text: str
) -> None:
    """With what is wrong in it, as far as that is known."""
    (tmp_path / "recrawl.toml").write_bytes(text.encode("latin-1"))

    with pytest.raises(InvalidSettings) as caught:
        load_settings(tmp_path / "recrawl.toml")
    assert str(caught.value).startswith(f"{tmp_path / 'recrawl.toml'}{expected}")


@pytest.mark.parametrize(
    "section",
    ["[scope]", "[politeness]", "[fetch]", "[reading]", "[revisit]", "[importance]", "[buffer]",
     "[index]", "[archive]", "[feed]", "[signals]", "[plan]", "[cluster]",
     "[[sources]]\nurl = 'http://a.test/'", "[[access]]\nhosts = ['a.test']",
     "[[content]]\npath = '/a'", "[[render]]\npath = '/a'", "[[deliver]]\nname = 'a'"],
)  # fmt: skip
def test_a_key_that_there_is_not_is_named_in_every_section(tmp_path: Path, section: str) -> None:
    """A slip of the pen must not leave a default in force."""
    assert "max_pagse" in complaint(tmp_path, f"{GOOD}{section}\nmax_pagse = 1")


BOUNDS = """
keep_visits                     "1s"      "0.9s"
politeness.first_backoff        "1s"      "0.9s"
politeness.longest_backoff      "1s"      "0.9s"       first_backoff = "1s"
importance.half_life            "1s"      "0.9s"
cluster.lease                   "1s"      "0.9s"
reading.cpu                     "0.1s"    "0.09s"
fetch.timeout                   "0.001s"  "0.0009s"
revisit.min_interval            "0.001s"  "0.0009s"
revisit.max_interval            "0.001s"  "0.0009s"    min_interval = "0.001s"
revisit.initial_interval        "0.001s"  "0.0009s"
revisit.listings                "0.001s"  "0.0009s"
revisit.confirm_after           "0s"      "-1s"
politeness.delay                "0s"      "-1s"
importance.every                "0.001s"  "0.0009s"
buffer.deadline                 "0.001s"  "0.0009s"
index.commit_every              "0.001s"  "0.0009s"
index.timeout                   "0.001s"  "0.0009s"
feed.keep                       "0.001s"  "0.0009s"
plan.replan                     "0.001s"  "0.0009s"
plan.typical_change             "0.001s"  "0.0009s"
robots                          1         0
robots                          10_000    10_001
scope.max_depth                 0         -1
scope.max_pages                 1         0
scope.max_pages_per_host        1         0
scope.max_hosts_per_domain      1         0
scope.max_listings_per_host     0         -1
scope.max_new_per_minute        1         0
scope.max_query_variants        0         -1
scope.max_redirects             0         -1
scope.max_redirects             20        21
buffer.capacity                 1         0
buffer.capacity                 1_000_000 1_000_001
index.servers                   1         0
cluster.shards                  1         0
cluster.shards                  32_768    32_769
"""


@pytest.mark.parametrize("line", BOUNDS.strip().splitlines(), ids=lambda line: line.split()[0])
def test_what_is_just_beyond_a_bound_is_not_taken(tmp_path: Path, line: str) -> None:
    """And named; what is just within is."""
    key, within, beyond, beside = [*line.split(maxsplit=3), ""][:4]
    section, _, name = key.rpartition(".")
    head = f"[{section}]\n{beside}\n" if section else ""

    load(tmp_path, f"{GOOD}{head}{name} = {within}")

    assert complaint(tmp_path, f"{GOOD}{head}{name} = {beyond}").startswith(f"{key}: ")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["seeds", "at least one"], 'contact = "me@a.test"'),
        (["seeds", "'ftp://a.test/'", "https://example.org/"],
         'contact = "me@a.test"\nseeds = ["ftp://a.test/"]'),
        (["contact", "nothing", "reach you"], 'seeds = ["http://a.test/"]'),
    ],
)  # fmt: skip
def test_what_is_missing_is_named(tmp_path: Path, words: list[str], text: str) -> None:
    """Seeds and contact have no default."""
    said = complaint(tmp_path, text)

    for word in words:
        assert word in said


@pytest.mark.parametrize(
    ("expected", "contact"),
    [
        ("mailto:me@a.test", "me@a.test"),
        ("mailto:me@a.test", "mailto:me@a.test"),
        ("https://a.test/bot", "https://a.test/bot"),
    ],
)
def test_a_contact_is_a_mail_address_or_a_page(tmp_path: Path, expected: str, contact: str) -> None:
    """And is part of what the crawler calls itself."""
    loaded = load(tmp_path, f'seeds = ["http://a.test/"]\ncontact = "{contact}"')

    assert loaded.contact == expected
    assert loaded.user_agent.startswith("recrawl/")
    assert loaded.user_agent.endswith(f"(+{expected.removeprefix('mailto:')})")


@pytest.mark.parametrize(
    "contact",
    [
        "",
        "me",
        "mailto:",
        "https://",
        "me at a.test",
        "you@example.org",
        "mé@a.test",
        "me@a.test\\n",
    ],
)
def test_no_crawl_starts_without_a_way_to_reach_its_owner(tmp_path: Path, contact: str) -> None:
    """Nor with the example's, nor with what no header can carry."""
    said = complaint(tmp_path, f'seeds = ["http://a.test/"]\ncontact = "{contact}"')

    assert said.startswith("contact: ")


def test_seeds_come_from_the_file_and_from_a_list(tmp_path: Path) -> None:
    """In normal form, once each; comments, empty lines and a byte order mark are no seeds."""
    (tmp_path / "list.txt").write_text(
        "\ufeffhttp://B.test\n\n# one\n  # two\n http://c.test/x \nhttp://a.test\n",
        encoding="utf-8",
    )

    loaded = load(tmp_path, f'seed_file = "list.txt"\n{GOOD}')

    assert loaded.seeds == ("http://a.test/", "http://b.test/", "http://c.test/x")
    assert loaded.hosts == ("a.test", "b.test", "c.test")


def test_a_bad_line_of_a_seed_list_is_named(tmp_path: Path) -> None:
    """By its number."""
    (tmp_path / "list.txt").write_text("http://a.test/\n\nnot a url\n")
    assert "list.txt, line 3: 'not a url'" in complaint(tmp_path, f'seed_file = "list.txt"\n{GOOD}')

    (tmp_path / "list.txt").write_bytes(b"http://a.test/\xff\n")
    assert "not UTF-8" in complaint(tmp_path, f'seed_file = "list.txt"\n{GOOD}')


def test_names_of_hosts_may_be_written_as_people_write_them(tmp_path: Path) -> None:
    """In any letters, and addresses with the brackets that they have in URLs."""
    settings = load(
        tmp_path,
        'seeds = ["http://Bücher.test/"]\ncontact = "mailto:me@a.test"\n'
        '[scope]\nhosts = ["bücher.test", "*.bücher.test"]\n'
        '[politeness]\nallow_private = ["bücher.test", "[::1]", "10.0.0.7"]\n'
        '[[access]]\nhosts = ["bücher.test"]\nheaders = { X-V = "2" }',
    )

    assert settings.hosts == ("xn--bcher-kva.test", "*.xn--bcher-kva.test")
    assert settings.allow_private == ("xn--bcher-kva.test", "::1", "10.0.0.7")
    assert host_headers(settings).of(settings.seeds[0]) == {"X-V": "2"}


def test_the_state_lies_beside_the_file(tmp_path: Path) -> None:
    """Wherever the command is called from."""
    assert load(tmp_path, f'state = "here"\n{GOOD}').state == tmp_path / "here"
    assert load(tmp_path, f'state = "/there"\n{GOOD}').state == Path("/there")


def test_the_environment_overrides_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three settings, checked as those of the file are."""
    monkeypatch.setenv("RECRAWL_BUDGET", "2/s")
    monkeypatch.setenv("RECRAWL_CONTACT", "you@b.test")
    monkeypatch.setenv("RECRAWL_STATE", "elsewhere")
    loaded = load(tmp_path, GOOD)

    assert (loaded.budget_per_s, loaded.contact) == (2.0, "mailto:you@b.test")
    assert loaded.state == tmp_path / "elsewhere"
    monkeypatch.setenv("RECRAWL_BUDGET", "much")
    assert "'much'" in complaint(tmp_path, GOOD)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """With a hint where it is missing."""
    with pytest.raises(InvalidSettings, match=r"No such file.*recrawl init"):
        load_settings(tmp_path / "nowhere.toml")
    with pytest.raises(InvalidSettings, match="directory"):
        load_settings(tmp_path)
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidSettings, match="not valid TOML"):
        load_settings(tmp_path / "bytes.toml")
    with (tmp_path / "large.toml").open("wb") as large:
        large.truncate((64 << 20) + 1)
    with pytest.raises(InvalidSettings, match="larger than 64 MiB"):
        load_settings(tmp_path / "large.toml")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("no more than 1 are ever busy", "robots = 9"),
        ("1/s: the rest is never used", 'budget = "2/s"'),
        (
            "no more than 4 of them run",
            "robots = 9\n[scope]\nhosts = ['*']\n[buffer]\ncapacity = 4",
        ),
        ("which are kept", '[revisit]\ninitial_interval = "5s"'),
        ("nothing to share out", "[cluster]\nshards = 8"),
    ],
)
def test_settings_in_each_others_way_are_told_of(tmp_path: Path, words: str, text: str) -> None:
    """Each is possible; one of the two has no effect."""
    (told,) = contradictions(load(tmp_path, GOOD + text))

    assert words in told


@pytest.mark.parametrize(
    "text",
    [
        "",
        "robots = 9\n[scope]\nhosts = ['*.a.test', 'a.test']",
        'budget = "2/s"\n[politeness]\ndelay = "0s"',
        'budget = "1/s"',
        '[revisit]\nmax_interval = "1h"',
    ],
)
def test_of_settings_that_go_together_nothing_is_told(tmp_path: Path, text: str) -> None:
    """Nor of defaults, which suit any site."""
    assert contradictions(load(tmp_path, GOOD + text)) == []


def test_what_a_new_file_shows_as_default_is_the_default() -> None:
    """Where there is none, what is commented is an example."""
    defaults = msgspec.to_builtins(msgspec.convert({"seeds": [], "contact": ""}, File))
    keys, is_one, shown = defaults, True, []
    for line in TEMPLATE.splitlines():
        if heading := re.match(r"(?:# )?(\[+)(\w+)\]+$", line):
            is_one = heading[1] == "["
            keys = defaults[heading[2]] if is_one else {}
        elif is_one and (commented := re.match(r"# (\w+ = .*)", line)):
            ((key, value),) = tomllib.loads(commented[1]).items()
            shown += [(key, value, keys[key])] if keys[key] not in (None, "", []) else []

    assert len(shown) > 40
    assert [one for one in shown if one[1] != one[2]] == []


@pytest.mark.parametrize(
    ("said", "importance"),
    [
        ("'hearsay' with 0.5 is no share", (("links", 0.5), ("hearsay", 0.5))),
        ("'links' with 1.5 is no share", (("links", 1.5), ("logs", -0.5))),
        ("'links' with -0.5 is no share", (("links", -0.5), ("logs", 1.5))),
        (".* must add up to 1", (("links", 0.4), ("logs", 0.4))),
    ],
)
def test_shares_of_importance_are_of_sources_that_there_are_and_add_up(
    said: str, importance: tuple[tuple[str, float], ...]
) -> None:
    """Also where a program says them, and no file."""
    with pytest.raises(InvalidSettings, match=f"^importance: {said}"):
        Settings(seeds=("http://a.test/",), contact="me@a.test", importance=importance)


@pytest.mark.parametrize(
    ("budget_per_s", "delay_s", "first_pass", "told"),
    [
        (5.0, 1.0, "budget", False),
        (4.9, 1.0, "budget", True),
        (4.9, 1.0, "polite", False),
        (9.0, 1.0, "budget", False),
        (2.5, 2.0, "budget", False),
        (2.4, 2.0, "budget", True),
    ],
)
def test_how_long_the_first_pass_takes_is_said_where_politeness_allows_more(
    budget_per_s: float, delay_s: float, first_pass: str, told: bool
) -> None:
    """A fifth more at least: six hosts of one request a second, or every two seconds."""
    hosts = tuple(f"{name}.test" for name in "abcdef")
    settings = Settings(
        seeds=("http://a.test/",), contact="me@a.test", hosts=hosts, delay_s=delay_s,
        budget_per_s=budget_per_s, first_pass=first_pass,
    )  # fmt: skip

    assert bool(first_pass_words(settings)) is told


def test_no_secret_goes_in_clear_unless_the_file_says_so(tmp_path: Path) -> None:
    """Nor does anything else go that is not named."""
    text = f'{GOOD}[[access]]\nhosts = ["a.test"]\nsecret_env = "KEY"\n'

    (access,) = load(tmp_path, text).access

    assert access == AccessSettings(("a.test",), secret_env="KEY")
    assert access.in_clear is False


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"state": None}, "state: None is no place"),
        ({"max_pages": 1.5}, "max_pages: 1.5 must be a whole number"),
        ({"max_pages": 0}, "max_pages: 0 must be at least 1"),
        ({"discovery_share": -0.1}, "discovery_share: -0.1 must be between 0 and 1"),
        ({"discovery_share": 1.1}, "discovery_share: 1.1 must be between 0 and 1"),
        ({"weights": [("/a", -1.0)]}, r"weights: \('/a', -1.0\) must be a pattern with"),
        ({"weights": ["/a"]}, "weights: '/a' must be a pattern with"),
        ({"half_lives": {"/a": "6h"}}, r"half_lives: \('/a', '6h'\) must be"),
        ({"control": "best"}, "buffer.control: 'best' is not one of optimal, room"),
        ({"first_pass": "quick"}, "plan.first_pass: 'quick' is neither"),
        ({"language": "klingon"}, "index.language: 'klingon' is not one of auto"),
        ({"max_redirects": -1}, "max_redirects: -1 must be >= 0"),
        ({"deliver": [{}]}, "deliver: .* is no list of deliver settings"),
    ],
)
def test_what_a_program_gives_is_checked_as_well(wrong: dict[str, Any], said: str) -> None:
    """A state of None was a folder of this name, and the rest failed in the middle of a crawl."""
    with pytest.raises(InvalidSettings, match=said):
        Settings(**({"seeds": ("http://a.test/",), "contact": "me@a.test"} | wrong))


@pytest.mark.parametrize("wrong", [object(), -1, [None], 10**400])
def test_no_setting_of_another_kind_is_taken_or_ends_in_a_trace(wrong: Any) -> None:
    """One message with the name of the setting, whichever it is."""
    for one in dataclasses.fields(Settings):
        given: dict[str, Any] = {"seeds": ("http://a.test/",), "contact": "me@a.test"}
        with pytest.raises(InvalidSettings, match=rf"^(\w+\.)?{one.name}: "):
            Settings(**(given | {one.name: wrong}))


def test_shares_of_importance_may_be_a_mapping() -> None:
    """As weights may."""
    given: Any = {"links": 0.25, "even": 0.75}
    made = Settings(seeds=("http://a.test/",), contact="me@a.test", importance=given)
    assert made.importance == (("links", 0.25), ("even", 0.75))


def test_a_file_is_named_by_text_or_path(tmp_path: Path) -> None:
    """As everything else that a program names."""
    path = tmp_path / "a.toml"
    path.write_text(GOOD)
    nothing: Any = None

    assert load_settings(str(path)) == load_settings(path)
    with pytest.raises(InvalidSettings, match=r"nope\.toml: No such file"):
        load_settings("nope.toml")
    with pytest.raises(InvalidSettings, match="path: None is no path"):
        load_settings(nothing)


def test_weights_may_be_a_mapping() -> None:
    """As Scrapy's settings have them."""
    given: Any = {"http://a.test/news/*": 5}
    made = Settings(seeds=("http://a.test/",), contact="me@a.test", weights=given)
    assert made.weights == (("http://a.test/news/*", 5.0),)


class _Part(msgspec.Struct, forbid_unknown_fields=True):
    """Of something that a person writes."""


class _Whole(msgspec.Struct, forbid_unknown_fields=True):
    parts: list[_Part] = []


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ({"prats": []}, "unknown key 'prats'"),
        ({"parts": [{"size": 1}]}, "unknown key 'size' in parts[0]"),
    ],
)
def test_what_does_not_fit_is_told_of_with_the_place_where_it_stands(
    written: dict[str, object], told: str
) -> None:
    """At the top there is nothing that it would stand in."""
    with pytest.raises(msgspec.ValidationError) as said:
        msgspec.convert(written, _Whole)

    assert explain_mismatch(str(said.value)) == told
