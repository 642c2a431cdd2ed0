#!/usr/bin/env bash
# Whether a library exports what the list says and nothing else, and leaves dlopen room [ABI-1]. Arguments: the list (a
# version script), then libraries, shared or static.
set -euo pipefail

readonly list=$1
shift
readonly work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sed -n 's/^    \([A-Za-z][A-Za-z0-9_]*\);$/\1/p' "$list" | sort > "$work/listed"
# Some implementations wrap more calls of MPI than those that start and end it.
grep -v '^MPI_' "$work/listed" > "$work/required"
printf '%s\n' MPI_Finalize MPI_Init MPI_Init_thread >> "$work/required"
sort -o "$work/required" "$work/required"

status=0
for library in "$@"; do
  dynamic=()
  case "$library" in *.so*) dynamic=(-D) ;; esac
  # Unique symbols (u) are what the C++ library shares between all libraries of a process.
  nm "${dynamic[@]}" --defined-only --extern-only "$library" | awk 'NF == 3 && $2 != "u" { print $3 }' | sort -u \
    > "$work/exported"
  for name in $(comm -13 "$work/listed" "$work/exported"); do
    echo "$library exports $name, which $list does not list"
    status=1
  done
  for name in $(comm -23 "$work/required" "$work/exported"); do
    echo "$library does not export $name, which $list lists"
    status=1
  done
done
# Static TLS: dlopen has about 1,600 bytes of it for all libraries of a process.
readonly tls_bytes_max=256
for library in "$@"; do
  case "$library" in *.so*) ;; *) continue ;; esac
  tls_bytes=$(readelf --segments --wide "$library" | awk '$1 == "TLS" { print $6 }')
  if ((${tls_bytes:-0} > tls_bytes_max)); then
    echo "$library has $((tls_bytes)) bytes of static TLS, more than $tls_bytes_max; see impl/base/thread_block.h"
    status=1
  fi
done
exit "$status"
