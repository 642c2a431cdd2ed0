"""A repository around an installed MPI library, found by asking its compiler wrapper."""

_BUILD = """
cc_library(
    name = "mpi",
    hdrs = glob(["include*/**/*.h"]),
    defines = ["OMPI_SKIP_MPICXX", "MPICH_SKIP_MPICXX"],
    includes = {includes},
    linkopts = {linkopts},
    visibility = ["//visibility:public"],
)
"""

def _flags(ctx, compiler):
    # Open MPI answers -showme, MPICH -show; both print the plain compiler line.
    for option in ["-show", "-showme"]:
        result = ctx.execute([compiler, option])
        if result.return_code == 0 and "-l" in result.stdout:
            return [flag for flag in result.stdout.strip().split(" ") if flag]
    fail("{} does not print its compile line: {}".format(compiler, result.stderr))

def _mpi_repository_impl(ctx):
    compiler = ctx.which(ctx.attr.compiler)
    if not compiler:
        fail("{} not found: run tools/armci setup, or install {}".format(ctx.attr.compiler, ctx.attr.package))
    flags = _flags(ctx, compiler)
    includes = []
    linkopts = []
    for flag in flags:
        if flag.startswith("-I") and not [i for i in flags if i != flag and i.startswith("-I") and flag.startswith(i + "/")]:
            name = "include%d" % len(includes)
            ctx.symlink(flag[2:], name)
            includes.append(name)
        elif flag.startswith("-L") or flag.startswith("-l"):
            linkopts.append(flag)
    ctx.file("BUILD", _BUILD.format(includes = repr(includes), linkopts = repr(linkopts)))

mpi_repository = repository_rule(
    implementation = _mpi_repository_impl,
    local = True,
    environ = ["PATH"],
    attrs = {
        "compiler": attr.string(mandatory = True, doc = "the wrapper that knows the library's flags"),
        "package": attr.string(mandatory = True, doc = "Debian packages that bring it"),
    },
)
