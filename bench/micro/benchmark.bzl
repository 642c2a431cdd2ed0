"""The programs are stamped for each implementation for users, and for a library that is not ours."""

load("//impl:variants.bzl", "WARNINGS", "armci_binary")
load("//third_party/foreign:copts.bzl", "FOREIGN_COPTS")

_FOREIGN_ARMCI = "@foreign_armci//:armci"

def benchmark_library(name, deps = [], **kwargs):
    """Stamps <name>, which uses our headers, and <name>_foreign, which uses those of @foreign_armci."""
    native.cc_library(
        name = name,
        copts = WARNINGS,
        deps = deps + ["//spec:armci_h"],
        **kwargs
    )
    native.cc_library(
        name = name + "_foreign",
        copts = FOREIGN_COPTS,
        tags = ["manual"],
        deps = deps + [_FOREIGN_ARMCI],
        **kwargs
    )

def benchmark(name, srcs, parts = [], deps = [], **kwargs):
    """Stamps <name>_<implementation> for each implementation for users, and <name>_foreign.

    Args:
      name: of the question.
      srcs: as for armci_binary.
      parts: benchmark_library targets that it uses.
      deps: what it uses besides those and ARMCI.
      **kwargs: as for cc_binary.
    """
    armci_binary(name = name, srcs = srcs, deps = deps + parts, **kwargs)
    native.cc_binary(
        name = name + "_foreign",
        srcs = srcs,
        copts = FOREIGN_COPTS,
        tags = ["manual"],
        deps = deps + [part + "_foreign" for part in parts] + [":missing", _FOREIGN_ARMCI],
        **kwargs
    )
