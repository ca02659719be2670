"""Stock applications, as Debian and PyPI package them, on 127.0.0.1: filled, edited, logged.

Each is a context manager that yields a :class:`Site`, and raises :class:`Missing` where what it
needs is not installed.
"""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

NEEDS = (
    "dokuwiki mediawiki wordpress wordpress-theme-twentytwentythree mariadb-server php-cli php-xml "
    "php-mbstring php-sqlite3 php-mysql apache2 gitweb cgit nginx git"
)


class Missing(Exception):
    """What an application needs is not installed."""


@dataclass(frozen=True)
class Site:
    """A site that is up.

    Parameters
    ----------
    home : its address
    log : of its server, one request a line
    content : tells an address (path and query) of a page that people look for
    n_content : how many there are
    word : that every content page has
    edit : changes the n-th page through the application; returns its address
    way : tells an address that leads to content, as the listing of a directory does
    changes : tells an address whose page can change; default: what is content, or leads to it
    """

    home: str
    log: Path
    content: Callable[[str], bool]
    n_content: int
    word: str
    edit: Callable[[int], str] | None = None
    way: Callable[[str], bool] = lambda _: False
    changes: Callable[[str], bool] | None = None

    def asked(self, after: int = 0) -> list[tuple[str, str, int]]:
        """Return the method, address and status of requests; from a byte of the log on."""
        with self.log.open("rb") as file:
            file.seek(after)
            text = file.read().decode("utf-8", "replace")
        found = []
        for line in text.splitlines():
            if php := re.search(r"\[(\d{3})\]: (GET|HEAD) (\S+)", line):
                found.append((php[2], php[3], int(php[1])))
            elif common := re.search(r'"(GET|HEAD) (\S+) [^"]*" (\d{3})', line):
                found.append((common[1], common[2], int(common[3])))
        return found


def needs(*paths: str) -> None:
    """Raise unless these programs or files are there."""
    for path in paths:
        if not (Path(path).exists() if path.startswith("/") else shutil.which(path)):
            raise Missing(path)


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextlib.contextmanager
def server(command: list[str], port: int, log: Path, **environment: str) -> Iterator[None]:
    """Run a server until the block ends."""
    with log.open("ab") as out:
        running = subprocess.Popen(
            command,
            stdout=out,
            stderr=out,
            env={**os.environ, **environment},
            start_new_session=True,
        )
        try:
            for _ in range(200):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                    break
                if running.poll() is not None:
                    raise Missing(f"{command[0]}: {log.read_text()[-300:]}")
                time.sleep(0.1)
            yield
        finally:
            with contextlib.suppress(ProcessLookupError):  # its workers as well
                os.killpg(running.pid, signal.SIGTERM)
            running.wait()


def php(
    root: Path, port: int, log: Path, **environment: str
) -> contextlib.AbstractContextManager[None]:
    """PHP's own server, two requests at once."""
    command = ["php", "-d", "memory_limit=512M", "-S", f"127.0.0.1:{port}", "-t", str(root)]
    return server(command, port, log, PHP_CLI_SERVER_WORKERS="2", **environment)


def paragraph(number: int, more: str) -> str:
    """Return text that only one page has."""
    words = " ".join(f"word{number * 7919 + place}" for place in range(12))
    return f"The manifold text of page {number}, about {words}. {more}"


def _linked(number: int, n_pages: int) -> list[int]:
    return [(31 * number + 7) % n_pages, (number + 1) % n_pages]


# -- wikis --


