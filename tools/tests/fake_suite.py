#!/usr/bin/python3
"""Stands in for the conformance program: speaks its protocol, and dies, hangs or fails on request.

FAKE_SUITE names what each test does, in order: `A.a=ok A.b=die A.c=hang A.d=fail A.e=skip A.f=exit`,
`A.g=abort` (passes, says that it aborted), `A.h=leave` (passes, leaves a process), `A.i=odd` (fails with an odd seed),
`A.j=tell` (passes, with facts), `A.k=refuse` (the library does not start),
`A.l=overtaken` (passes, and what a later test says when it dies comes in before that),
`A.m=lie` (tells verdicts and an end of its own), `A.n=leave_early` (tells an end and goes), `A.o=hang_in_init`.
FAKE_SUITE_LAST is what it does after the last test: `die in finalize`, `die`, `abort`, `status N`.
"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path


def option(name: str, default: str = "") -> str:
    """Value of --name."""
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


FAILING = ("fail", "odd") if int(option("--seed", "99")) % 2 else ("fail",)


def main() -> int:
    """Runs the chosen tests."""
    # As the suite does: a death keeps nothing back of what was said before.
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[attr-defined]
    tests = dict(pair.split("=") for pair in os.environ["FAKE_SUITE"].split())
    if "--list-clauses" in sys.argv:
        print("\n".join(f"{name} FAKE-1" for name in tests if re.search(option("--filter"), name)))
        return 0
    finished = Path(option("--exclude-listed", os.devnull)).read_text().split()
    # How many launches die before they say anything, once one has been made.
    silent = Path(os.environ.get("FAKE_SUITE_SILENT", os.devnull))
    if finished and silent.read_text().strip("\n"):
        silent.write_text(silent.read_text()[1:])
        os.kill(os.getpid(), signal.SIGSEGV)
    print("conformance: 1 ranks, seed " + option("--seed", "99"))
    chosen = {name: act for name, act in tests.items() if re.search(option("--filter"), name) and name not in finished}
    chosen.pop(os.environ.get("FAKE_SUITE_HIDES", ""), None)
    if not chosen:
        return 2
    for name, act in chosen.items():
        if act == "skip":
            print(f"SKIP  {name}  [FAKE-1]  0.000 s  needs 4 ranks")
            continue
        print(f"RUN   {name}")
        if act == "die":
            os.kill(os.getpid(), signal.SIGSEGV)
        if act == "exit":
            return 1
        if act == "refuse":
            print("conformance: rank 0: ARMCI_Init returned 15")
            return 1
        if act == "hang":
            time.sleep(1000)
        if act == "abort" or (act == "overtaken" and "die" in chosen.values()):
            print("MPI_ABORT was invoked on rank 0")
        if act == "leave":
            subprocess.Popen(["sleep", "100"], start_new_session=True, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if act == "lie":
            print(f"PASS  {name}  [FAKE-1]  0.001 s\nPASS  A.z  [FAKE-1]  0.001 s\n2 passed, 0 failed, 0 skipped (np 1, seed 9)")
        if act == "leave_early":
            print("1 passed, 0 failed, 0 skipped (np 1, seed 99)")
            return 0
        if act == "hang_in_init":
            print("conformance: ARMCI_Init begins")
            time.sleep(1000)
        if act == "tell":
            print(f"INFO  {name}  outcome.acceptable.r1=1 r2=1 = 12\nINFO  {name}  place = a = b")
        failed = act in FAILING
        print(f"{'FAIL' if failed else 'PASS'}  {name}  [FAKE-1]  0.005 s")
        if failed:
            print("[rank 0] expected 1, saw 2\n\n  rerun: x")
    status = 1 if any(act in FAILING for act in chosen.values()) else 0
    if os.environ.get("FAKE_SUITE_LAST") == "die in finalize":
        os.kill(os.getpid(), signal.SIGSEGV)
    skipped = sum(act == "skip" for act in chosen.values())
    failures = sum(act in FAILING for act in chosen.values())
    print(f"{len(chosen) - failures - skipped} passed, {failures} failed, {skipped} skipped (np 1, seed 99)")
    if os.environ.get("FAKE_SUITE_LAST") == "die":
        os.kill(os.getpid(), signal.SIGSEGV)
    if os.environ.get("FAKE_SUITE_LAST") == "abort":
        print("*** stack smashing detected ***: terminated")
    if os.environ.get("FAKE_SUITE_LAST", "").startswith("status "):
        return int(os.environ["FAKE_SUITE_LAST"].split()[1])
    return status


sys.exit(main())
