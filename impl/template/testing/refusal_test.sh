#!/bin/sh
# refusal_test.sh LAUNCH PROGRAM PROCESSES: a job of a port in which nothing is written yet ends with the sentence that says
# so, and with the status that the program gives it.
set -u

said=$("$1" "$2" "$3" "$3" 2>&1)
status=$?
echo "$said"
sentence="initialise of the port template is not implemented; write it in impl/template/transport.cc, it belongs to level 1"
case $said in
  *ARMCI_Init*"$sentence"*) ;;
  *)
    echo "FAILED: the sentence is missing: $sentence"
    exit 1
    ;;
esac
if [ "$status" -ne 3 ]; then
  echo "FAILED: status $status, not the program's 3"
  exit 1
fi
