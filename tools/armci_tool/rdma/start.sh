#!/bin/sh
# In a guest, process 1 once there is a root file system: makes the network and the verbs device, then runs the agent.
# However it ends, the guest powers off. It prints its commands on the console: the last words of a guest that fails.
trap '/bin/busybox poweroff -f' EXIT
set -ex
hostname "$GUEST"
ip link set lo up
if [ "$UNDER" = rdma0 ]; then
  ip link add rdma0 mtu "$MTU" type veth peer name rdma1
  ip link set rdma1 up mtu "$MTU"
fi
ip address add "$ADDRESS/24" dev "$UNDER"
ip link set "$UNDER" up mtu "$MTU"
rdma link add rxe0 type rxe netdev "$UNDER"
printf '%s' "$HOSTS" >/etc/hosts
ulimit -l unlimited
/usr/bin/python3 -B -S -m armci_tool.rdma.agent
