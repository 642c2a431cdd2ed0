"""A repository around an installed ARMCI that is not ours: its own headers and libraries, for the conformance suite.

It is named by the environment, as in
    bazel build --repo_env=ARMCI_FOREIGN_PREFIX=/usr --repo_env=ARMCI_FOREIGN_LIBS=-larmci //conformance:suite_foreign
    ARMCI_FOREIGN_PREFIX    include/ and lib*/ are below it
    ARMCI_FOREIGN_LIBS      words that link it: -lNAME, -LDIR, files (default: -larmci)
    ARMCI_FOREIGN_COMPILER  wrapper of the MPI library it was built on (default: mpicc)
    ARMCI_FOREIGN_STAMP     any text; a new one has everything looked at again

The classic functions, as the headers of //spec declare them, are all optional. One that the library's headers do not
declare is declared as ours do; one that the library does not define is defined here, and a test that calls it is
skipped with that reason.
"""

load("//third_party/foreign:prototypes.bzl", "parse_prototypes")

# Other names that the tests use, with a stand-in where the headers have none.
_STAND_INS = {
    "ARMCI_MAX_STRIDE_LEVEL": "#define ARMCI_MAX_STRIDE_LEVEL 8",
    "armci_long_long_t": "typedef long long armci_long_long_t;",
    "armci_meminfo_t": "typedef struct { char *armci_addr; char *addr; size_t size; int cpid; long idlist[64]; } " +
                       "armci_meminfo_t;",
}

# The compiler looks there anyway, and much that is not ARMCI's lies there.
_SYSTEM_INCLUDES = ["/usr/include", "/usr/local/include"]

_BUILD = """
cc_library(
    name = "armci",
    srcs = ["missing_functions.cc"] + glob(["archives/*"]),
    hdrs = glob(["wrapper/*.h", "include/**/*.h"]),
    includes = ["wrapper", "include"],
    linkopts = {linkopts},
    alwayslink = True,
    deps = ["@armci//third_party/mpi"],
    visibility = ["//visibility:public"],
)
"""

# Many installed headers are plain C without a word for C++; system headers must be read before that is mended.
_WRAPPER = """
#ifndef FOREIGN_ARMCI_H_
#define FOREIGN_ARMCI_H_
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern "C" {{
#include_next <armci.h>
{more_includes}
/* Names that these headers do not declare. */
{supplements}
}}
#endif
"""

_MISSING = """
extern "C" [[noreturn]] void ConformanceMissingFunction(const char* name);
extern "C" int ConformanceNoteMissingFunction(const char* name);
#define MISSING(name)                                              \\
  extern "C" [[noreturn]] void name() {{ ConformanceMissingFunction(#name); }} \\
  static int name##_noted [[maybe_unused]] = ConformanceNoteMissingFunction(#name);
{calls}
"""

def _installation(ctx):
    """The paths and words from the environment."""
    prefix = ctx.os.environ.get("ARMCI_FOREIGN_PREFIX", "")
    if not prefix:
        fail("set --repo_env=ARMCI_FOREIGN_PREFIX=DIR, or use: tools/armci conformance --prefix DIR")
    include = ctx.path(prefix + "/include")
    if not include.get_child("armci.h").exists:
        fail("there is no {}/armci.h".format(include))
    compiler = ctx.which(ctx.os.environ.get("ARMCI_FOREIGN_COMPILER", "mpicc"))
    if not compiler:
        fail("the compiler wrapper ARMCI_FOREIGN_COMPILER is not on PATH")
    words = [word for word in ctx.os.environ.get("ARMCI_FOREIGN_LIBS", "-larmci").split(" ") if word]
    multiarch = ctx.execute([compiler, "-print-multiarch"]).stdout.strip()
    folders = [prefix + "/lib", prefix + "/lib64"] + ([prefix + "/lib/" + multiarch] if multiarch else [])
    folders = [word[2:] for word in words if word.startswith("-L")] + [f for f in folders if ctx.path(f).exists]
    messages = [name for name in ["armci_message.h", "message.h"] if include.get_child(name).exists]
    return struct(include = include, compiler = compiler, words = words, folders = folders, messages = messages[:1])

def _compile(ctx, installation, name, text, options):
    ctx.file(name, text)
    line = [installation.compiler, name, "-I%s" % installation.include] + options
    return ctx.execute(line, environment = {"LC_ALL": "C"})

def _include_lines(installation):
    return "".join(["#include <%s>\n" % name for name in ["mpi.h", "armci.h"] + installation.messages])

def _macros(ctx, installation, names):
    """Those of `names` that the headers define as macros."""
    text = _include_lines(installation)
    text += "".join(["#ifdef {0}\nis_macro \"{0}\"\n#endif\n".format(name) for name in names])
    result = _compile(ctx, installation, "probe_macros.c", text, ["-E"])
    if result.return_code != 0:
        fail("the headers in {} cannot be read:\n{}".format(installation.include, result.stderr))
    return [line.split("\"")[1] for line in result.stdout.splitlines() if line.startswith("is_macro ")]

