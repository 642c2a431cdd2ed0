#!/bin/busybox sh
# The first program of a guest: loads the modules, makes the root file system and hands over to start.sh.
# /config exports what machine.config() says: FOLDER (the guest writes it for the host), TOOLS (has armci_tool), ...
b=/bin/busybox
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
$b mount -t devtmpfs dev /dev
exec </dev/console >/dev/console 2>&1  # there was none before: what the agent says when it fails
while read -r module; do $b insmod "/modules/$module"; done </modules/order
. /config

by_9p='trans=virtio,version=9p2000.L,msize=524288'
$b mkdir -p /host /written /made
$b mount -t 9p -o "ro,$by_9p,cache=loose" root /host || exit 1
$b mount -t tmpfs -o size=60% written /written
$b mkdir /written/upper /written/work
$b mount -t overlay -o lowerdir=/host,upperdir=/written/upper,workdir=/written/work root /made || exit 1
$b mount -t proc proc /made/proc
$b mount -t sysfs sys /made/sys
$b mount -t devtmpfs dev /made/dev
$b mkdir -p /made/dev/shm /made/dev/pts
$b mount -t tmpfs shm /made/dev/shm
$b mount -t devpts pts /made/dev/pts
$b mount -t tmpfs run /made/run
[ -z "$FOLDER" ] || $b mount -t 9p -o "rw,$by_9p,cache=mmap" folder "/made$FOLDER" || exit 1
while [ ! -c /dev/vport0p1 ]; do $b sleep 0.05; done  # the channel of the agent
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin PYTHONPATH="$TOOLS"
exec $b switch_root /made /bin/sh "$TOOLS/armci_tool/rdma/start.sh"
