# A Spack package: put the folder this file is in into a repository of yours as packages/armci-suite/package.py, and set
# `git` to where the sources are.
#
# The recipe has not been run under Spack so far. A test runs it with a stand-in and compares its commands with
# tools/armci. From Spack it takes MPI and the compiler. Bazel and the headers of CLI11, nlohmann-json, libibverbs and
# UCX are the system's: run `tools/armci setup` before (it installs the packages of tools/packages.txt).

import os
import tempfile

from spack.package import *


class ArmciSuite(Package):
    """One-sided communication for distributed arrays: ARMCI with implementations that are chosen at link or load time
    (shared memory, MPI-3 RMA, a two-sided data server, verbs, UCX)."""

    git = "file:///path/to/the/sources"

    version("main", branch="main")

    variant("default", default="mpi-rma", values=("shmem", "mpi-rma", "mpi-twosided", "native-verbs", "ucx"),
            multi=False, description="what -larmci means")

    depends_on("mpi@3:")

    conflicts("%gcc@:9", msg="the sources are C++20")

    def install(self, spec, prefix):
        mpi = spec["mpi"]
        # Every MPI library except Open MPI has MPICH's interface.
        kind = "openmpi" if mpi.name == "openmpi" else "mpich"
        programs = {"mpicc": mpi.mpicc, "mpicxx": mpi.mpicxx, "mpirun": join_path(mpi.prefix.bin, "mpirun"),
                    "mpiexec": join_path(mpi.prefix.bin, "mpiexec")}
        with tempfile.TemporaryDirectory() as folder:
            # The tool knows them by Debian's names. Links would not do: Open MPI's wrappers go by the name they have.
            for name, program in programs.items():
                path = join_path(folder, "%s.%s" % (name, kind))
                with open(path, "w") as wrapper:
                    wrapper.write('#!/bin/sh\nexec "%s" "$@"\n' % program)
                os.chmod(path, 0o755)
            tool = Executable("tools/armci")
            tool.add_default_env("PATH", folder + os.pathsep + os.environ["PATH"])
            # Spack's wrapper of the compiler needs variables that Bazel does not hand on.
            tool.add_default_env("CC", self.compiler.cc)
            tool("install", "--prefix", str(prefix), "--mpi", kind, "--default", spec.variants["default"].value)

    def setup_run_environment(self, env):
        env.prepend_path("PATH", self.prefix.bin)
        env.prepend_path("PKG_CONFIG_PATH", join_path(self.prefix.lib, "pkgconfig"))
