#!/bin/sh
# armci_info shows what a library goes around, as text and as JSON:  info_findings.sh LAUNCH PROGRAM
set -eu

launch=$1
program=$2

expect() {  # WHAT PATTERN TEXT
  if ! printf '%s\n' "$3" | grep -q -e "$2"; then
    printf 'FAILED: %s: no line with "%s" in\n%s\n' "$1" "$2" "$3"
    exit 1
  fi
}

# Every MPI library that is known makes progress in its own calls only.
text=$("$launch" "$program" 2 1)
expect 'two nodes' '^faults of the layer below that this run goes around$' "$text"
expect 'two nodes' '^  passive-progress: ' "$text"
expect 'two nodes' '^    Instead: A progress thread' "$text"
json=$("$launch" "$program" 2 1 --json)
expect 'JSON' '"name": "passive-progress"' "$json"

# A job on one node asks nothing of MPI.
text=$("$launch" "$program" 2 2)
expect 'one node' '^faults of the layer below that this run goes around: none$' "$text"
