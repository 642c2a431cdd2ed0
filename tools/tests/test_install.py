"""Installing into a folder that others use too, with files that stand for what Bazel would have made."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Iterator

import pytest
from armci_tool import bazel
from armci_tool.errors import ToolError
from armci_tool.install import descriptions, layout
from armci_tool.install.prefix import MANIFEST, Item, Prefix

OPEN_MPI = bazel.Configuration("openmpi")
NAMES = ["shmem", "mpi-rma"]


@pytest.fixture(autouse=True)
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Bazel's folder."""
    folder = tmp_path / "bazel-bin"
    for name in (*NAMES, "mpi-twosided"):
        make(folder / "impl" / name / layout.SHARED_NAME, f"{name}, shared")
        make(folder / "impl" / name / layout.STATIC_NAME, f"{name}, static")
        make(folder / "impl" / name / layout.FLAGS_NAME, "-lrt\n-L/usr/lib\n-lmpi\n")
    make(folder / layout.INFO, "info")
    make(folder / layout.PROF, "prof")
    make(folder / "spec" / "parmci.h", "profiling names")
    make(folder / "spec" / "armci.f90", "for Fortran")
    monkeypatch.setattr(bazel, "folder", lambda key, configuration: folder)
    monkeypatch.setattr(bazel, "build", lambda targets, configuration, **options: None)
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The prefix to install into."""
    return tmp_path / "opt" / "armci"


def make(path: Path, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def tree(root: Path) -> dict[str, str]:
    """Every file and folder, with what it holds or points to."""
    return {str(path.relative_to(root)): os.readlink(path) if path.is_symlink() else
            path.read_text() if path.is_file() else "" for path in sorted(root.rglob("*"))}


def implementations(root: Path) -> set[str]:
    return {path.parent.name for path in (root / "lib" / "armci").glob("*/libarmci.so.1")}


def test_what_was_installed_goes_and_what_others_have_stays(root: Path) -> None:
    make(root / "bin" / "of-another-package")
    (root / "lib" / "empty").mkdir(parents=True)
    before = tree(root)
    layout.install(root, NAMES, "", OPEN_MPI)
    assert (root / "lib" / "libarmci.so.1").resolve().read_text() == "mpi-rma, shared"
    layout.uninstall(root)
    assert tree(root) == before


def test_folders_that_were_there_stay_though_they_are_empty(root: Path) -> None:
    (root / "bin").mkdir(parents=True)
    layout.install(root, NAMES, "", OPEN_MPI)
    layout.uninstall(root)
    assert list(tree(root)) == ["bin"]


def test_a_folder_that_was_made_goes(root: Path) -> None:
    layout.install(root, NAMES, "", OPEN_MPI)
    layout.uninstall(root)
    assert not root.exists() and root.parent.exists()


@pytest.mark.parametrize("name", [
    "include/armci.h", "bin/armci-run", "share/man/man7/armci.7", "lib/libarmci.so", "lib/libarmci.so.1",
    "lib/libarmci.a", "lib/pkgconfig/armci.pc", "lib/pkgconfig/armci-shmem.pc", "lib/cmake/ARMCI/ARMCIConfig.cmake",
    "lib/armci/shmem/libarmci.so.1", "lib/armci/shmem/libarmci.a", "lib/armci/libarmci-prof.so", "share/armci/mpi",
    # A file where a folder has to be.
    "lib/armci", "lib/pkgconfig"])
def test_files_of_others_are_refused_and_nothing_is_written(root: Path, name: str) -> None:
    make(root / name, "" if name == "share/armci/mpi" else "of another package")
    before = tree(root)
    with pytest.raises(ToolError) as caught:
        layout.install(root, NAMES, "", OPEN_MPI)
    assert name in caught.value.where
    assert tree(root) == before


def test_a_dangling_link_of_others_is_refused(root: Path) -> None:
    (root / "lib").mkdir(parents=True)
    (root / "lib" / "libarmci.so").symlink_to("nowhere")
    with pytest.raises(ToolError, match="other people's"):
        layout.install(root, NAMES, "", OPEN_MPI)


def test_files_of_others_are_refused_before_anything_is_built(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def build(*words: object, **options: object) -> None:
        raise AssertionError("built for nothing")

    make(root / "lib" / "libarmci.a")
    monkeypatch.setattr(bazel, "build", build)
    with pytest.raises(ToolError, match="other people's"):
        layout.install(root, NAMES, "", OPEN_MPI)


def test_another_mpi_library_is_refused(root: Path) -> None:
    layout.install(root, NAMES, "", OPEN_MPI)
    before = tree(root)
    with pytest.raises(ToolError, match="has implementations for openmpi, not mpich"):
        layout.install(root, NAMES, "", bazel.Configuration("mpich"))
    assert tree(root) == before


def test_a_path_that_the_loader_cannot_hold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="cannot install into"):
        layout.install(tmp_path / "a:b", NAMES, "", OPEN_MPI)
    assert not (tmp_path / "a:b").exists()


def test_a_full_disk_is_distinguished_from_missing_rights(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Prefix, *_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    monkeypatch.setattr(Prefix, "claim", full)
    with pytest.raises(ToolError) as raised:
        layout.install(root, NAMES, "", OPEN_MPI)
    assert "make room" in raised.value.render()


def test_implementations_that_are_there_stay_with_their_description(root: Path) -> None:
    layout.install(root, NAMES, "", OPEN_MPI)
    layout.install(root, ["mpi-twosided"], "", OPEN_MPI)
    assert implementations(root) == {*NAMES, "mpi-twosided"}
    described = (root / descriptions.CMAKE / "ARMCIConfig.cmake").read_text()
    assert "set(ARMCI_IMPLEMENTATIONS mpi-rma mpi-twosided shmem)" in described
    assert all(f'"${{_armci_prefix}}/lib/armci/{name}" -lrt -lstdc++' in described for name in implementations(root))


def test_of_others_implementations_nothing_is_said(root: Path) -> None:
    make(root / "lib" / "armci" / "theirs" / "libarmci.so.1")
    layout.install(root, NAMES, "", OPEN_MPI)
    assert "theirs" not in (root / descriptions.CMAKE / "ARMCIConfig.cmake").read_text()
    layout.uninstall(root)
    assert implementations(root) == {"theirs"}


@pytest.mark.parametrize("before, default, after", [
    ([], "", "mpi-rma"), ([], "shmem", "shmem"), (["shmem"], "", "shmem"), (["shmem"], "mpi-rma", "mpi-rma")])
def test_the_default_stays_until_another_is_named(root: Path, before: list[str], default: str, after: str) -> None:
    for name in before:
        layout.install(root, NAMES, name, OPEN_MPI)
    layout.install(root, NAMES, default, OPEN_MPI)
    for file in (layout.SHARED_NAME, layout.LINK_NAME, layout.STATIC_NAME):
        assert (root / "lib" / file).resolve().parent.name == after
    assert f"set(ARMCI_DEFAULT {after})" in (root / descriptions.CMAKE / "ARMCIConfig.cmake").read_text()
    assert f"{after} above Open MPI" in (root / descriptions.PKG_CONFIG / "armci.pc").read_text()


def test_the_hints_are_for_the_default_if_it_was_installed_now(root: Path) -> None:
    layout.install(root, NAMES, "", OPEN_MPI)
    hints = layout.hints(root, NAMES, "openmpi")
    assert hints.count("mpi-rma") == 6 and "shmem" not in hints
    assert layout.hints(root, ["shmem"], "openmpi").count("shmem") == 6


def test_a_default_that_is_not_there_is_refused(root: Path) -> None:
    with pytest.raises(ToolError, match="the default mpi-twosided is not installed"):
        layout.install(root, NAMES, "mpi-twosided", OPEN_MPI)
    assert not root.exists()


def test_a_new_version_replaces_files_and_drops_those_it_has_no_more(root: Path, built: Path) -> None:
    prefix = layout.install(root, NAMES, "", OPEN_MPI)
    old = Path("bin/of-the-version-before")
    prefix.claim([old])
    prefix.put(Item(old, text=lambda: ""))
    mapped = (root / "lib" / "armci" / "shmem" / "libarmci.so.1").open()
    make(built / "impl" / "shmem" / layout.SHARED_NAME, "new")
    layout.install(root, NAMES, "", OPEN_MPI)
    assert not (root / old).exists()
    assert (root / "lib" / "armci" / "shmem" / "libarmci.so.1").read_text() == "new"
    with mapped:
        assert mapped.read() == "shmem, shared"


@pytest.fixture(params=range(1, 60, 7))
def interrupted(root: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installation that ended after so many files, in the middle of the next."""
    place = Prefix._make_room
    count = 0

    def until_then(prefix: Prefix, target: Path) -> Path:
        nonlocal count
        path = place(prefix, target)
        count += 1
        if count == request.param:
            path.write_text("half of it")
            raise KeyboardInterrupt
        return path

    with monkeypatch.context() as context:
        context.setattr(Prefix, "_make_room", until_then)
        with pytest.raises(KeyboardInterrupt):
            layout.install(root, NAMES, "", OPEN_MPI)
            # All of it was written: nothing more to interrupt.
            raise KeyboardInterrupt
    yield root


