"""The part of the tests that changed files can affect, from Bazel's own graph."""

from __future__ import annotations

import shlex
from dataclasses import replace
from functools import partial
from pathlib import PurePath
from typing import Optional, Sequence

from armci_tool import bazel, process
from armci_tool.errors import ToolError
from armci_tool.repository import ROOT
from armci_tool.testing import plan, work
from armci_tool.testing.steps import QUERY, Level, PlannedStep

# A change of these is one of everything that is built.
_OF_ALL_BUILDS = ("WORKSPACE", ".bazelrc")


def files(since: Optional[str]) -> list[str]:
    """The files that differ from a commit. Without a commit, those that git knows as changed or new, and if there are
    none, those that the last commit changed."""
    if since:
        [commit] = _git("rev-parse", "--verify", "--end-of-options", since + "^{commit}",
                        next_step="give --since a commit of this repository")
        return _git_files("diff", commit)
    return ([*_git_files("diff", "HEAD"), *_git_files("ls-files", "--others", "--exclude-standard")]
            or _git_files("diff", "HEAD~1", "HEAD",
                          next_step="give --since COMMIT, or fetch the history: git fetch --unshallow"))


def _git_files(command: str, *words: str, **more: str) -> list[str]:
    """Names as they are; a file that was moved counts as two."""
    options = ["--name-only", "--no-renames"] if command == "diff" else []
    return [name for name in "\n".join(_git(command, "-z", *options, *words, **more)).split("\0") if name]


def _git(*words: str, next_step: str = "have git know this folder (git status says what is wrong)") -> list[str]:
    done = process.run(["git", "-C", str(ROOT), *words])
    if not done.ok:
        fatal = [line for line in done.output.splitlines() if line.startswith("fatal:")]
        raise ToolError(f"git {words[0]} failed", where="".join(fatal[:1] or done.output.splitlines()[:1]), next_step=next_step)
    return done.output.splitlines()


def affected(changed: Sequence[str]) -> str:
    """A query of what depends on these files."""
    if any(name in _OF_ALL_BUILDS or name.endswith(".bzl") for name in changed):
        return bazel.EVERYTHING
    if any(PurePath(name).name == "BUILD" and not (ROOT / name).exists() for name in changed):
        return bazel.EVERYTHING
    # Files that no BUILD file names are nothing to Bazel: the query leaves them out.
    patterns = sorted({_pattern(name) for name in changed})
    return f"rdeps({bazel.EVERYTHING}, set({' '.join(patterns)}))" if patterns else ""


def _pattern(name: str) -> str:
    """A label, or all of a package that has lost a file or whose BUILD file has changed; quoted."""
    file = PurePath(name)
    folder = next((folder for folder in file.parents if (ROOT / folder / "BUILD").exists()), PurePath())
    package = "" if folder == PurePath() else str(folder)
    whole = file.name == "BUILD" or not (ROOT / file).exists()
    label = f"//{package}:{'all' if whole else file.relative_to(folder)}"
    return f"'{label}'" if '"' in label else f'"{label}"'


def plan_steps(since: Optional[str]) -> list[PlannedStep]:
    """The steps of every day that the changed files can affect, and of each affected port the suite where it leaves the node.
    Of unit tests, only those that depend on the files."""
    changed = files(since)
    expression = affected(changed)
    bazel.check_packages()
    labels = set(bazel.query(expression)) if expression else set()
    *steps, leak_check = plan.plan_steps(Level.QUICK)
    chosen = [_narrowed(step, expression) for step in [*steps, *plan.changed_steps(changed), leak_check]
              if _is_affected(step, changed, labels)]
    if expression and (others := labels.difference(*(_labels(step) for step in chosen))):
        chosen.insert(0, plan.build_step("what else the changed files affect", sorted(others)))
    print(f"{len(changed)} changed files can affect {len(labels)} targets; steps: {', '.join(step.name for step in chosen)}\n"
          "Other placements, MPI libraries and sanitizers are left to tools/armci test, and what runs in guests.")
    return chosen


def _is_affected(step: PlannedStep, changed: Sequence[str], labels: set[str]) -> bool:
    if any(name.startswith(step.files) for name in changed):
        return True
    if not step.targets:
        return not step.files  # cheap, and about all sources
    return not labels.isdisjoint(_labels(step))


def _labels(step: PlannedStep) -> set[str]:
    """The targets that a step needs."""
    return {label for target in step.targets
            for label in (bazel.query(target.removeprefix(QUERY)) if target.startswith(QUERY) else [target])}


def _narrowed(step: PlannedStep, expression: str) -> PlannedStep:
    """Of a step of unit tests, those that depend on the changed files."""
    if step.configuration is None or not any(target.startswith(QUERY) for target in step.targets):
        return step
    [tests] = [target.removeprefix(QUERY) for target in step.targets]
    fewer = f"({tests}) intersect {expression}"
    return replace(step, function=partial(work.run_unit_tests, step.configuration, fewer), targets=(QUERY + fewer,),
                   rerun=f"bazel test {shlex.join(step.configuration.test_flags())} $(bazel query '{fewer}')")
