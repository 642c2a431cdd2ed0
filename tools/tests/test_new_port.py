"""`new-port` writes a port that is the template under another name, or changes nothing."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from armci_tool import new_port, repository
from armci_tool.errors import ToolError
from armci_tool.commands.new_port import execute
from helpers import armci


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The part of the repository that the command looks at."""
    source, root = repository.ROOT / "impl", tmp_path / "impl"
    shutil.copytree(source / "template", root / "template")
    (root / "shmem").mkdir()
    (root / "runtime").mkdir()
    shutil.copy(source / "variants.bzl", root)
    return tmp_path


def contents(root: Path) -> dict[str, bytes]:
    """Every file, and folder, below."""
    return {str(path.relative_to(root)): path.read_bytes() if path.is_file() else b"" for path in root.rglob("*")}


@pytest.mark.parametrize("name, target", [("newnet", "newnet"), ("my-net2", "my_net2"), ("new", "new")])
def test_a_port_is_the_template_under_another_name(copy: Path, name: str, target: str) -> None:
    before = contents(copy)
    made = new_port.make(name, copy)
    assert [path.name for path in made.files] == list(new_port.FILES)
    assert sorted(path.name for path in made.folder.iterdir()) == sorted(new_port.FILES)
    for path in made.files:
        text = (copy / "impl" / "template" / path.name).read_text()
        assert path.read_text() == text.replace("template_port", f"{target}_port").replace("template", name)
        assert "template" not in path.read_text()
    after = contents(copy)
    assert {file for file in after if before.get(file) != after[file]} == {
        f"impl/{name}", "impl/variants.bzl", *(f"impl/{name}/{file}" for file in new_port.FILES)}


def test_the_table_has_one_more_row_and_is_as_before_without_it(copy: Path) -> None:
    table = copy / "impl" / "variants.bzl"
    before, rows = table.read_text(), repository.implementation_table(table)
    made = new_port.make("my-net", copy)
    assert repository.implementation_table(table) == [
        *rows, repository.Implementation("my-net", test_only=True, port_level=0)]
    assert table.read_text().count(made.row) == 1
    assert table.read_text().replace(f"    {made.row}\n", "") == before


def test_several_ports_can_be_made(copy: Path) -> None:
    new_port.make("one", copy)
    new_port.make("two", copy)
    rows = repository.implementation_table(copy / "impl" / "variants.bzl")
    assert [row.name for row in rows][-2:] == ["one", "two"]


def test_the_template_has_nothing_but_its_name_to_replace() -> None:
    """Where `template` would be the word of the language, a copy would not compile."""
    for file in new_port.FILES:
        text = (repository.ROOT / "impl" / "template" / file).read_text()
        assert not re.search(r"template\s*<|[A-Za-z]template|template[A-Za-z]", text)
        assert not re.search(r"template_(?!port\b)", text)


@pytest.mark.parametrize("name, why", [
    ("", "begins with a letter"), ("Ucx", "begins with a letter"), ("2net", "begins with a letter"),
    ("-x", "begins with a letter"), ("my_net", "begins with a letter"), ("a/b", "begins with a letter"),
    ("../x", "begins with a letter"), ("newnet\n", "begins with a letter"), ("é", "begins with a letter"),
    ("all", "all implementations"), ("foreign", "not ours"), ("objects", "the build"), ("template", "copied from it"),
    ("loopback", "has an implementation of that name"), ("mpi-rma", "has an implementation of that name"),
    ("runtime", "is there already"),
])
def test_a_name_that_will_not_do_changes_nothing(copy: Path, name: str, why: str) -> None:
    before = contents(copy)
    with pytest.raises(ToolError) as raised:
        new_port.make(name, copy)
    assert f"{name!r} cannot be the name of a port" in str(raised.value)
    assert why in raised.value.where
    assert raised.value.next_step
    assert contents(copy) == before


def test_a_second_port_of_that_name_changes_nothing(copy: Path) -> None:
    new_port.make("newnet", copy)
    before = contents(copy)
    with pytest.raises(ToolError):
        new_port.make("newnet", copy)
    assert contents(copy) == before


@pytest.mark.parametrize("damage", ["table", "template"])
def test_a_repository_that_is_not_whole_is_left_as_it_is(copy: Path, damage: str) -> None:
    if damage == "table":
        table = copy / "impl" / "variants.bzl"
        table.write_text(table.read_text().replace("\n}\n", " }\n"))
    else:
        (copy / "impl" / "template" / "transport.cc").unlink()
    before = contents(copy)
    with pytest.raises(ToolError):
        new_port.make("newnet", copy)
    assert contents(copy) == before


def test_the_command_says_what_it_wrote_and_what_next(copy: Path, monkeypatch: pytest.MonkeyPatch,
                                                      capsys: pytest.CaptureFixture[str]) -> None:
    made = new_port.make("newnet", copy)
    monkeypatch.setattr(new_port, "make", lambda name: made)
    assert execute.main(["newnet"], standalone_mode=False) == 0
    said = capsys.readouterr().out
    assert all(f"wrote {path}" in said for path in made.files)
    assert made.row in said
    assert "tools/armci conformance --impl newnet -n 2 --quick --level 1" in said
    assert "to undo it" in said


def test_the_command_refuses_with_a_sentence() -> None:
    done = armci("new-port", "All")
    assert done.returncode == 2
    assert "'All' cannot be the name of a port" in done.stderr
    assert "next:" in done.stderr and "Traceback" not in done.stderr
