"""The table of implementations, and the macros that stamp libraries, tests and programs for each of them.

A new port is one folder (impl/<name>) and one row here. The rows decide what exists: every armci_binary is linked with
every implementation, and every armci_suite is run on each, at each number of processes.
"""

load("//impl:archive.bzl", "whole_archive")
load("//third_party/pch:precompiled_header.bzl", "TEST_OPTIMISATION", "use_precompiled")

IMPLEMENTATIONS = {
    # library: the static library to link. spans_nodes: whether it can leave the node at all. test_only: no library for
    # users, built to prove something. device: what it needs between nodes, of which tools/armci makes a guest if the
    # machine has none. port_level: of a port under way, the level of docs/porting.md that it has reached and tools/armci
    # test holds it to; left out once that is the last.
    "shmem": struct(library = "//impl/shmem:armci", spans_nodes = False, test_only = False),
    "mpi-rma": struct(library = "//impl/mpi-rma:armci", spans_nodes = True, test_only = False),
    "mpi-twosided": struct(library = "//impl/mpi-twosided:armci", spans_nodes = True, test_only = False),
    "native-verbs": struct(library = "//impl/native-verbs:armci", spans_nodes = True, test_only = False, device = "verbs"),
    "ucx": struct(library = "//impl/ucx:armci", spans_nodes = True, test_only = False),
    "loopback": struct(library = "//impl/loopback:armci", spans_nodes = False, test_only = True),
}

WARNINGS = ["-Wall", "-Wextra", "-Werror"]

# The options for the entry points and everything below them: only the public functions leave the library.
LIBRARY_COPTS = WARNINGS + ["-fvisibility=hidden"]

# Of C++ sources that have LIBRARY_HEADER in their deps, and no optimisation of their own.
LIBRARY_HEADER = "//third_party/pch:library"
PRECOMPILED_COPTS = use_precompiled(LIBRARY_HEADER)

def armci_library(name, deps = [], **kwargs):
    """A library of which implementations are made."""
    native.cc_library(
        name = name,
        copts = LIBRARY_COPTS + PRECOMPILED_COPTS,
        deps = deps + [LIBRARY_HEADER],
        **kwargs
    )

# Of C++ sources of tests, which have TEST_HEADER in their deps.
TEST_HEADER = "//third_party/pch:tests"
TEST_COPTS = WARNINGS + use_precompiled(TEST_HEADER) + TEST_OPTIMISATION

def armci_test(name, srcs = None, deps = None, linkopts = [], own_main = False, **kwargs):
    """A unit test with GoogleTest, whose main() it has unless own_main. <library>_test is by default <library>_test.cc with
    :<library>."""
    native.cc_test(
        name = name,
        size = "small",
        srcs = srcs or [name + ".cc"],
        copts = TEST_COPTS,
        linkopts = linkopts + ([] if own_main else ["-lgtest_main"]),
        linkstatic = True,
        deps = (deps or [":" + name[:-len("_test")]]) + [TEST_HEADER],
        **kwargs
    )

def armci_tests(names, **kwargs):
    """An armci_test for each of the names."""
    for name in names:
        armci_test(name = name, **kwargs)

