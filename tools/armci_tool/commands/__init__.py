"""The commands of `tools/armci`: one module for each, whose `execute` does the work and returns the exit status."""

# Summaries, in the order of --help. The module of `new-port` is new_port; only a command that runs is imported.
SUMMARIES = {
    "quickstart": "set up, build, run the examples on real input, and compare with raw memory",
    "test": "set up, build and run the tests; the last line counts them",
    "setup": "install the Debian packages of tools/packages.txt",
    "build": "build the libraries, tests and programs",
    "run": "run a program on one implementation (builds it if needed)",
    "conformance": "check implementations against the clauses of spec/semantics.md",
    "settings": "run the conformance suite under combinations of an implementation's settings",
    "mutants": "run the conformance suite on defective libraries, which it must all notice",
    "races": "count the data races that ARMCI_CHECK=race finds in pairs of programs, with and without one",
    "bench": "measure an implementation against raw memory and MPI, interleaved in one run",
    "compare": "measure implementations and other ARMCIs against each other, in turns",
    "application": "build an application from its source, and run its programs on each implementation",
    "tune": "find the values of an implementation's settings that are best on this machine",
    "info": "print implementation, version, capabilities and every ARMCI_* setting",
    "mpi-doctor": "try every known fault of MPI's one-sided communication in a job of its own",
    "install": "copy headers, libraries, commands and manual pages to a folder, for use without Bazel",
    "rdma": "run a command on a machine made by QEMU that has a verbs device (Soft-RoCE)",
    "trace": "sum up a timeline: calls, waiting, bytes between processes",
    "new-port": "begin a new implementation: a copy of impl/template and a row in impl/variants.bzl",
    "format": "check the form of the sources: clang-format, length of files, unwanted words, comments",
    "traceability": "check that every clause has a test and a level, and every test a clause",
}
