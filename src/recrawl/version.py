"""Version of recrawl; :data:`recrawl.__version__` says the same."""

from typing import Final

VERSION: Final = "0.1.0"
