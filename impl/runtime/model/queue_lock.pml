/* The queue of a mutex between processes (impl/runtime/runtime_mutex_queue.h): a model for spin.
 *
 *   process                 host                     process behind
 *   swap -----------------> tail
 *                                    <-------------- swap
 *                           next of this process <-- link, much later perhaps
 *   grant ------------------------------------------> granted
 *   or clear -------------> tail, if no process is behind, and a note in the own `next`
 *
 * Each of the PROCESSES locks and unlocks the mutex TURNS times, or tries to lock it. Every access to a word of another
 * process is a step of its own. Signals of a process to the host arrive in order, any time later, but before its next
 * swap or try; a grant arrives any time later.
 *
 * Words are turn * 8 + rank + 1, or turn * 8 + RELEASED; 0: no process.
 *
 * Checked: one holder at a time, no deadlock (a process that is never granted), and the tail empty at the end.
 *
 * Faults on purpose, each of which a check has to find:
 *
 *   ONE_NEXT      a process has one `next` for all its turns: a late successor and an early one meet there
 *   NO_NOTE       a holder that leaves without a successor leaves no note
 *   ANY_NOTE      a successor takes the note of any turn for that of its predecessor
 *   BLIND_CLEAR   the signal of an unlock clears the tail whatever it holds
 *
 * Run: tools/armci test --only models. By hand, in an empty folder, with -D as wanted:
 *
 *   spin -a .../queue_lock.pml && gcc -O2 -DSAFETY -DCOLLAPSE -o pan pan.c && ./pan -m1000000
 *   spin -k queue_lock.pml.trail -p -g .../queue_lock.pml        the way to an error
 */
#ifndef PROCESSES
#define PROCESSES 3
#endif
#ifndef TURNS
#define TURNS 3
#endif

#define RELEASED 7
#define WORD(turn, rank) ((turn) * 8 + (rank) + 1)
#define TURN(word) ((word) / 8)
#define RANK(word) ((word) % 8 - 1)
#ifdef ONE_NEXT
#define NEXT(rank, turn) next[(rank) * 2]
#else
#define NEXT(rank, turn) next[(rank) * 2 + (turn) % 2]
#endif

#ifdef ANY_NOTE
#define IS_NOTE(word, of_turn) ((word) % 8 == RELEASED)
#else
#define IS_NOTE(word, of_turn) ((word) == (of_turn) * 8 + RELEASED)
#endif

byte tail = 0;
byte next[PROCESSES * 2];
byte granted[PROCESSES];
byte holders = 0;
byte ended = 0;
/* Signals under way. */
chan to_host[PROCESSES] = [TURNS] of {byte};
chan to_next[PROCESSES] = [1] of {byte, byte};

/* Executes the signals of one process. */
active [PROCESSES] proctype Network() {
  byte word, rank;
end:
  do
    :: atomic {
         to_host[_pid]?word ->
#ifdef BLIND_CLEAR
         tail = 0
#else
         if
           :: tail == word -> tail = 0
           :: else
         fi
#endif
       }
    :: atomic { to_next[_pid]?rank, word -> granted[rank] = word }
  od
}

proctype Process(byte me) {
  byte turn = 0;
  byte ahead, before, link, rounds;
  for (rounds : 1 .. TURNS) {
    if
      :: atomic { empty(to_host[me]) -> ahead = tail; tail = WORD(turn, me) };
         if
           :: ahead != 0 ->
              atomic { before = NEXT(RANK(ahead), TURN(ahead));
                       NEXT(RANK(ahead), TURN(ahead)) = WORD(TURN(ahead), me) };
              if
                :: IS_NOTE(before, TURN(ahead))
                :: else -> granted[me] == ahead
              fi
           :: else
         fi
      :: atomic { empty(to_host[me]) ->
                  if
                    :: tail == 0 -> tail = WORD(turn, me); ahead = 0
                    :: else -> ahead = 255
                  fi };
         if
           :: ahead == 255 -> goto over /* a try that fails takes no turn */
           :: else
         fi
    fi;
    holders++;
    assert(holders == 1);
    holders--;
    link = NEXT(me, turn);
    if
      :: TURN(link) == turn && link % 8 != RELEASED && link % 8 != 0
      :: else ->
         to_host[me]!WORD(turn, me);
#ifdef NO_NOTE
         skip
#else
         do
           :: atomic { NEXT(me, turn) == link -> NEXT(me, turn) = turn * 8 + RELEASED; break }
           :: else -> link = NEXT(me, turn);
              if
                :: TURN(link) == turn && link % 8 != RELEASED && link % 8 != 0 -> break
                :: else
              fi
         od
#endif
    fi;
    if
      :: TURN(link) == turn && link % 8 != RELEASED && link % 8 != 0 -> to_next[me]!RANK(link), WORD(turn, me)
      :: else
    fi;
    turn++;
  over:
    ahead = 0
  }
  ended++
}

init {
  byte p;
  atomic {
    for (p : 0 .. PROCESSES - 1) { run Process(p) }
  };
  ended == PROCESSES;
  byte left = PROCESSES;
  for (p : 0 .. PROCESSES - 1) { empty(to_host[p]) };
  assert(tail == 0)
}