def test_what_was_interrupted_can_be_removed(interrupted: Path) -> None:
    layout.uninstall(interrupted)
    assert not interrupted.exists()


def test_what_was_interrupted_can_be_repeated(interrupted: Path, tmp_path: Path) -> None:
    layout.install(interrupted, NAMES, "", OPEN_MPI)
    layout.install(tmp_path / "whole", NAMES, "", OPEN_MPI)
    assert tree(interrupted) == tree(tmp_path / "whole")
    layout.uninstall(interrupted)
    assert not interrupted.exists()


def test_after_an_interruption_another_implementation_can_come(interrupted: Path) -> None:
    layout.install(interrupted, ["mpi-twosided"], "", OPEN_MPI)
    described = (interrupted / descriptions.CMAKE / "ARMCIConfig.cmake").read_text()
    assert all(f"_armci_target({name} SHARED" in described for name in implementations(interrupted))
    layout.uninstall(interrupted)
    assert not interrupted.exists()


def test_others_can_read_it_under_every_umask(root: Path) -> None:
    before = os.umask(0o077)
    try:
        layout.install(root, NAMES, "", OPEN_MPI)
    finally:
        os.umask(before)
    made = [root.parent, root, *root.rglob("*")]
    unreadable = [path for path in made if not path.is_symlink() and path.stat().st_mode & 0o755 != (
        0o755 if path.is_dir() or path.parent.name == "bin" or ".so" in path.name else 0o644)]
    assert not unreadable


