# A Spack package: put the folder this file is in into a repository of yours as packages/armci-suite/package.py, and set
# `git` to where the sources are.

from spack.package import *


class ArmciSuite(Package):
    """One-sided communication for distributed arrays: ARMCI with implementations that are chosen at link or load time
    (shared memory, MPI-3 RMA, a two-sided data server, verbs)."""

    git = "file:///path/to/the/sources"

    version("main", branch="main")

    variant("default", default="mpi-rma", values=("shmem", "mpi-rma", "mpi-twosided", "native-verbs"), multi=False,
            description="what -larmci means")

    depends_on("mpi@3:")
    depends_on("bazel@4:5", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("rdma-core")
    depends_on("nlohmann-json", type="build")
    depends_on("cli11", type="build")
    depends_on("pkgconfig", type="build")

    conflicts("%gcc@:9", msg="the sources are C++20")

    def install(self, spec, prefix):
        mpi = "mpich" if "^mpich" in spec or "^mvapich2" in spec else "openmpi"
        Executable("tools/armci")("install", "--prefix", prefix, "--mpi", mpi, "--default", spec.variants["default"].value)

    def setup_run_environment(self, env):
        env.prepend_path("PATH", self.prefix.bin)
        env.prepend_path("PKG_CONFIG_PATH", join_path(self.prefix.lib, "pkgconfig"))
