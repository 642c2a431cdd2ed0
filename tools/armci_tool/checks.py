"""Checks of the sources that need no build: format, length of files, words that do not belong, comments."""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Iterator, Sequence

from armci_tool import process
from armci_tool.repository import ROOT, source_files

CXX_SUFFIXES = (".cc", ".h", ".c")
CODE_SUFFIXES = CXX_SUFFIXES + (".py", ".bzl")
COMMENT_SUFFIXES = CODE_SUFFIXES + (".sh", ".bazelrc", "")
TEXT_SUFFIXES = CODE_SUFFIXES + (".md", ".txt", ".sh", ".j2", ".1", ".7", ".bazelrc", "")
FILE_LINES_MAX = 500

_WORKERS = 2
_FORMAT_COMPLAINT = re.compile(r"^(\S[^:]*):\d+:\d+: error: code should be clang-formatted")

# Each pattern with what to write instead. They are written so that this file does not match itself.
_UNWANTED = (
    (re.compile(r"(?<![\w./])/(?:home|work|root|Users)/\w"), "a folder of one machine: use a path in the repository"),
    (re.compile(r"\b(?:T[O]DO|F[I]XME|X[X]X)\b"), "unfinished work: finish it, or write an issue"),
    (re.compile(r"\bD[I]SABLED_"), "a disabled test: mend it, or let it skip with a reason"),
    (re.compile(r"#if ?0\b" "(?![.x])"), "code that is compiled out: delete it"),
    (re.compile(r"#define (?:private|protected) public"), "opened class: use a friend helper"),
)

# One term for each concept: an old word as a pattern, and the term instead of it.
# Fields of written files in quotes keep their names, and so does the user "nobody".
OLD_WORDS = tuple((re.compile(pattern), f"an old word: write {term}") for pattern, term in (
    (r"(?i)(?<!\")c[o]ntestant", "candidate"),
    (r"(?i)(?<!out)s[t]andings", "ranking"),
    (r"(?i)w[a]rden", "reaper"),
    (r"(?i)h[a]ng.?news", "hang report"),
    (r"(?:\b|_)[Oo]w[e]d(?![a-z])|Ow[e]d", "pending, outstanding or unflushed"),
    (r"(?i)wh[o]ever", "the name of the component"),
    (r"(?i)s[o]mebody", "the name of the component"),
    (r"(?i)(?<!\")n[o]body", "the name of the component"),
    (r"(?i)c[o]mpanion", "progress thread"),
    (r"(?i)e[n]list", "server bootstrap"),
    (r"(?i)s[u]rvey", "segment check"),
    (r"(?i)f[u]rnish", "create"),
    (r"(?i)d[i]ssolv", "destroy"),
    (r"(?i)g[o]odbye", "disconnect"),
    (r"\bkB[y]e", "disconnect"),
    (r"(?i)l[e]ftover", "leak check"),
    (r"(?i)dr[o]p[-_]in(?![a-z])", "install test"),
    (r"(?i)d[e]parture", "aborted"),
    (r"(?i)c[o]nceal", "deregister"),
    (r"(?i)(?<![a-z])e[n]rol", "register"),
    (r"\bSl[e]eper", "event count"),
))

# A comment, on a line of its own or behind code, or a docstring: its mark and its text.
_CXX_COMMENT = re.compile(r"(?:^ *|\S +)(//|/\*+)(.*)")
_HASH_COMMENT = re.compile(r'(?:^ *|\S  +(?=#))(#|""")(.*)')
# Words that leave the subject to the reader; OLD_WORDS refuses others anywhere.
_NO_SUBJECT = re.compile(r" *([Ww]hat(?:ever)?|[Ww]ho|[Ii]t|[Ee]very(?:body|one)|[Aa]ny(?:body|one)|[Ss]omeone)"
                         r"(?='s|[\s,:])")