@contextlib.contextmanager
def dokuwiki(folder: Path, n_pages: int) -> Iterator[Site]:
    """DokuWiki, every page behind one script."""
    packaged = Path("/usr/share/dokuwiki")
    needs(str(packaged), "php")
    root, log = folder / "wiki", folder / "server.log"
    shutil.copytree(packaged, root, symlinks=False)
    (root / "inc" / "preload.php").unlink(missing_ok=True)
    shutil.copytree(
        "/etc/dokuwiki", root / "conf", dirs_exist_ok=True, ignore_dangling_symlinks=True
    )
    data = root / "data"
    for name in "pages attic cache index locks media media_attic media_meta meta tmp log".split():
        (data / name).mkdir(parents=True, exist_ok=True)
    (root / "conf" / "local.php").write_text(
        "<?php $conf['indexdelay']=0; $conf['useacl']=0; $conf['license']=''; "
        f"$conf['savedir']='{data}';"
    )
    links = "\n".join(f"  * [[page{number}]]" for number in range(n_pages))
    (data / "pages" / "start.txt").write_text(f"====== Start ======\nWelcome, manifold.\n{links}")

    def write(number: int, more: str) -> None:
        (data / "pages" / f"page{number}.txt").write_text(
            f"====== Page {number} ======\nThe manifold text of page {number}, about "
            f"word{number * 7919}. {more}\n\n"
            + " ".join(f"See [[page{other}]]." for other in _linked(number, n_pages))
        )

    for number in range(n_pages):
        write(number, "")

    port = free_port()

    def edit(number: int) -> str:
        write(number, f"Edited at {time.time():.3f}.")
        return f"/doku.php?id=page{number}"

    with php(root, port, log):
        yield Site(
            f"http://127.0.0.1:{port}/doku.php?id=start",
            log,
            lambda url: re.fullmatch(r"/doku\.php\?id=(page\d+|start)", url) is not None,
            n_pages + 1,
            "manifold",
            edit,
        )


@contextlib.contextmanager
def mediawiki(folder: Path, n_pages: int) -> Iterator[Site]:
    """MediaWiki on SQLite, addresses behind index.php."""
    root = Path("/usr/share/mediawiki")
    needs(str(root), "php")
    log, port = folder / "server.log", free_port()
    settings = folder / "conf"
    settings.mkdir()
    home = f"http://127.0.0.1:{port}"
    maintenance = ["php", "-d", "memory_limit=512M"]
    own = folder / "mediawiki"
    shutil.copytree(root, own, symlinks=False, ignore_dangling_symlinks=True)
    (own / "LocalSettings.php").unlink(missing_ok=True)
    where = ["--dbtype", "sqlite", "--dbpath", folder, "--confpath", settings, "--scriptpath", ""]
    named = ["--server", home, "--pass", "a-long-passphrase-9", "Bench", "Admin"]
    quiet([*maintenance, own / "maintenance/install.php", "--with-extensions", *where, *named])
    with (settings / "LocalSettings.php").open("a") as file:
        file.write("\n$wgJobRunRate = 1;\n$wgMainCacheType = CACHE_NONE;\n")
    environment = {"MW_CONFIG_FILE": str(settings / "LocalSettings.php")}
    texts = folder / "texts"
    texts.mkdir()

    def text(number: int, more: str) -> str:
        see = " ".join(f"See [[Page {other}]]." for other in _linked(number, n_pages))
        return (
            f"== About {number} ==\nThe manifold text of page {number}, about word{number * 7919}."
            f" {more}\n\n{see}\n[[Category:Group {number % 5}]]\n"
        )

    for number in range(n_pages):
        (texts / f"Page {number}.txt").write_text(text(number, ""))
    (texts / "Main Page.txt").write_text(
        "Welcome, manifold.\n" + "".join(f"* [[Page {number}]]\n" for number in range(n_pages))
    )
    files = [*(texts / f"Page {number}.txt" for number in range(n_pages)), texts / "Main Page.txt"]
    own_import = [*maintenance, own / "maintenance/importTextFiles.php", "--overwrite"]
    quiet([*own_import, *files], **environment)
    for number in range(n_pages):  # again, as the first ones named pages that were not there yet
        (texts / f"Page {number}.txt").write_text(text(number, "Now all are there."))
    quiet([*own_import, *files[:-1]], **environment)

    def edit(number: int) -> str:
        subprocess.run(
            [*maintenance, own / "maintenance/edit.php", f"Page {number}"],
            input=text(number, f"Edited at {time.time():.3f}.").encode(),
            env={**os.environ, **environment},
            stdout=subprocess.DEVNULL,
            check=True,
        )
        return f"/index.php/Page_{number}"

    page = re.compile(r"/index\.php(/|\?title=)(Page_\d+|Main_Page)")
    with php(own, port, log, **environment):
        yield Site(
            f"{home}/index.php/Main_Page",
            log,
            lambda url: page.fullmatch(url) is not None,
            n_pages + 1,
            "manifold",
            edit,
        )


