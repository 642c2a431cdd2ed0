"""The programs are stamped for each implementation that is measured, and for a library that is not ours."""

load("//impl:variants.bzl", "LIBRARY_HEADER", "PRECOMPILED_COPTS", "WARNINGS", "armci_binary", "measured")
load("//third_party/foreign:copts.bzl", "FOREIGN_COPTS")

# Of what kernels compute with, the same for all sides of a comparison. Loops begin on a cache line, as where they lie in
# it would make one program slower than another by a fifth.
KERNEL_COPTS = ["-O3", "-falign-functions=64", "-falign-loops=64"]

_FOREIGN_ARMCI = "@foreign_armci//:armci"

def benchmark_library(name, parts = [], deps = [], **kwargs):
    """Stamps <name>, which uses our headers, and <name>_foreign, which uses those of @foreign_armci.

    Args:
      name: of the library.
      parts: benchmark_library targets that it uses.
      deps: what it uses besides those and ARMCI.
      **kwargs: as for cc_library.
    """
    native.cc_library(
        name = name,
        copts = WARNINGS + PRECOMPILED_COPTS,
        deps = deps + parts + ["//spec:armci_h", LIBRARY_HEADER],
        **kwargs
    )
    native.cc_library(
        name = name + "_foreign",
        copts = FOREIGN_COPTS,
        tags = ["manual"],
        deps = deps + [part + "_foreign" for part in parts] + [_FOREIGN_ARMCI],
        **kwargs
    )

def benchmark(name, srcs, parts = [], deps = [], device = "", **kwargs):
    """Stamps <name>_<implementation> for each implementation that is measured, and <name>_foreign.

    Args:
      name: of the question.
      srcs: as for armci_binary.
      parts: benchmark_library targets that it uses.
      deps: what it uses besides those and ARMCI.
      device: only implementations that take it between nodes are measured.
      **kwargs: as for cc_binary.
    """
    armci_binary(
        name = name,
        srcs = srcs,
        copts = PRECOMPILED_COPTS,
        implementations = measured(device),
        deps = deps + parts + [LIBRARY_HEADER],
        **kwargs
    )
    native.cc_binary(
        name = name + "_foreign",
        srcs = srcs,
        copts = FOREIGN_COPTS,
        tags = ["manual"],
        deps = deps + [part + "_foreign" for part in parts] + ["//bench/session:missing", _FOREIGN_ARMCI],
        **kwargs
    )
