"""What addresses are expected to be worth before anything is known of them but where they lie."""

from collections.abc import Mapping

from recrawl.crawler.control.urls import folder_of, host_of

__all__ = ["ExpectedImportance"]


class ExpectedImportance:
    """The mean importance of a folder's pages, or of its host's, as it was last computed."""

    def __init__(self) -> None:
        self._folders: Mapping[str, float] = {}
        self._hosts: Mapping[str, float] = {}

    def learn(self, hosts: Mapping[str, float], folders: Mapping[str, float]) -> None:
        """Go by these means from now on."""
        self._hosts, self._folders = hosts, folders

    def of(self, url: str) -> float | None:
        """Return what a page is expected to be worth, of mean 1; None: nothing is known."""
        if not self._hosts:
            return None
        found = self._folders.get(folder_of(url))
        return self._hosts.get(host_of(url), 1.0) if found is None else found
