"""The state of the sources by git."""

from __future__ import annotations

import re
import shutil

from armci_tool import process
from armci_tool.repository import ROOT


def commit() -> str:
    """Of the sources. Empty history, or none at all (sources from an archive), is nothing to stop for."""
    head = _git("rev-parse", "--verify", "--quiet", "HEAD").strip()
    if not re.fullmatch(r"[0-9a-f]{40,}", head):
        return "none"
    return head[:12] + (" with local changes" if _git("status", "--porcelain", "--untracked-files=no").strip() else "")


def _git(*words: str) -> str:
    """Empty when git is not there or fails."""
    if shutil.which("git") is None:
        return ""
    result = process.run(["git", "-C", str(ROOT), *words], timeout_s=30)
    return result.output if result.ok else ""
