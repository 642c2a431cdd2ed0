"""Guests: machines made by QEMU that have a verbs device (rdma_rxe), for commands to run on.

    this machine                                      guest
      tools/armci rdma (machine.py)                     kernel: Debian's package, unpacked and not installed (kernel.py)
        QEMU, dies with the tool                        init.sh: from memory; mounts /
          /            read-only, by 9p  ------------>  start.sh: makes the network (network.py) and the verbs device
          the folder it was started in, by 9p  ------>  the same, what is written there is written here
          a socket     <--- channel.py --->             agent.py: runs commands (commands.py sends them)

What a command writes elsewhere goes to the guest's memory. Nothing of a guest stays: no file, process or device. With
--keep a keeper (keeper.py, session.py) has guests for later commands; it ends when no tool has come for a while.

Guests can be the nodes of an MPI job (nodes.py), whose launcher reaches the second by shell.py. agent.py, shell.py and
what they import run in a guest, without the packages of Python: they use the standard library alone.
"""
