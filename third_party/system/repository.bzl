"""A repository around a library that the system's packages installed under /usr."""

_BUILD = """
cc_library(
    name = "{name}",
    hdrs = glob(["include/**"]),
    includes = ["include"],
    linkopts = {linkopts},
    visibility = ["//visibility:public"],
)
"""

def _find(ctx, header):
    # Headers that differ between architectures are in a folder named after the architecture.
    root = ctx.path("/usr/include")
    folders = [root] + [folder for folder in root.readdir() if "-linux-" in folder.basename]
    for folder in folders:
        source = folder.get_child(header)
        if source.exists:
            return source
    return fail("/usr/include/{} not found: run tools/armci setup, or install {}".format(header, ctx.attr.package))

def _system_library_impl(ctx):
    for header in ctx.attr.headers:
        ctx.symlink(_find(ctx, header), "include/" + header)
    linkopts = ["-l" + library for library in ctx.attr.libraries] + ["-pthread"]
    ctx.file("BUILD", _BUILD.format(name = ctx.name, linkopts = repr(linkopts)))

system_library = repository_rule(
    implementation = _system_library_impl,
    local = True,
    attrs = {
        "headers": attr.string_list(doc = "folders and files of /usr/include"),
        "libraries": attr.string_list(doc = "link names"),
        "package": attr.string(mandatory = True, doc = "Debian packages that bring it"),
    },
)
