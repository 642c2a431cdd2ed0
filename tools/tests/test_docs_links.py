"""Links and paths in the documentation lead to files that exist, and its sentences name their subjects."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from armci_tool.install import layout
from armci_tool.repository import ROOT, source_files

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_CODE = re.compile(r"`([^`\n]+)`")
_FOLDERS = "bench|conformance|docs|examples|impl|integration|packaging|spec|third_party|tools"
_PATH = re.compile(rf"(?:{_FOLDERS})/[\w./+-]*[\w/]")
# A file name alone, as `copy.h`; or with the end of its path, as `runtime/copy.h`.
_FILE = re.compile(r"(?:[\w+-]+/)*[\w+-][\w.+-]*\.(?:cc|h|c|py|md|bzl|json|toml|map|f90|F90|mk|cmake|png)")
# Files of the user, of the installation or of another project; no such file lies in this repository.
_ELSEWHERE = {"comex.h", "gpc.h", "lib/cmake/ARMCI/GlobalArrays.cmake", "matrix.json", "mpi.h", "results.json", "trace.json"}

PAGES = list(source_files(ROOT, ".md"))

# Pages that are made by a command, or that are records of runs.
_NO_NEXT = {"applications-results.md", "environment.md", "results.md"}
GUIDES = [page for page in PAGES if page.parent == ROOT / "docs" and page.name not in _NO_NEXT]


def without_blocks(text: str) -> str:
    """Prose: commands and pictures stand in lines indented by four blanks or between fences."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"^ {4,}(?![-*] ).*$", "", text, flags=re.MULTILINE)


def anchor(title: str) -> str:
    """The name that a renderer gives to a heading."""
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    return {anchor(title) for title in re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)}


def missing_links(page: Path) -> list[str]:
    missing = []
    for link in _LINK.findall(without_blocks(page.read_text())):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, section = link.partition("#")
        target = (page.parent / name) if name else page
        if not target.exists() or (section and section not in anchors(target)):
            missing.append(link)
    return missing


def missing_paths(text: str, files: set[str]) -> list[str]:
    """Paths and file names in backquotes that no file or folder has. A placeholder in capitals (NAME) stands for any."""
    missing = []
    for code in _CODE.findall(without_blocks(text)):
        if re.search(r"\b(NAME|IMPL|DIR|PREFIX)\b|[*{<]", code):
            continue
        if _PATH.fullmatch(code):
            if code.rstrip("/") not in files:
                missing.append(code)
        elif _FILE.fullmatch(code) and code not in _ELSEWHERE and not any(f"/{file}".endswith(f"/{code}") for file in files):
            missing.append(code)
    return missing


def files_and_folders() -> set[str]:
    """All of the repository, as paths from its root, and what the build makes for users."""
    found = {str(path) for path in layout.GENERATED}
    for path in source_files(ROOT):
        relative = path.relative_to(ROOT)
        found |= {str(relative), *(str(parent) for parent in relative.parents)}
    return found


FILES = files_and_folders()


def test_there_is_documentation() -> None:
    assert len(PAGES) > 15
    assert sum(len(_LINK.findall(page.read_text())) for page in PAGES) > 30


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_sections(page: Path) -> None:
    assert not missing_links(page)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_paths_exist(page: Path) -> None:
    assert not missing_paths(page.read_text(), FILES)


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: str(page.name))
def test_a_guide_starts_with_its_use_and_ends_with_the_next_page(page: Path) -> None:
    paragraphs = page.read_text().strip().split("\n\n")
    assert paragraphs[1].startswith("After this page you "), "say first what the reader can do after reading"
    assert paragraphs[-1].startswith("Next: ") and _LINK.search(paragraphs[-1]), "end with a link to the next page"


def test_a_wrong_path_is_found() -> None:
    assert missing_paths("see `docs/no_such_page.md` and `no_such_file.cc`", FILES) == ["docs/no_such_page.md", "no_such_file.cc"]
    assert not missing_paths("see `docs/start.md`, `armci.h`, `impl/NAME/transport.h`", FILES)
    assert not missing_paths("    `docs/no_such_page.md` in a block\n", FILES)


def test_a_wrong_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One title\n[a](page.md) [b](page.md#one-title) [c](#no-title) [d](gone.md) [e](https://host/x)\n")
    assert missing_links(page) == ["#no-title", "gone.md"]
