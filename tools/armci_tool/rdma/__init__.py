"""Guests: machines made by QEMU that have a verbs device (rdma_rxe), for commands to run on.

    this machine                                      guest
      tools/armci rdma                                  kernel: Debian's package, unpacked and not installed
        QEMU, dies with the tool                        init.sh: from memory; mounts / and starts the agent
          /            read-only, by 9p  ------------>  / , what is written goes to the guest's memory
          the folder it was started in, by 9p  ------>  the same, what is written there is written here
          a socket     <--- channel.py --->             agent.py: makes the device, runs commands

Two of them have a network between them (network.py): commands run in the first, and may run others in the second.

Nothing of them stays: no file, process or device, but with --keep the guests themselves, which end when nobody has used
them for a while.

    kernel.py      the kernel and its modules: fetched once, kept in the user's cache
    machine.py     QEMU's command line; guests from their start to their end
    network.py     names and addresses, of the network between guests too
    nodes.py       guests as the nodes of an MPI job
    channel.py     frames of bytes between here and the agent
    commands.py    a command through a channel, from its start to its end
    session.py     guests that are kept for later commands: asking for them
    keeper.py      the process that has them; kept.py: its folder

  in a guest
    agent.py       serves the channel; device.py: the verbs device
    execution.py   one command; tidy.py: what it has left behind
    neighbours.py  what guests ask of each other; shell.py: in place of ssh
"""
