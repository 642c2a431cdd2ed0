"""Puts headers, libraries, descriptions for other build systems, commands and manual pages into a folder, and takes
them away again.

    PREFIX/include/                    armci.h and its other headers, the same for all implementations
    PREFIX/lib/armci/IMPL/             libarmci.so.1, libarmci.so, libarmci.a
    PREFIX/lib/armci/                  libarmci-prof.so, which armci-prof puts before them
    PREFIX/lib/                        libarmci.so.1, libarmci.so, libarmci.a: links to the default implementation
    PREFIX/lib/pkgconfig/              armci.pc, armci-IMPL.pc, armci-IMPL-static.pc
    PREFIX/lib/cmake/ARMCI/            find_package(ARMCI)
    PREFIX/bin/                        armci_info, armci-run, armci-prof
    PREFIX/share/man/                  armci(7), armci_info(1), armci-run(1), armci-prof(1)
    PREFIX/share/armci/                which MPI library, and the list of all that is here

Everything in it finds the rest from where it is itself, so the folder can be moved.
"""
