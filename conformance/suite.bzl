"""The parts of the suite are compiled twice: against the public headers of //spec, and against a foreign library's."""

load("//impl:variants.bzl", "TEST_COPTS", "TEST_HEADER")
load("//third_party/foreign:copts.bzl", "FOREIGN_COPTS")

def suite_library(name, parts = [], deps = [], foreign = True, **kwargs):
    """Stamps <name>, which uses our headers, and <name>_foreign, which uses those of @foreign_armci.

    Args:
      name: the target.
      parts: other suite_library targets that it uses, in the form //package:name.
      deps: what it uses besides MPI, GoogleTest and ARMCI.
      foreign: whether there is a form for foreign libraries: not for what needs more than the classic headers.
      **kwargs: as for cc_library.
    """
    common_deps = deps + ["//third_party/mpi", TEST_HEADER]
    native.cc_library(
        name = name,
        testonly = True,
        copts = TEST_COPTS,
        alwayslink = True,
        deps = common_deps + parts + ["//spec:armci_h"],
        **kwargs
    )
    if foreign:
        native.cc_library(
            name = name + "_foreign",
            testonly = True,
            copts = TEST_COPTS + FOREIGN_COPTS,
            alwayslink = True,
            tags = ["manual"],
            deps = common_deps + [part + "_foreign" for part in parts] + ["@foreign_armci//:armci"],
            **kwargs
        )
