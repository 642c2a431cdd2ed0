/* Counts on demand: when a server reports to a process how many of its requests are executed. A model for spin.
 *
 *   client ----request---> server    each request wants the count, or is a signal, which does not
 *          <----count-----           of all requests up to here that are executed
 *
 * The server reports the count once a request that wants it is executed, and all before it; or once signals hold most of
 * the client's credits. A client that fences behind a signal requests the count: that request wants it, and does
 * nothing else.
 *
 * One client and one server. The server takes requests in their order. They end in any order, since another server of the
 * cluster may execute them. A count may wait for any time, on its way and before the client reads it.
 *
 * Checked: no deadlock, and the promise of a fence.
 *
 * Faults on purpose, each of which a check has to find:
 *
 *   NO_REQUEST    a fence behind a signal waits without a request for the count
 *   ALL_CREDITS   the server waits for more signals than there are credits
 *   FORGETFUL     the server reports the count when a request that wants it ends, and not again when an earlier one does
 *   EARLY_COUNT   a request counts when the server has taken it
 *
 * Run: tools/armci test --only models.
 */

#ifndef CREDITS
#define CREDITS 4
#endif
#ifndef REQUESTS
#define REQUESTS 6
#endif
#ifdef ALL_CREDITS
#define HELD (CREDITS + 1)
#else
#define HELD (CREDITS - CREDITS / 4)
#endif
#define BIT(n) (1 << (n))
#define MAX(a, b) ((a) > (b) -> (a) : (b))

/* Sequence numbers. */
byte sent, taken; /* the last request that the client has sent, and that the server has taken */
byte executed;    /* the last request that has ended, as have all before it */
byte reported;    /* the last request of the last count */
byte wanted;      /* the last request that wants the count, of those taken */
byte counted;     /* the last request that wants the count, of those sent */
byte known;       /* the last request that the client knows to be executed */
int wants;        /* a bit for each request that wants the count */
int ended;        /* a bit for each request that has ended */
bool is_due;      /* FORGETFUL only */
chan counts = [CREDITS] of { byte };

#ifdef FORGETFUL
#define DUE (is_due || executed - reported >= HELD)
#else
#define DUE (executed > reported && (wanted > reported || executed - reported >= HELD))
#endif

inline end_request(n) {
  ended = ended | BIT(n);
  do
  :: executed < taken && (ended & BIT(executed + 1)) != 0 -> executed++
  :: else -> break
  od;
#ifdef FORGETFUL
  if
  :: (wants & BIT(n)) != 0 -> is_due = true
  :: else -> skip
  fi
#endif
}

proctype Server() {
  byte n;
end:
  do
  :: atomic {
       taken < sent -> taken++;
#ifdef EARLY_COUNT
       executed = taken;
#endif
       if
       :: (wants & BIT(taken)) != 0 -> wanted = taken
       :: else -> skip
       fi
     }
  :: atomic {
       executed < taken -> n = executed + 1;
       do /* one of those that have not ended */
       :: n < taken -> n++
       :: (ended & BIT(n)) == 0 -> end_request(n); break
       :: n == taken && (ended & BIT(n)) != 0 -> break
       od;
       n = 0
     }
  :: atomic { DUE -> counts!executed; reported = executed; is_due = false }
  od
}

inline send(does_want) {
  atomic {
    sent - known < CREDITS -> sent++;
    if
    :: does_want -> wants = wants | BIT(sent); counted = sent
    :: else -> skip
    fi
  }
}

inline fence() {
  last = sent;
#ifdef NO_REQUEST
  skip;
#else
  if
  :: last > MAX(counted, known) -> send(true)
  :: else -> skip
  fi;
#endif
  atomic {
    known >= last ->
    i = 1;
    do
    :: i <= last -> assert((ended & BIT(i)) != 0); i++
    :: else -> break
    od;
    i = 0; last = 0
  }
}

proctype TakeCounts() {
  byte count;
end:
  do
  :: atomic { counts?count -> known = MAX(count, known); assert(known <= sent); count = 0 }
  od
}

proctype Client() {
  byte i, last, requests;
  do
  :: requests == REQUESTS -> break
  :: requests < REQUESTS ->
     requests++;
     if
     :: send(true)
     :: send(false)
     fi;
     if
     :: fence()
     :: skip
     fi
  od;
  fence()
}

init {
  atomic {
    run Server();
    run TakeCounts();
    run Client()
  }
}