@contextlib.contextmanager
def wordpress(folder: Path, n_pages: int) -> Iterator[Site]:
    """WordPress on MariaDB, plain addresses (?p=), a comment on every third post."""
    packaged = Path("/usr/share/wordpress")
    needs(str(packaged), "php", "mariadbd", "mariadb-install-db")
    log, port, db_port = folder / "server.log", free_port(), free_port()
    root, data = folder / "wordpress", folder / "mysql"
    shutil.copytree(packaged, root, symlinks=False, ignore_dangling_symlinks=True)
    quiet(["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--user=root",
            "--auth-root-authentication-method=normal"])  # fmt: skip
    maria = ["mariadbd", "--no-defaults", f"--datadir={data}", f"--port={db_port}", "--user=root"]
    maria += ["--bind-address=127.0.0.1", f"--socket={folder}/m.sock", "--skip-grant-tables=0"]
    with server(maria, db_port, folder / "mariadb.log"):
        quiet(["mariadb", "--no-defaults", f"--socket={folder}/m.sock", "-uroot", "-e",
                "create database wp; create user wp@'127.0.0.1' identified by 'wp';"
                "grant all on wp.* to wp@'127.0.0.1'; flush privileges"])  # fmt: skip
        (root / "wp-config.php").write_text(
            "<?php define('DB_NAME','wp'); define('DB_USER','wp'); define('DB_PASSWORD','wp');"
            f"define('DB_HOST','127.0.0.1:{db_port}'); define('DB_CHARSET','utf8mb4');"
            "define('DB_COLLATE',''); $table_prefix='wp_'; define('DISABLE_WP_CRON', true);"
            f"define('WP_HOME','http://127.0.0.1:{port}');"
            f"define('WP_SITEURL','http://127.0.0.1:{port}');"
            "define('WP_HTTP_BLOCK_EXTERNAL', true);"
            "if (!defined('ABSPATH')) define('ABSPATH', __DIR__.'/');"
            "require_once ABSPATH.'wp-settings.php';"
        )
        fill = folder / "fill.php"
        fill.write_text(
            "<?php define('WP_INSTALLING', true); $_SERVER['HTTP_HOST']='127.0.0.1:"
            + str(port)
            + "'; require '"
            + str(root)
            + "/wp-load.php';"
            "require ABSPATH.'wp-admin/includes/upgrade.php';"
            "wp_install('Bench','admin','a@site.test',true,'','a-long-passphrase-9');"
            f"for ($i=0; $i<{n_pages}; $i++) {{ $id=wp_insert_post(['post_title'=>\"Post $i\","
            "'post_content'=>\"The manifold text of post $i, about word\".($i*7919).'.',"
            "'post_status'=>'publish','post_author'=>1,'post_date'=>date('Y-m-d H:i:s',"
            "time()-86400-$i*86400)]); if ($i%3==0) wp_insert_comment(['comment_post_ID'=>$id,"
            "'comment_content'=>\"A comment on $i.\",'comment_author'=>'x','comment_approved'=>1]);"
            'echo "$id "; }'
        )
        ids = [int(one) for one in re.findall(r"\d+", quiet(["php", fill]).splitlines()[-1])]
        ids = ids[-n_pages:]

        def edit(number: int) -> str:
            text = f"The manifold text of post {number}, edited at {time.time():.3f}."
            update = f"wp_update_post(['ID'=>{ids[number]}, 'post_content'=>'{text}']);"
            start = f"$_SERVER['HTTP_HOST']='x'; require '{root}/wp-load.php';"
            quiet(["php", "-r", start + update])
            return f"/?p={ids[number]}"

        posts = {f"/?p={one}" for one in ids}
        with php(root, port, log):
            yield Site(
                f"http://127.0.0.1:{port}/",
                log,
                lambda url: url in posts,
                n_pages,
                "manifold",
                edit,
                lambda url: (
                    re.fullmatch(r"/(\?((cat=1&)?paged=\d+|cat=1|p=1|page_id=2))?", url) is not None
                ),
            )


