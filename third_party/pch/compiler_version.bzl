"""A repository with a file that changes when the compiler does."""

def _compiler_version_impl(ctx):
    compiler = ctx.os.environ.get("CC", "gcc")
    result = ctx.execute([compiler, "--version"])
    if result.return_code != 0:
        fail("{} --version failed: {}".format(compiler, result.stderr))
    ctx.file("version", result.stdout)
    ctx.file("BUILD", "exports_files([\"version\"])\n")

compiler_version = repository_rule(
    implementation = _compiler_version_impl,
    local = True,
    environ = ["CC", "PATH"],
)