def _undeclared(ctx, installation, names):
    """Those of `names` that the headers do not declare."""
    text = _include_lines(installation) + "void *probe[] = {\n"
    text += "".join(["  (void *)%s,\n" % name for name in names]) + "};\n"
    result = _compile(ctx, installation, "probe_declared.c", text, ["-fsyntax-only", "-w"])
    # As GCC and as Clang say it; the rest of a line may suggest other names.
    return [
        name
        for name in names
        if "'%s' undeclared" % name in result.stderr or "undeclared identifier '%s'" % name in result.stderr
    ]

def _undefined(ctx, installation, names):
    """Those of `names` that the library does not define."""
    text = "".join(["extern void %s(void);\n" % name for name in names])
    text += "int main(void) {\n  void *volatile probe[] = {\n"
    text += "".join(["    (void *)%s,\n" % name for name in names]) + "  };\n  return probe[0] == 0;\n}\n"
    options = ["-w", "-o", "probe_defined"] + ["-L" + folder for folder in installation.folders] + installation.words
    result = _compile(ctx, installation, "probe_defined.c", text, options)
    missing = {}
    for line in result.stderr.splitlines():
        if "undefined reference to" in line:
            missing[line.split("undefined reference to")[1].strip(" `'")] = True
    others = [name for name in missing if name not in names]
    if others or (result.return_code != 0 and not missing):
        fail("cannot link with {}:\n{}".format(" ".join(installation.words), result.stderr))
    return [name for name in names if name in missing]

def _link_headers(ctx, installation):
    if str(installation.include) not in _SYSTEM_INCLUDES:
        ctx.symlink(installation.include, "include")
        return
    for path in installation.include.readdir():
        if path.basename.startswith("armci") or path.basename in installation.messages:
            ctx.symlink(path, "include/" + path.basename)

def _link_words(ctx, installation):
    """Archives become files of this repository, so that a new one is noticed; the rest is left to the linker."""
    linkopts = ["-L" + f for f in installation.folders] + ["-Wl,-rpath," + f for f in installation.folders]
    for word in installation.words:
        archive = _archive(ctx, installation.folders, word)
        if archive:
            ctx.symlink(archive, "archives/" + archive.basename)
        elif not word.startswith("-L"):
            linkopts.append(word)
    return linkopts

def _archive(ctx, folders, word):
    if word.endswith(".a") and ctx.path(word).exists:
        return ctx.path(word)
    if not word.startswith("-l"):
        return None
    for folder in folders:
        base = folder + "/lib" + word[2:]
        if ctx.path(base + ".so").exists:
            return None
        if ctx.path(base + ".a").exists:
            return ctx.path(base + ".a")
    return None

def _foreign_armci_impl(ctx):
    installation = _installation(ctx)
    prototypes = {}
    for header in ctx.attr.headers:
        prototypes.update(parse_prototypes(ctx.read(header)))
    names = sorted(prototypes) + sorted(_STAND_INS)
    macros = _macros(ctx, installation, names)
    undeclared = _undeclared(ctx, installation, [name for name in names if name not in macros])
    undefined = _undefined(ctx, installation, [name for name in sorted(prototypes) if name not in macros])
    supplements = [text for name, text in sorted(_STAND_INS.items()) if name in undeclared]
    supplements += [text + ";" for name, text in sorted(prototypes.items()) if name in undeclared]
    ctx.file("wrapper/armci.h", _WRAPPER.format(
        more_includes = "".join(["#include <%s>\n" % name for name in installation.messages]),
        supplements = "\n".join(supplements),
    ))
    if installation.messages != ["armci_message.h"]:
        ctx.file("wrapper/armci_message.h", "#include <armci.h>\n")
    ctx.file("missing_functions.cc", _MISSING.format(calls = "\n".join(["MISSING(%s)" % name for name in undefined])))
    _link_headers(ctx, installation)
    ctx.file("BUILD", _BUILD.format(linkopts = repr(_link_words(ctx, installation))))

foreign_armci_repository = repository_rule(
    implementation = _foreign_armci_impl,
    local = True,
    environ = ["PATH", "ARMCI_FOREIGN_PREFIX", "ARMCI_FOREIGN_LIBS", "ARMCI_FOREIGN_COMPILER", "ARMCI_FOREIGN_STAMP"],
    attrs = {
        "headers": attr.label_list(
            doc = "public headers with the prototypes of the classic functions",
            default = ["@armci//spec:%s.h" % name for name in [
                "armci_atomic",
                "armci_complete",
                "armci_group",
                "armci_memory",
                "armci_start",
                "armci_transfer",
                "message",
            ]],
        ),
    },
)