def relative(path: Path) -> str:
    """As shown to the user."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def check_format(root: Path) -> list[str]:
    """C and C++ files that clang-format would change."""
    files = list(source_files(root, *CXX_SUFFIXES))
    if not files:
        return []
    shares = [files[first::_WORKERS] for first in range(min(_WORKERS, len(files)))]
    with ThreadPoolExecutor(_WORKERS) as pool:
        return sorted(problem for problems in pool.map(_format_problems, shares) for problem in problems)


def _format_problems(files: Sequence[Path]) -> list[str]:
    result = process.run(["clang-format", "--dry-run", "-Werror", *map(str, files)])
    if result.ok:
        return []
    wrong = sorted({match.group(1) for match in map(_FORMAT_COMPLAINT.match, result.output.splitlines()) if match})
    # A complaint that is not understood must not pass for a good file.
    return [f"{relative(Path(path))}: not formatted" for path in wrong] or [result.tail(5)]


def fix_format(root: Path = ROOT) -> int:
    """Formats all C and C++ files in place; returns how many there are."""
    files = list(source_files(root, *CXX_SUFFIXES))
    if files:
        process.run(["clang-format", "-i", *map(str, files)])
    return len(files)


def check_length(root: Path) -> list[str]:
    """Files longer than a reader can hold in mind."""
    counted = {path: len(path.read_text(errors="replace").splitlines()) for path in source_files(root, *CODE_SUFFIXES)}
    return [f"{relative(path)}: {lines} lines, at most {FILE_LINES_MAX}: split it by what happens in it"
            for path, lines in counted.items() if lines > FILE_LINES_MAX]


def check_words(root: Path) -> list[str]:
    """Lines, and names of files, with words that do not belong."""
    problems = []
    for path in source_files(root, *TEXT_SUFFIXES):
        name = path.relative_to(root)
        text = path.read_bytes()
        lines = [] if b"\0" in text else text.decode("utf-8", "replace").splitlines()
        problems += [f"{relative(path)}:{number or 'its name'}: {reason}" for number, line in enumerate([str(name), *lines])
                     for pattern, reason in (*_UNWANTED, *OLD_WORDS) if pattern.search(line)]
    return problems


def check_subjects(root: Path) -> list[str]:
    """Comments and docstrings that begin with a word which names nothing, questions left out."""
    problems = []
    for path in source_files(root, *COMMENT_SUFFIXES):
        text = path.read_bytes()
        lines = [] if b"\0" in text else text.decode("utf-8", "replace").splitlines()
        paragraphs = _paragraphs(lines, _CXX_COMMENT if path.suffix in CXX_SUFFIXES else _HASH_COMMENT)
        problems += [f"{relative(path)}:{number}: the comment begins with {found[1]}: name the subject"
                     for number, words in paragraphs
                     if (found := _NO_SUBJECT.match(words)) and not words.endswith("?")]
    return problems


def _paragraphs(lines: Sequence[str], comment: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """The number of the first line of each paragraph of comments, and its words; only the first one of a docstring
    and of a comment in /* */."""
    number = 0
    while number < len(lines):
        found = comment.search(lines[number])
        number += 1
        if found is None or not found[2].strip():
            continue
        first, mark, words = number, found[1], [found[2]]
        if mark in ("//", "#"):
            beginning = " " * found.start(1) + mark + " "
            while number < len(lines) and lines[number].startswith(beginning):
                words.append(lines[number])
                number += 1
        else:
            end = '"""' if mark == '"""' else "*/"
            while end not in words[-1] and number < len(lines) and lines[number].strip(" *"):
                words.append(lines[number])
                number += 1
            words[-1] = words[-1].partition(end)[0]
        yield first, " ".join(words).rstrip()


def check_types(root: Path) -> list[str]:
    """The complaints of mypy about the Python files, each folder with its own path as pytest gives it."""
    problems = []
    # No cache: the check leaves nothing behind and takes two seconds.
    line = ["mypy", "--strict", "--no-error-summary", f"--cache-dir={os.devnull}"]
    for path, folders in ((("tools", "tools/tests"), ("tools/armci_tool", "tools/tests")),
                          (("tools", "tools/tests_rdma"), ("tools/tests_rdma",)),
                          (("tools", "tools/tests_foreign"), ("tools/tests_foreign",)),
                          (("tools", "conformance/faults"), ("conformance/faults",)),
                          (("spec/model",), ("spec/model",))):
        search = os.pathsep.join(str(root / folder) for folder in path)
        result = process.run([*line, *folders], cwd=root, environment={"MYPYPATH": search})
        problems += result.output.splitlines() if not result.ok else []
    return problems


def all_checks() -> Sequence[tuple[str, list[str], str]]:
    """(name, problems, how to mend) of each check."""
    return (("clang-format", check_format(ROOT), "tools/armci format --fix"),
            ("types of the Python files", check_types(ROOT), "tools/armci format"),
            ("file length", check_length(ROOT), "tools/armci format"),
            ("unwanted words", check_words(ROOT), "tools/armci format"),
            ("comments without a subject", check_subjects(ROOT), "tools/armci format"))