def quiet(command: list[object], folder: Path | None = None, **environment: str) -> str:
    """Run a command; return what it prints, or raise with what it says."""
    done = subprocess.run(
        [str(one) for one in command],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Missing(f"{command[0]}: {(done.stderr or done.stdout)[-500:]}")
    return done.stdout


# -- repositories --


def _repository(folder: Path, n_files: int, n_commits: int = 30) -> Path:
    repo = folder / "project.git" / "work"
    repo.mkdir(parents=True)
    git = ["git", "-C", str(repo), "-c", "user.name=a", "-c", "user.email=a@site.test"]
    quiet([*git, "init", "-q"])
    for number in range(n_files):
        place = repo / f"part{number % 7}"
        place.mkdir(exist_ok=True)
        (place / f"file{number}.txt").write_text(f"The manifold text of file {number}.\n")
    quiet([*git, "add", "-A"])
    quiet([*git, "commit", "-qm", "first"])
    for number in range(n_commits):
        _change(repo, number % n_files, f"more {number}")
    quiet([*git, "tag", "v1"])
    return repo


def _change(repo: Path, number: int, more: str) -> None:
    git = ["git", "-C", str(repo), "-c", "user.name=a", "-c", "user.email=a@site.test"]
    path = repo / f"part{number % 7}" / f"file{number}.txt"
    path.write_text(path.read_text() + f"{more}\n")
    quiet([*git, "commit", "-qam", f"file {number}: {more}"])


def _apache(folder: Path, port: int, more: str) -> list[str]:
    modules = Path("/usr/lib/apache2/modules")
    needs("apache2", str(modules / "mod_cgid.so"))
    names = "mpm_event authz_core dir alias autoindex mime cgid env log_config"
    loaded = [
        f"LoadModule {name}_module {modules}/mod_{name}.so"
        for name in names.split()
        if (modules / f"mod_{name}.so").exists()
    ]
    (folder / "apache.conf").write_text(
        "\n".join(
            [
                *loaded,
                f"ServerRoot {folder}\nPidFile {folder}/apache.pid\nServerName 127.0.0.1",
                f"Listen 127.0.0.1:{port}\nErrorLog {folder}/error.log",
                f"ScriptSock {folder}/cgid.sock\nTypesConfig /etc/mime.types",
                f'CustomLog {folder}/server.log "%h %l %u %t \\"%r\\" %>s %b"',
                "User www-data\nGroup www-data",
                "<Directory />\nRequire all granted\n</Directory>",
                more,
            ]
        )
    )
    return ["apache2", "-DFOREGROUND", "-f", str(folder / "apache.conf")]


@contextlib.contextmanager
def gitweb(folder: Path, n_pages: int) -> Iterator[Site]:
    """Gitweb over one repository: files as they are now are content."""
    script = "/usr/share/gitweb/gitweb.cgi"
    needs(script, "git")
    repo, port, log = _repository(folder, n_pages), free_port(), folder / "server.log"
    (folder / "gitweb.conf").write_text(
        f"$projectroot = '{repo.parent}'; $GIT = '/usr/bin/git'; "
        "$feature{'snapshot'}{'default'} = ['tgz'];"
    )
    open_folders(folder)
    command = _apache(
        folder,
        port,
        f"SetEnv GITWEB_CONFIG {folder}/gitweb.conf\nSetEnv GIT_CONFIG_COUNT 1\n"
        "SetEnv GIT_CONFIG_KEY_0 safe.directory\nSetEnv GIT_CONFIG_VALUE_0 *\n"
        f"ScriptAlias /gitweb.cgi {script}\nAlias /static /usr/share/gitweb/static",
    )

    def edit(number: int) -> str:
        _change(repo, number, f"edited at {time.time():.3f}")
        open_folders(folder)
        return "/gitweb.cgi?p=work/.git;a=summary"

    with server(command, port, folder / "apache.out"):
        # The owner forbids following its links: the home page is all that may be read.
        yield Site(
            f"http://127.0.0.1:{port}/gitweb.cgi",
            log,
            lambda url: url in ("/gitweb.cgi", "/gitweb.cgi?a=project_index"),
            1,
            "work",
            edit,
        )


@contextlib.contextmanager
def cgit(folder: Path, n_pages: int) -> Iterator[Site]:
    """Cgit over one repository: files as they are now are content."""
    script = "/usr/lib/cgit/cgit.cgi"
    needs(script, "git")
    repo, port, log = _repository(folder, n_pages), free_port(), folder / "server.log"
    (folder / "cgitrc").write_text(
        f"virtual-root=/\ncache-size=0\nsnapshots=tar.gz\nrepo.url=work\nrepo.path={repo}/.git\n"
        "repo.desc=a manifold repository\nrobots=index, follow\n"
    )
    open_folders(folder)
    command = _apache(
        folder,
        port,
        f"SetEnv CGIT_CONFIG {folder}/cgitrc\nSetEnv GIT_CONFIG_COUNT 1\n"
        "SetEnv GIT_CONFIG_KEY_0 safe.directory\nSetEnv GIT_CONFIG_VALUE_0 *\n"
        f"Alias /cgit-css /usr/share/cgit\nScriptAlias / {script}/",
    )

    def edit(number: int) -> str:
        _change(repo, number, f"edited at {time.time():.3f}")
        open_folders(folder)
        return f"/work/tree/part{number % 7}/file{number}.txt"

    file = re.compile(r"/work/tree/part\d/file\d+\.txt")
    way = re.compile(r"/|/work/(tree/(part\d/?)?)?")
    with server(command, port, folder / "apache.out"):
        yield Site(
            f"http://127.0.0.1:{port}/",
            log,
            lambda url: file.fullmatch(url) is not None,
            n_pages,
            "manifold",
            edit,
            lambda url: way.fullmatch(url) is not None,
            # Its summary, log and last commit change as well; what is named by a hash or tag not.
            lambda url: re.search(r"[0-9a-f]{40}|h=v1|work-1|/tag/", url) is None,
        )


def open_folders(folder: Path) -> None:
    """Let the server's user read what was made."""
    for path in (folder, *folder.parents):
        if path != Path("/tmp") and path.is_relative_to("/tmp"):
            path.chmod(0o755)
    subprocess.run(["chmod", "-R", "a+rX", str(folder)], check=False)


# -- listings --


def _files(folder: Path, n_pages: int) -> Path:
    root = folder / "files"
    for number in range(n_pages):
        place = root / f"year{number % 5}" / f"month{number % 12}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"note{number}.txt").write_text(
            f"The manifold text of note {number}, about word{number * 7919}.\n"
        )
        if number % 4 == 0:
            (place / f"archive{number}.tar.gz").write_bytes(os.urandom(200_000))
            (place / f"disk{number}.iso").write_bytes(os.urandom(50_000))
    return root


