"""The ports whose sources have mutants. tools/armci_tool/mutants.py reads the names."""

# sources: the sources of the port with mutants. engine: whether those of the engine run on the port too. libraries: the
# libraries that the sources need.
PORTS = {
    "mpi-rma": struct(
        sources = [
            "held_stores",
            "message_mutexes",
            "noncontiguous",
            "overlap",
            "products",
            "progress",
            "signal_channel",
            "sync",
            "sync_epochless",
            "sync_exclusive",
            "transport",
            "transport_signals",
        ],
        engine = False,
        libraries = [],
    ),
    "mpi-twosided": struct(
        sources = [
            "client_wire",
            "server_wire",
        ],
        engine = True,
        libraries = [],
    ),
    "native-verbs": struct(
        sources = [
            "client_rdma",
            "client_wire",
            "link",
            "neighbours",
            "registrations",
            "server_calls",
            "server_wire",
        ],
        engine = False,
        libraries = ["@ibverbs"],
    ),
    "ucx": struct(
        sources = [
            "client_rdma",
            "client_wire",
            "server_wire",
            "worker",
        ],
        engine = True,
        libraries = ["@ucx"],
    ),
}
