"""A guest: a machine made by QEMU that has a verbs device (rdma_rxe), for commands to run on.

    this machine                                      guest
      tools/armci rdma                                  kernel: Debian's package, unpacked and not installed
        QEMU, dies with the tool                        init.sh: from memory; mounts / and starts the agent
          /            read-only, by 9p  ------------>  / , what is written goes to the guest's memory
          the folder it was started in, by 9p  ------>  the same, what is written there is written here
          a socket     <--- channel.py --->             agent.py: makes the device, runs commands

Nothing of it stays: no file, process or device, but with --keep the guests themselves, which end when nobody has used
them for a while.

    kernel.py    the kernel and its modules: fetched once, kept in the user's cache
    machine.py   QEMU's command line; a guest from its start to its end
    channel.py   frames of bytes between here and the agent
    commands.py  a command through a channel, from its start to its end
    agent.py     in the guest
    session.py   guests that are kept for later commands
"""
