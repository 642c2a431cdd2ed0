"""The checks of the sources see what they are for, and the table of implementations is understood."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Sequence

import pytest
from armci_tool import checks, programs, repository
from armci_tool.errors import ToolError


def put(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_unformatted_file_is_found(tmp_path: Path) -> None:
    put(tmp_path, ".clang-format", "BasedOnStyle: Google\n")
    put(tmp_path, "good.cc", "int f() { return 1; }\n")
    put(tmp_path, "bad.cc", "int  f( ){return 1;}\n")
    assert checks.check_format(tmp_path) == [f"{tmp_path}/bad.cc: not formatted"]
    checks.fix_format(tmp_path)
    assert not checks.check_format(tmp_path)


def test_length_is_counted_to_the_line(tmp_path: Path) -> None:
    put(tmp_path, "fits.cc", "\n" * 500)
    put(tmp_path, "long.cc", "\n" * 501)
    put(tmp_path, "long.md", "\n" * 501)
    [problem] = checks.check_length(tmp_path)
    assert "long.cc: 501 lines" in problem


@pytest.mark.parametrize("line", ["see /ho" "me/me/x", "path = '/wo" "rk/x'", "// TO" "DO: later", "TEST(A, DIS" "ABLED_b)",
                                  "#if " "0"])
def test_unwanted_words_are_found(tmp_path: Path, line: str) -> None:
    put(tmp_path, "a.cc", "int x;\n" + line + "\n")
    [problem] = checks.check_words(tmp_path)
    assert "a.cc:2:" in problem


# A word for each row of the table, in its order.
OLD_WORDS = ["Conte" "stants", "stan" "dings", "the war" "den", "hang_" "news", "Ow" "edStores", "who" "ever", "some" "body", "No" "body",
             "a compan" "ion", "en" "lists", "Sur" "veyor", "fur" "nished", "dis" "solve", "good" "bye", "kB" "ye", "left" "overs",
             "drop" "_in.py", "Depar" "ture", "conc" "eals", "en" "rolled", "Sle" "eper"]


@pytest.mark.parametrize("word, row", zip(OLD_WORDS, checks.OLD_WORDS, strict=True))
def test_each_old_word_is_refused(tmp_path: Path, word: str, row: Sequence[Any]) -> None:
    put(tmp_path, "any/a.cc", f"int x;\n// {word}\n")
    [problem] = checks.check_words(tmp_path)
    assert f"a.cc:2: {row[1]}" in problem


@pytest.mark.parametrize("name", ["left" "overs.py", "sur" "vey.h"])
def test_an_old_word_in_the_name_of_a_file_is_refused(tmp_path: Path, name: str) -> None:
    put(tmp_path, f"tools/{name}", "")
    [problem] = checks.check_words(tmp_path)
    assert f"{name}:its name: an old word" in problem


@pytest.mark.parametrize("line", ["outstanding", "allowed", "followed_by", '"conte" "stant": 1', '"conte' 'stant": 1', "drop invalid",
                                  "a sleeper", "enlarge", 'getpwnam("no' 'body")'])
def test_words_that_resemble_old_ones_are_left_alone(tmp_path: Path, line: str) -> None:
    put(tmp_path, "tools/a.cc", line + "\n")
    assert not checks.check_words(tmp_path)


@pytest.mark.parametrize("name, text, line", [
    ("a.cc", "// What is left.\n", 1),
    ("a.cc", "int x;\n  // It ends.\nint y;\n", 2),
    ("a.h", "int x;  // what is left\n", 1),
    ("a.h", "int x;  // the rest\n// Everyone calls this.\n", 2),
    ("a.h", "// A call.\n//\n// It is collective.\n", 3),
    ("a.h", "// Who calls? Any process.\n", 1),
    ("a.c", "int x; /* who calls */\n", 1),
    ("a.c", "/* What is left?\n * The rest. */\n", 1),
    ("a.py", "x = 1\n# Anyone can call this.\n", 2),
    ("a.py", "x = 1  #" " it is one\n", 1),
    ("a.py", 'def f():\n    """What f returns."""\n', 2),
    ("a.py", 'def f():\n    """A call.\n    """\n    #' " What is left.\n", 4),
    ("BUILD", "# It's a rule.\n", 1),
    ("a.bzl", '"""Whatever is built."""\n', 1),
    ("a.sh", "# Someone else's file.\n", 1),
])
def test_a_comment_without_a_subject_is_refused(tmp_path: Path, name: str, text: str, line: int) -> None:
    put(tmp_path, name, text)
    [problem] = checks.check_subjects(tmp_path)
    assert f"{name}:{line}: the comment begins with" in problem and problem.endswith(": name the subject")


@pytest.mark.parametrize("name, text", [
    ("a.cc", "// What does a put cost?\n"),
    ("a.cc", "// What does a put cost,\n// against a copy?\n//\n// Cases: one.\n"),
    ("a.cc", "// The next line says\n// what it needs.\n"),
    ("a.cc", "int x;  // the rest, and\n        // what is left\n"),
    ("a.cc", 'f("// What");\n// Items.\n'),
    ("a.c", "/* A call.\n * It is collective. */\n"),
    ("a.py", '"""What is left?"""\n'),
    ("a.py", '"""A call.\nIt is collective.\n"""\n'),
    ("a.py", 'print("# What")\n'),
    ("a.sh", "expect() {  # WHAT PATTERN\n"),
    ("a.md", "# What to read\n"),
])
def test_comments_with_a_subject_and_questions_are_left_alone(tmp_path: Path, name: str, text: str) -> None:
    put(tmp_path, name, text)
    assert not checks.check_subjects(tmp_path)


@pytest.mark.parametrize("line", ["/usr/include", "examples/work/x", "TODOS_left", "#if 0x10 < X"])
def test_ordinary_lines_are_left_alone(tmp_path: Path, line: str) -> None:
    put(tmp_path, "a.cc", line + "\n")
    assert not checks.check_words(tmp_path)


def test_generated_folders_are_not_sources(tmp_path: Path) -> None:
    put(tmp_path, "bazel-out/a.cc", "")
    put(tmp_path, ".git/b.cc", "")
    put(tmp_path, "report/c.cc", "")
    put(tmp_path, "impl/d.cc", "")
    assert [path.name for path in repository.source_files(tmp_path, ".cc")] == ["d.cc"]


def test_table_of_implementations_is_read(tmp_path: Path) -> None:
    put(tmp_path, "variants.bzl", '''"""Doc."""
OTHER = 1
IMPLEMENTATIONS = {
    # a comment
    "shmem": struct(library = "//impl/shmem:armci", test_only = False),
    "mpi-rma": struct(nodes = [1, 2]),
    "loopback": struct(test_only = True),
}
def f(name, **kwargs):
    native.cc_library(name = name, **kwargs)
''')
    table = repository.implementation_table(tmp_path / "variants.bzl")
    assert [(row.name, row.test_only) for row in table] == [("shmem", False), ("mpi-rma", False), ("loopback", True)]


def test_missing_table_is_an_error(tmp_path: Path) -> None:
    put(tmp_path, "variants.bzl", "X = 1\n")
    with pytest.raises(ToolError):
        repository.implementation_table(tmp_path / "variants.bzl")


@pytest.mark.parametrize("label, expected", [
    ("//examples:hello", "//examples:hello_shmem"),
    ("//examples:hello_shmem", "//examples:hello_shmem"),
    ("//examples/hello", "//examples/hello:hello_shmem"),
])
def test_label_of_a_program(label: str, expected: str) -> None:
    assert programs.implementation_label(label, "shmem") == expected


def test_no_port_includes_the_entry_points() -> None:
    """The build cannot see it: each port compiles them."""
    above = ("impl/api/", "impl/testing/")
    files = {str(path.relative_to(repository.ROOT)): path.read_text()
             for suffix in (".cc", ".h") for path in repository.source_files(repository.ROOT / "impl", suffix)}
    wrong = [name for name, text in files.items() if '#include "impl/api/' in text and not name.startswith(above)]
    assert len(files) > 200 and not wrong