@pytest.mark.parametrize("line", ["", "/etc/passwd", "../x", "lib/../../x", ".", "/", "../"])
def test_a_list_that_leads_elsewhere_is_refused(root: Path, line: str) -> None:
    layout.install(root, NAMES, "", OPEN_MPI)
    with (root / MANIFEST).open("a") as manifest:
        manifest.write(line + "\n")
    before = tree(root)
    with pytest.raises(ToolError, match="is damaged"):
        layout.uninstall(root)
    assert tree(root) == before


def test_where_nothing_is_installed_nothing_is_removed(root: Path) -> None:
    make(root / "lib" / "libarmci.a")
    with pytest.raises(ToolError, match="nothing is installed"):
        layout.uninstall(root)
    assert list(tree(root)) == ["lib", "lib/libarmci.a"]


def test_each_implementation_has_a_folder_with_include_and_lib(root: Path) -> None:
    layout.install(root, NAMES, "", OPEN_MPI)
    for name in NAMES:
        folder = root / layout.CLASSIC / name
        assert (folder / "include" / "armci.h").is_file()
        assert (folder / "lib" / "libarmci.so").read_text() == f"{name}, shared"
        assert (folder / "lib" / "libarmci.a").read_text() == f"{name}, static"
    layout.uninstall(root)
    assert not root.exists()


def test_what_an_earlier_version_installed_stays_and_gets_its_folders(root: Path) -> None:
    layout.install(root, NAMES, "", OPEN_MPI)
    manifest = root / MANIFEST
    manifest.write_text("".join(line for line in manifest.read_text().splitlines(True) if not line.startswith("impl/")))
    for link in (root / layout.CLASSIC).glob("*/*"):
        link.unlink()
    layout.install(root, ["mpi-twosided"], "", OPEN_MPI)
    assert implementations(root) == {*NAMES, "mpi-twosided"} and layout.default_of(root) == "mpi-rma"
    assert all((root / layout.CLASSIC / name / "lib" / "libarmci.a").is_file() for name in (*NAMES, "mpi-twosided"))
