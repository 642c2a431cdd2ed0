#!/usr/bin/python3
"""Stands in for the program of the mutants: what each mutant does to each test is in FAKE_MUTANTS.

`name=Test:act,Test:act ...` with the acts ok, fail, die and hang; the right library passes everything except what the
entry with an empty name says.
"""

import os
import re
import signal
import sys
import time

TESTS = {"A.first": "FAKE-1", "A.second": "FAKE-1 FAKE-2", "A.third": "FAKE-3"}


def option(name: str, default: str = "") -> str:
    """Value of --name."""
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


def chosen(name: str, clauses: str) -> bool:
    """As the suite chooses."""
    pattern = option("--filter")
    return bool(re.search(pattern, name)) or pattern in clauses.split()


def main() -> int:
    """Prints one of its lists, or runs the chosen tests."""
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[attr-defined]
    if os.environ.get("CONFORMANCE_MUTANT") == "list":
        print(os.environ["FAKE_TABLE"])
        return 0
    if "--list-clauses" in sys.argv:
        print("\n".join(f"{name} {clauses}" for name, clauses in TESTS.items() if chosen(name, clauses)))
        return 0
    entries = dict(entry.split("=", 1) for entry in os.environ["FAKE_MUTANTS"].split())
    acts = dict(act.split(":") for act in entries.get(os.environ["CONFORMANCE_MUTANT"], "").split(",") if act)
    failed = passed = 0
    for name, clauses in TESTS.items():
        if not chosen(name, clauses) or (failed and "--fail-fast" in sys.argv):
            continue
        print(f"RUN   {name}")
        act = acts.get(name, "ok")
        if act == "die":
            os.kill(os.getpid(), signal.SIGSEGV)
        if act == "hang":
            time.sleep(1000)
        # The fault that shows only at length.
        bad = act == "fail" or (act == "rare" and "--quick" not in sys.argv)
        failed += bad
        passed += not bad
        print(f"{'FAIL' if bad else 'PASS'}  {name}  [{clauses}]  0.001 s")
    print(f"{passed} passed, {failed} failed, 0 skipped (np 1, seed 1)")
    return 1 if failed else 0


sys.exit(main())
