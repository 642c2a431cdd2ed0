"""`mutants`: shows that the conformance suite notices defective libraries."""

from __future__ import annotations

import argparse

from armci_tool import bazel, mutants, option_types
from armci_tool.console import Progress
from armci_tool.results import FAILED
from armci_tool.sharing import WHOLE
from armci_tool.verbs import add_configuration, add_verbose, configuration, make_parser, require_folder

DETAIL_LINES = 40


def add_parser(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declares the verb."""
    made = make_parser(verbs, "mutants", "run the conformance suite on defective libraries, which it must all notice",
                       "tools/armci mutants --filter fence --quick", execute)
    made.add_argument("--filter", default="", metavar="NAME", help="a part of the mutant's name, or a clause")
    made.add_argument("-n", dest="processes", type=option_types.count, metavar="NP",
                      help="processes (default, and at least: as many as the mutant needs to be seen)")
    made.add_argument("--quick", action="store_true",
                      help="as control only the tests that killed, not the whole suite")
    made.add_argument("--share", type=option_types.share, default=WHOLE, metavar="K/N",
                      help="every N-th mutant, beginning with the K-th")
    made.add_argument("--report", type=option_types.path, metavar="DIR", help="write mutants.txt, .json, .xml (JUnit) there")
    add_configuration(made)
    add_verbose(made)


def execute(options: argparse.Namespace) -> int:
    """Runs the verb; 0 when every mutant was killed and the right library passed."""
    chosen = configuration(options)
    if options.report:
        require_folder(options.report)
    binary = bazel.built(mutants.LABEL, chosen, verbose=options.verbose)
    with Progress("mutants") as progress:
        outcomes, controls = mutants.examine(binary, chosen, progress.note, filter_text=options.filter,
                                             processes=options.processes, share=options.share,
                                             whole=not options.quick and not options.filter)
    print(mutants.render(outcomes, controls))
    failures = [case for case in mutants.cases(outcomes, controls) if case.outcome == FAILED]
    for case in failures:
        print(f"\nFAILED {case.name}")
        print("\n".join("    " + line for line in case.detail.splitlines()[:DETAIL_LINES]))
    if options.report:
        for path in mutants.write_report(options.report, outcomes, controls, part=options.filter):
            print(f"wrote {path}")
    return 1 if failures else 0