def _listing(folder: Path, n_pages: int, command: list[str], port: int, root: Path) -> Site:
    def edit(number: int) -> str:
        path = root / f"year{number % 5}" / f"month{number % 12}" / f"note{number}.txt"
        path.write_text(path.read_text() + f"Edited at {time.time():.3f}.\n")
        return f"/{path.relative_to(root)}"

    return Site(
        f"http://127.0.0.1:{port}/",
        folder / "server.log",
        lambda url: re.fullmatch(r"/year\d/month\d+/note\d+\.txt", url) is not None,
        n_pages,
        "manifold",
        edit,
        lambda url: url.endswith("/"),
    )


@contextlib.contextmanager
def apache(folder: Path, n_pages: int) -> Iterator[Site]:
    """Apache's listing of a directory, with its four ways to sort by two orders."""
    root, port = _files(folder, n_pages), free_port()
    open_folders(folder)
    command = _apache(
        folder,
        port,
        f"DocumentRoot {root}\n<Directory {root}>\nOptions Indexes\n"
        "IndexOptions FancyIndexing HTMLTable\n</Directory>",
    )
    with server(command, port, folder / "apache.out"):
        yield _listing(folder, n_pages, command, port, root)


@contextlib.contextmanager
def nginx(folder: Path, n_pages: int) -> Iterator[Site]:
    """Nginx's listing of a directory."""
    needs("nginx")
    root, port = _files(folder, n_pages), free_port()
    open_folders(folder)
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log; events {{}}\n"
        f"http {{ include /etc/nginx/mime.types; access_log {folder}/server.log; server {{ "
        f"listen 127.0.0.1:{port}; root {root}; autoindex on; }} }}"
    )
    command = ["nginx", "-c", str(folder / "nginx.conf"), "-p", str(folder)]
    with server(command, port, folder / "nginx.out"):
        yield _listing(folder, n_pages, command, port, root)


APPLICATIONS = {
    one.__name__: one for one in (dokuwiki, mediawiki, wordpress, gitweb, cgit, apache, nginx)
}
