"""Addresses whose visit does something."""

import pytest

from recrawl.crawler.control.addresses.acts import is_act
from recrawl.crawler.control.addresses.scope import Scope, why_outside

A = "https://wiki.a.test"


@pytest.mark.parametrize(
    "path",
    [
        "/logout",
        "/sign-out/",
        "/users/sign_out",
        "/account/logoff.aspx",
        "/?logout",
        "/index.php?logout=true",
        "/index.php?title=Special:UserLogout&action=logout",
        "/index.php?title=Special:UserLogout&returnto=Main+Page",
        "/wiki/Special:UserLogout",
        "/wiki/Spezial%3AAbmelden",
        "/?q=user/logout",
        "/index.php?route=account%2Flogout",
        "/index.php?page=logout",
        "/compte/d%C3%A9connexion",
        "/index.php?title=Page&action=delete",
        "/item.php?id=7&delete=1",
        "/item.php?delete_id=7",
        "/admin.php?do=delete_item&id=7",
        "/Ticket/Display.html?id=7&Action=Take",
        "/doku.php?id=page&do=subscribe",
        "/?add-to-cart=7",
        "/post.php?post=7&action=trash",
        "/list?unsubscribe",
        "/item/7/delete",
        "/posts/some-words-7/vote/",
        "/delete/7",
        "/remove.php",
        "/rest/7?_method=DELETE",
        "/mail?cmd=mark_all_read",
    ],
)
def test_what_a_visit_would_do_is_seen(path: str) -> None:
    assert is_act(A + path)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/sql/delete",
        "/docs/commands/remove.html#x",
        "/blog/how-to-delete-an-account",
        "/search?q=delete",
        "/?tag=archive",
        "/list?sort=rate&order=asc",
        "/index.php?title=Delete",
        "/index.php?title=Page&action=history",
        "/doku.php?id=page&do=edit",
        "/2024/delete/",
        "/status?method=get",
        "/t/7?page=2",
        "/login",
        "/logout-and-login-explained",
        "/wiki/Help:Logout_and_login",
        "/search?q=logout",
        "/?page=logouts",
        "/?deleted=0",
    ],
)
def test_what_only_speaks_of_it_is_read(path: str) -> None:
    assert not is_act(A + path)


def test_where_a_crawl_is_signed_in_it_does_nothing() -> None:
    """It would sign itself out, or delete what it was to read; elsewhere nobody lets it."""
    scope = Scope(hosts=("*.a.test",), signed_in=("wiki.a.test",))

    why = why_outside(scope, f"{A}/?action=delete&id=7")
    assert why == "a visit may do something there, as the crawl is signed in"
    assert why_outside(scope, f"{A}:8443/logout") == why
    assert why_outside(scope, f"{A}/sql/delete") is None
    assert why_outside(scope, "https://www.a.test/?action=delete&id=7") is None
