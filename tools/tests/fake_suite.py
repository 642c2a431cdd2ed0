#!/usr/bin/python3
"""Stands in for the conformance program: speaks its protocol, and dies, hangs or fails where it is told to.

FAKE_SUITE names what each test does, in order: `A.a=ok A.b=die A.c=hang A.d=fail A.e=skip A.f=exit A.g=tell`.
"""

import os
import re
import signal
import sys
import time
from pathlib import Path


def option(name: str, default: str = "") -> str:
    """Value of --name."""
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


def main() -> int:
    """Runs the chosen tests."""
    tests = dict(pair.split("=") for pair in os.environ["FAKE_SUITE"].split())
    if "--list-clauses" in sys.argv:
        print("\n".join(f"{name} FAKE-1" for name in tests))
        return 0
    print("conformance: 1 ranks, seed " + option("--seed", "99"), flush=True)
    finished = Path(option("--exclude-listed", os.devnull)).read_text().split()
    chosen = {name: act for name, act in tests.items() if re.search(option("--filter"), name) and name not in finished}
    if not chosen:
        return 2
    for name, act in chosen.items():
        if act == "skip":
            print(f"SKIP  {name}  [FAKE-1]  0.000 s  needs 4 ranks", flush=True)
            continue
        print(f"RUN   {name}", flush=True)
        if act == "die":
            os.kill(os.getpid(), signal.SIGSEGV)
        if act == "exit":
            return 1
        if act == "hang":
            time.sleep(1000)
        if act == "tell":
            print(f"INFO  {name}  outcome.acceptable.r1=1 r2=1 = 12\nINFO  {name}  place = a = b")
        print(f"{'PASS' if act in ('ok', 'tell') else 'FAIL'}  {name}  [FAKE-1]  0.005 s")
        if act == "fail":
            print("[rank 0] expected 1, saw 2\n\n  rerun: x", flush=True)
    status = 1 if "fail" in chosen.values() else 0
    if os.environ.get("FAKE_SUITE_LAST") == "die in finalize":
        os.kill(os.getpid(), signal.SIGSEGV)
    print(f"{len(chosen) - status} passed, {status} failed, 0 skipped (np 1, seed 99)", flush=True)
    if os.environ.get("FAKE_SUITE_LAST") == "die":
        os.kill(os.getpid(), signal.SIGSEGV)
    return status


sys.exit(main())
