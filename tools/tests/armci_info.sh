#!/bin/sh
# armci_info shows what a library avoids and what it chose, as text and as JSON:  armci_info.sh LAUNCH RMA UCX
set -eu

launch=$1
program=$2
ucx=$3

expect() {  # WHAT PATTERN TEXT
  if ! printf '%s\n' "$3" | grep -q -e "$2"; then
    printf 'FAILED: %s: no line with "%s" in\n%s\n' "$1" "$2" "$3"
    exit 1
  fi
}

# Every MPI library that is known makes progress in its own calls only.
text=$("$launch" "$program" 2 1)
expect 'two nodes' '^faults of the layer below that this run avoids$' "$text"
expect 'two nodes' '^  passive-progress: ' "$text"
expect 'two nodes' '^    Instead: A progress thread' "$text"
json=$("$launch" "$program" 2 1 --json)
expect 'JSON' '"name": "passive-progress"' "$json"

# armci_info prints what a library chose as well.
text=$("$launch" "$program" 2 1)
expect 'choices' '^chosen between nodes$' "$text"
expect 'choices' '^  synchronisation: ' "$text"
expect 'choices in JSON' '"synchronisation": ' "$json"
text=$("$launch" "$ucx" 2 1)
expect 'ucx' '^  transports of UCX: [a-z]' "$text"
# Without a transport to the other node there is a sentence that says what to set. MPICH is above UCX itself, and does
# not start then.
if ! ldd "$ucx" | grep -q libmpich.so; then
  if text=$(UCX_TLS=self "$launch" "$ucx" 2 1 2>&1); then
    echo 'FAILED: UCX without a transport is taken'
    exit 1
  fi
  expect 'no transport' 'ARMCI_Init: .*give UCX_TLS' "$text"
fi
text=$("$launch" "$ucx" 2 2)
expect 'ucx on one node' '^chosen between nodes: nothing$' "$text"

# A job on one node asks nothing of MPI.
text=$("$launch" "$program" 2 2)
expect 'one node' '^faults of the layer below that this run avoids: none$' "$text"
