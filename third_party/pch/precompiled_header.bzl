"""A header that is compiled once, for the many sources that begin with the same includes."""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "ACTION_NAMES")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

# Test code is checked, not timed: to optimise it costs more than it saves.
TEST_OPTIMISATION = select({
    "//third_party/pch:optimised": ["-O1"],
    "//conditions:default": ["-O0"],
})

def use_precompiled(label):
    """Copts of sources that have the precompiled_header `label`, as //package:name, in their deps."""
    return ["-include", "$(BINDIR)/%s.h" % label.replace("//", "").replace(":", "/"), "-Winvalid-pch"]

def _precompiled_header_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    infos = [dep[CcInfo] for dep in ctx.attr.deps]
    context = cc_common.merge_cc_infos(cc_infos = infos).compilation_context
    # Only this: the compiler that cannot use it finds no header of that name either, and says so.
    out = ctx.actions.declare_file(ctx.label.name + ".h.gch")
    options = ctx.fragments.cpp
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        source_file = ctx.file.hdr.path,
        output_file = out.path,
        user_compile_flags = options.copts + options.cxxopts + ctx.attr.copts + ["-x", "c++-header"],
        include_directories = context.includes,
        quote_include_directories = context.quote_includes,
        system_include_directories = context.system_includes,
        preprocessor_defines = context.defines,
        use_pic = True,
    )
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(
            feature_configuration = features,
            action_name = ACTION_NAMES.cpp_compile,
        ),
        arguments = cc_common.get_memory_inefficient_command_line(
            feature_configuration = features,
            action_name = ACTION_NAMES.cpp_compile,
            variables = variables,
        ),
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = ACTION_NAMES.cpp_compile,
            variables = variables,
        ),
        inputs = depset([ctx.file.hdr] + ctx.files.compiler, transitive = [context.headers, toolchain.all_files]),
        outputs = [out],
        mnemonic = "CppPrecompile",
        progress_message = "Precompiling " + ctx.file.hdr.short_path,
    )
    own = CcInfo(compilation_context = cc_common.create_compilation_context(headers = depset([ctx.file.hdr, out])))
    return [DefaultInfo(files = depset([out])), cc_common.merge_cc_infos(cc_infos = [own] + infos)]

precompiled_header = rule(
    implementation = _precompiled_header_impl,
    attrs = {
        "compiler": attr.label(allow_files = True, doc = "changes with the compiler, which refuses what another one made"),
        "copts": attr.string_list(doc = "of the sources that use it"),
        "deps": attr.label_list(providers = [CcInfo]),
        "hdr": attr.label(mandatory = True, allow_single_file = True),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
