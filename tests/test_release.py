"""The check-list of a release refuses what does not agree."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def release() -> ModuleType:
    spec = importlib.util.spec_from_file_location("release", ROOT / "packaging" / "release.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def checkout(folder: Path, version: str, heading: str) -> Path:
    """A checkout that says a version in three places."""
    (folder / "src" / "recrawl").mkdir(parents=True)
    (folder / "pyproject.toml").write_text(f'[project]\nversion = "{version}"\n')
    own = folder / "src" / "recrawl" / "version.py"
    own.write_text(f'VERSION: Final = "{version}"\n')
    (folder / "CHANGELOG.md").write_text(f"# Changelog\n\n## {heading}\n")
    return folder


def test_versions_that_agree_pass(release: ModuleType, tmp_path: Path) -> None:
    assert release.versions_agree("0.2.0", checkout(tmp_path, "0.2.0", "0.2.0 (2027-01-31)"))


@pytest.mark.parametrize(
    ("version", "said", "heading", "told"),
    [
        ("0.2", "0.2", "0.2 (2027-01-31)", "no version such as"),
        ("0.2.0", "0.1.0", "0.2.0 (2027-01-31)", "pyproject.toml says 0.1.0"),
        ("0.2.0", "0.2.0", "Unreleased", "CHANGELOG.md lacks"),
    ],
)
def test_versions_that_differ_are_told(
    version: str, said: str, heading: str, told: str, release: ModuleType, tmp_path: Path
) -> None:
    with pytest.raises(release.Wrong, match=told):
        release.versions_agree(version, checkout(tmp_path, said, heading))


def test_the_package_says_the_version_of_its_metadata(release: ModuleType) -> None:
    """What is between releases differs in nothing but the change log."""
    with pytest.raises(release.Wrong, match="CHANGELOG"):
        release.versions_agree("0.1.0")
