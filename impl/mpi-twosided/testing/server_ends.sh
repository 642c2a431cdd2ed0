#!/bin/sh
# A job whose server process, or the process that it serves, is killed, or one of whose processes exits, or asks a server
# for memory that is not there, ends, says why, and leaves no server:
#   server_ends LAUNCH PROGRAM server|first|exit|transfer|stale LEVEL thread|process
set -eu

launch=$1
program=$2
killed=$3
level=$4
kind=$5
hang_s=120  # far more than a start takes, sanitized and on a slow machine

fail() {
  printf 'FAILED: %s\n%s\n' "$1" "$text"
  exit 1
}

status=0
text=$(timeout "$hang_s" "$launch" "$program" 4 2 "$killed" "$level" "$kind" 2>&1) || status=$?
case $text in *'starts no processes'*) exit "$status" ;; esac
[ "$status" -ne 0 ] || fail 'the job ends as if nothing had happened'
[ "$status" -ne 124 ] || fail "the job hangs: it has not ended after $hang_s s"
case $text in *UNEXPECTED*) fail 'no process goes on' ;; esac
if [ "$killed" = stale ]; then
  printf '%s\n' "$text" | grep -q 'armci: rank [0-9]*: .*the server refused a request of another process for [0-9]* bytes with address = 0x[0-9a-f]*' ||
    fail 'a line says what was asked for'
else
  case $text in *killing*) ;; *) fail 'the job comes to the point' ;; esac
fi
if [ "$killed" = server ]; then
  printf '%s\n' "$text" | grep -q 'armci: rank [0-9]*: .*the server of node [01], process [0-9]*, died' ||
    fail 'a line says that a server died'
fi
if [ "$killed" = transfer ]; then
  # The launcher's line, of the process that was killed or of one whose connection to it broke.
  printf '%s\n' "$text" | grep -qi 'signal' || fail 'a line says that a process ended by a signal'
fi
servers_left() {
  for line in /proc/[0-9]*/cmdline; do
    if tr '\0' ' ' 2>/dev/null <"$line" | grep -q "^$(readlink -f "$program") armci-server"; then echo "$line"; fi
  done
}

# A server that ends because its process has died needs a moment.
for _ in 1 2 3 4 5 6 7 8 9 10; do
  left=$(servers_left)
  [ -n "$left" ] || exit 0
  sleep 0.2
done
fail "no server is left, but $left"
