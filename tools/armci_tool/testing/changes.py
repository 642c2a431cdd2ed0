"""The part of the tests that changed files can affect, from Bazel's own graph."""

from __future__ import annotations

import shlex
from dataclasses import replace
from functools import partial
from typing import Optional, Sequence

from armci_tool import bazel, process
from armci_tool.errors import ToolError
from armci_tool.repository import ROOT
from armci_tool.testing import plan, work
from armci_tool.testing.steps import QUERY, Level, PlannedStep

# A change of these is one of everything that is built.
_OF_ALL_BUILDS = ("WORKSPACE", ".bazelrc")


def files(since: Optional[str]) -> list[str]:
    """What differs from a commit; without one what git knows as changed or new, and if that is nothing, what the last commit
    changed."""
    if since:
        return _git("diff", "--name-only", since, next_step="give --since a commit of this repository")
    return ([*_git("diff", "--name-only", "HEAD"), *_git("ls-files", "--others", "--exclude-standard")]
            or _git("diff", "--name-only", "HEAD~1", "HEAD", next_step="give --since COMMIT, or fetch the history"))


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
    # Files that no BUILD file names are nothing to Bazel: the query leaves them out.
    patterns = [_pattern(name) for name in changed if (ROOT / name).exists()]
    return f"rdeps({bazel.EVERYTHING}, set({' '.join(patterns)}))" if patterns else ""


def _pattern(name: str) -> str:
    folder, _, file = name.rpartition("/")
    return f"//{folder}:all" if file == "BUILD" else name


def plan_steps(since: Optional[str]) -> list[PlannedStep]:
    """The steps of every day that the changed files can affect, and of each affected port the suite where it leaves the node.
    Of unit tests, only those that depend on the files."""
    changed = files(since)
    expression = affected(changed)
    labels = set(bazel.query(expression)) if expression else set()
    *steps, leak_check = plan.plan_steps(Level.QUICK)
    chosen = [_narrowed(step, expression) for step in [*steps, *plan.changed_steps(), leak_check]
              if _is_affected(step, changed, labels)]
    print(f"{len(changed)} changed files can affect {len(labels)} targets; steps: {', '.join(step.name for step in chosen)}")
    return chosen


def _is_affected(step: PlannedStep, changed: Sequence[str], labels: set[str]) -> bool:
    if any(name.startswith(step.files) for name in changed):
        return True
    if not step.targets:
        return not step.files  # cheap, and about all sources
    found = [label for target in step.targets
             for label in (bazel.query(target.removeprefix(QUERY)) if target.startswith(QUERY) else [target])]
    return not labels.isdisjoint(found)


def _narrowed(step: PlannedStep, expression: str) -> PlannedStep:
    """Of a step of unit tests, those that depend on the changed files."""
    if step.configuration is None or not any(target.startswith(QUERY) for target in step.targets):
        return step
    [tests] = [target.removeprefix(QUERY) for target in step.targets]
    fewer = f"({tests}) intersect {expression}"
    return replace(step, function=partial(work.run_unit_tests, step.configuration, fewer), targets=(QUERY + fewer,),
                   rerun=f"bazel test {shlex.join(step.configuration.test_flags())} $(bazel query '{fewer}')")