def armci_implementation(name, transport_header, deps):
    """Stamps one implementation: :armci (static), :libarmci.so.1 (shared), :shared (to link with that), :libarmci.a (static, for
    programs that are linked without Bazel) and what they are made of.

    Args:
      name: the implementation, as ARMCIX_Implementation reports it.
      transport_header: the header that defines armci::SelectedTransport, from the root.
      deps: the library behind that header.
    """
    # Not precompiled: little of the time is that of headers.
    native.cc_library(
        name = "armci",
        srcs = ["//impl/api:entry_sources"],
        textual_hdrs = ["//impl/api:entry_parts"],
        copts = LIBRARY_COPTS + ([] if name in for_users() else TEST_OPTIMISATION),
        local_defines = [
            "ARMCI_TRANSPORT_HEADER='\"%s\"'" % transport_header,
            "ARMCI_IMPLEMENTATION_NAME='\"%s\"'" % name,
        ],
        alwayslink = True,
        deps = deps + ["//impl/api", "//spec:armci_h"],
        visibility = ["//visibility:public"],
    )
    native.cc_binary(
        name = "libarmci.so.1",
        additional_linker_inputs = ["//spec:libarmci.map"],
        linkopts = ["-Wl,-soname,libarmci.so.1", "-Wl,--version-script=$(location //spec:libarmci.map)"],
        linkshared = True,
        linkstatic = True,
        deps = [":armci"],
        visibility = ["//visibility:public"],
    )
    native.cc_import(
        name = "shared",
        shared_library = ":libarmci.so.1",
        visibility = ["//visibility:public"],
    )
    whole_archive(
        name = "libarmci.a",
        flags = "libarmci.a.flags",
        library = ":armci",
        symbols = "//spec:libarmci.map",
        visibility = ["//visibility:public"],
    )
    native.sh_test(
        name = "exports_test",
        size = "small",
        srcs = ["//impl:exports_test.sh"],
        args = ["$(location //spec:libarmci.map)", "$(location :libarmci.so.1)", "$(location :libarmci.a)"],
        data = [":libarmci.a", ":libarmci.so.1", "//spec:libarmci.map"],
    )

def in_target(implementation):
    """The implementation as part of a target's name."""
    return implementation.replace("-", "_")

def _device(row):
    return getattr(row, "device", "")

def for_users():
    """Names of the implementations that programs are linked with."""
    return [name for name, row in IMPLEMENTATIONS.items() if not row.test_only]

def between_nodes():
    """Names of those for users that reach other nodes: "a, b or c"."""
    names = [name for name in for_users() if IMPLEMENTATIONS[name].spans_nodes]
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)

def measured(device = ""):
    """Names of the implementations that benchmarks are linked with: those for users; with a device, those of them that
    take it between nodes."""
    return [name for name in for_users() if not device or _device(IMPLEMENTATIONS[name]) == device]

def armci_binary(name, srcs = [], deps = [], copts = [], testonly = False, implementations = None, **kwargs):
    """Stamps the program <name>_<implementation> for every implementation of `implementations`; by default for those for
    users, or for all if testonly.

    The sources are compiled once, as <name>_objects.
    """
    if implementations == None:
        implementations = IMPLEMENTATIONS.keys() if testonly else for_users()
    common_deps = [dep for dep in deps if dep != "//spec:armci_h"] + ["//spec:armci_h"]
    if srcs:
        native.cc_library(
            name = name + "_objects",
            srcs = srcs,
            copts = WARNINGS + copts,
            alwayslink = True,
            testonly = testonly,
            deps = common_deps,
        )
        common_deps = [":" + name + "_objects"]
    for implementation in implementations:
        native.cc_binary(
            name = "%s_%s" % (name, in_target(implementation)),
            deps = common_deps + [IMPLEMENTATIONS[implementation].library],
            testonly = testonly,
            **kwargs
        )

def armci_job_test(name, program, processes, nodes = 1, args = [], data = [], size = "medium", **kwargs):
    """Runs a program of the package as a job of so many processes on so many nodes."""
    native.sh_test(
        name = name,
        size = size,
        srcs = ["//tools:launch"],
        args = ["$(location :%s)" % program, str(processes), str(processes // nodes)] + args,
        data = [":" + program] + data,
        tags = ["exclusive", "mpi"],
        **kwargs
    )

def armci_suite(name, srcs = [], deps = [], processes = [1, 2, 3, 4], args = [], tags = [], timeout = "long", **kwargs):
    """Stamps the program <name>_<implementation> and its runs <name>_<implementation>_np<N>, one for each number of
    processes."""
    armci_binary(name = name, srcs = srcs, deps = deps, testonly = True, **kwargs)
    for implementation in IMPLEMENTATIONS:
        for np in processes:
            program = "%s_%s" % (name, in_target(implementation))
            native.sh_test(
                name = "%s_np%d" % (program, np),
                srcs = ["//tools:launch"],
                args = ["$(location :%s)" % program, str(np), str(np)] + args,
                data = [":" + program],
                env = {"ARMCI_TEST_MPI": "openmpi"},
                tags = tags + ["mpi", "exclusive", "impl=" + implementation],
                timeout = timeout,
            )
