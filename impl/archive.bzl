"""One static library of an implementation and everything below it, for programs that are linked without Bazel."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

# The objects become one, in which only what leaves the shared library can be referred to from outside.
_COMMAND = """set -eu
"$LD" -r -o "$OUT.o" --whole-archive {archives}
names=$(sed -n 's/^    \\([A-Za-z][A-Za-z0-9_]*\\);$/\\1/p' "$SYMBOLS")
for name in $names; do echo "$name"; done > "$OUT.names"
"$OBJCOPY" --keep-global-symbols="$OUT.names" "$OUT.o"
rm -f "$OUT"
"$AR" rcD "$OUT" "$OUT.o"
rm "$OUT.o" "$OUT.names"
"""

def _whole_archive_impl(ctx):
    archives = []
    flags = []
    for linked in ctx.attr.library[CcInfo].linking_context.linker_inputs.to_list():
        flags += [flag for flag in linked.user_link_flags if flag not in flags]
        for one in linked.libraries:
            archive = one.pic_static_library or one.static_library
            if archive:
                archives.append(archive)
    out = ctx.actions.declare_file(ctx.attr.name)
    toolchain = find_cpp_toolchain(ctx)
    ctx.actions.run_shell(
        inputs = depset(archives + [ctx.file.symbols], transitive = [toolchain.all_files]),
        outputs = [out],
        command = _COMMAND.format(archives = " ".join(["'%s'" % archive.path for archive in archives])),
        env = {
            "AR": toolchain.ar_executable,
            "LD": toolchain.ld_executable,
            "OBJCOPY": toolchain.objcopy_executable,
            "OUT": out.path,
            "SYMBOLS": ctx.file.symbols.path,
            "PATH": "/usr/bin:/bin",
        },
        mnemonic = "WholeArchive",
    )
    ctx.actions.write(ctx.outputs.flags, "".join([flag + "\n" for flag in flags]))
    return [DefaultInfo(files = depset([out]), runfiles = ctx.runfiles(files = [out]))]

whole_archive = rule(
    implementation = _whole_archive_impl,
    attrs = {
        "flags": attr.output(mandatory = True, doc = "gets what a program is linked with besides, a flag in each line"),
        "library": attr.label(mandatory = True, providers = [CcInfo]),
        "symbols": attr.label(mandatory = True, allow_single_file = True, doc = "version script that lists what stays global"),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
