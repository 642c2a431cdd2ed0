/* The waiting of servers of a cluster that forward requests to each other: a model for spin.
 *
 *   client ----request---> entry server ---forward-----------> target    put, get; the data of a long put
 *          <----count-----              <---acknowledgement---            go straight to the target, the reply
 *          <-------------------reply--------------------------            to a get straight to the client
 *
 * One cluster of SERVERS servers and CLIENTS processes of other nodes. Client c has one entry server for the whole
 * cluster, ENTRY(c). These are bounded:
 *
 *   request buffers   CREDITS of each client at its entry server; a client sends nothing without a credit
 *   forward buffers   FORWARDS of each other server of the cluster; a server forwards nothing without one
 *   chunks            CHUNKS of a server, for the data of long puts of all clients, in the order in which the requests
 *                     arrived
 *
 * A buffer is posted again after its request was executed. The target posts its buffer at once. The entry server posts
 * its buffer when the acknowledgement arrives, and then counts the request. Each count gives the client a credit. So a
 * client that has all its credits again has been served, and a fence is no message.
 *
 * Names below: `credits` are what the counts have given back, `acknowledgements` are those of forwarded requests, `answers`
 * are replies.
 *
 * Modelled as they are: the order of messages between two processes, posted buffers, queues. A client sends any puts,
 * long puts and gets to any targets, waits for each or does not, and fences after any. A step of a server takes one
 * message to its end: the server sends without waiting. Each source of messages has a process of its own here. So spin
 * tries every order of polling the sources and, with weak fairness, gives each source its turn.
 *
 * Left out are the data, and the moment at which a client reads a count that has arrived. Counts on demand are left out
 * too (counts.pml), and wires that deliver messages in another order. For these the engine restores the order of requests
 * by their sequence, and keeps an early request until its predecessors have arrived (impl/engine/server.h).
 *
 * Checked: assertions (no message without a posted buffer, the order of one client's requests at one target, the
 * promise of a fence, pools never too full), no deadlock, and, with WATCHED, that this client ends or, ENDLESS, is
 * served again and again.
 *
 * Faults on purpose, each of which a check has to find:
 *
 *   SHARED_POOL     forwarded requests take the buffers of clients: two servers wait for each other's
 *   EARLY_CREDITS   a request counts when the server has received it, not when the server has executed it
 *   HELD_CREDITS    counts are held back until half of the credits are due: a fence waits for one that never comes
 *   ANY_CHUNK       chunks are not given in the order of requests: the first waits for one that a later one has
 *   UNORDERED       a server forwards a waiting request before those that have waited longer
 *
 * Run: tools/armci test --only models. By hand, in an empty folder, with -D as wanted:
 *
 *   spin -DREQUESTS=2 -a .../flow_control.pml && gcc -O2 -DSAFETY -DCOLLAPSE -o pan pan.c && ./pan
 *   spin -DREQUESTS=2 -k flow_control.pml.trail -p -g .../flow_control.pml        the way to an error
 */

#ifndef SERVERS
#define SERVERS 2
#endif
#ifndef CLIENTS
#define CLIENTS 2
#endif
#ifndef CREDITS
#define CREDITS 2
#endif
#ifndef FORWARDS
#define FORWARDS 1
#endif
#ifndef CHUNKS
#define CHUNKS 1
#endif
#ifndef REQUESTS
#define REQUESTS 3 /* of each client; ENDLESS: in each round */
#endif

#define ENTRY(c) ((c) % SERVERS)
#define ENTERED_AT(s) ((CLIENTS + SERVERS - 1 - (s)) / SERVERS) /* clients */
#define LINK(e, t) ((e) * SERVERS + (t))
#define PAIR(t, c) ((t) * CLIENTS + (c))
#define ROOM (CLIENTS * CREDITS)
#ifdef SHARED_POOL
#define FORWARD_ROOM ROOM
#else
#define FORWARD_ROOM FORWARDS
#endif

/* Numbers of one client's requests to one target: one more than can be under way. A bit of a byte stands for each. */
#define NEXT(n) (((n) + 1) % (CREDITS + 1))
#define BIT(n) (1 << (n))

#define PUT 0
#define LONG_PUT 1
#define GET 2

/* Messages under way. */
chan requests[SERVERS] = [ROOM] of { byte, byte, byte, byte }; /* client, target, kind, number */
chan forwards[SERVERS * SERVERS] = [FORWARD_ROOM] of { byte, byte, byte }; /* client, kind, number */
chan acknowledgements[SERVERS * SERVERS] = [FORWARD_ROOM] of { byte };
byte data_sent[SERVERS * CLIENTS]; /* a bit for each long put: its data are offered, and take no memory */
byte answers[CLIENTS];
byte credits[CLIENTS];

/* Servers. */
byte posted[SERVERS]; /* request buffers */
byte forward_posted[SERVERS * SERVERS];
byte forward_credits[SERVERS * SERVERS];
chan waiting[SERVERS * SERVERS] = [ROOM] of { byte, byte, byte }; /* for forward credits */
chan queue[SERVERS * CLIENTS] = [CREDITS] of { byte, byte }; /* at the target: kind, number */
byte chunks[SERVERS];
chan chunk_wanted[SERVERS] = [ROOM] of { byte, byte }; /* client, number */
byte has_chunk[SERVERS * CLIENTS]; /* a bit for each long put */
byte has_data[SERVERS * CLIENTS];
byte executed[SERVERS * CLIENTS]; /* number of the next one */
#ifdef HELD_CREDITS
byte owed[CLIENTS];
#endif

/* Clients. */
byte issued[SERVERS * CLIENTS];
bool served_now[CLIENTS];

hidden byte c2, k2, n2;

inline give_chunks(t) {
  do
  :: chunks[t] > 0 && len(chunk_wanted[t]) > 0 ->
#ifdef ANY_CHUNK
     if /* the last instead of the first */
     :: len(chunk_wanted[t]) == 2 -> chunk_wanted[t]?c2, n2; chunk_wanted[t]!c2, n2
     :: else -> skip
     fi;
#endif
     chunk_wanted[t]?c2, n2;
     chunks[t]--;
     has_chunk[PAIR(t, c2)] = has_chunk[PAIR(t, c2)] | BIT(n2)
  :: else -> break
  od;
  c2 = 0; n2 = 0
}

inline return_credit(c) {
#ifdef EARLY_CREDITS
  skip
#else
#ifdef HELD_CREDITS
  owed[c]++;
  if
  :: 2 * owed[c] >= CREDITS -> credits[c] = credits[c] + owed[c]; owed[c] = 0
  :: else -> skip
  fi;
#else
  credits[c]++;
#endif
  assert(credits[c] <= CREDITS)
#endif
}

/* The buffer is posted before the message that says so. */
inline release(t, c) {
  if
  :: ENTRY(c) == t ->
     posted[t]++;
     return_credit(c)
  :: else ->
#ifdef SHARED_POOL
     posted[t]++;
#else
     forward_posted[LINK(ENTRY(c), t)]++;
     assert(forward_posted[LINK(ENTRY(c), t)] <= FORWARDS);
#endif
     acknowledgements[LINK(ENTRY(c), t)]!c
  fi
}

/* Executes what can be of one client's requests, in their order. */
inline execute(t, c) {
  do
  :: len(queue[PAIR(t, c)]) > 0 ->
     queue[PAIR(t, c)]?<k2, n2>;
     if
     :: k2 == LONG_PUT && (has_data[PAIR(t, c)] & BIT(n2)) == 0 -> break
     :: else -> skip
     fi;
     queue[PAIR(t, c)]?k2, n2;
     assert(n2 == executed[PAIR(t, c)]); /* in the order of sending */
     executed[PAIR(t, c)] = NEXT(n2);
     if
     :: k2 == PUT -> skip
     :: k2 == GET -> answers[c]++
     :: k2 == LONG_PUT ->
        has_data[PAIR(t, c)] = has_data[PAIR(t, c)] & ~BIT(n2);
        has_chunk[PAIR(t, c)] = has_chunk[PAIR(t, c)] & ~BIT(n2);
        chunks[t]++;
        assert(chunks[t] <= CHUNKS);
        give_chunks(t)
     fi;
     release(t, c)
  :: else -> break
  od;
  k2 = 0; n2 = 0
}

/* A request has come to its target. */
inline arrive(t, c, k, n) {
  queue[PAIR(t, c)]!k, n;
  if
  :: k == LONG_PUT -> chunk_wanted[t]!c, n; give_chunks(t)
  :: else -> skip
  fi;
  execute(t, c)
}

inline send_on(e, t, c, k, n) {
#ifndef SHARED_POOL
  forward_credits[LINK(e, t)]--;
  assert(len(forwards[LINK(e, t)]) < forward_posted[LINK(e, t)]);
#endif
  forwards[LINK(e, t)]!c, k, n
}

inline forward(e, t, c, k, n) {
#ifdef SHARED_POOL
  send_on(e, t, c, k, n)
#else
  if
  :: forward_credits[LINK(e, t)] > 0 ->
     assert(len(waiting[LINK(e, t)]) == 0);
     send_on(e, t, c, k, n)
  :: else -> waiting[LINK(e, t)]!c, k, n
  fi
#endif
}

proctype TakeRequests(byte s) {
  byte c, t, k, n;
end:
  do
  :: d_step {
       len(requests[s]) > 0 && posted[s] > 0 ->
       requests[s]?c, t, k, n;
       posted[s]--;
#ifdef EARLY_CREDITS
       credits[c]++;
#endif
       if
       :: s == t -> arrive(t, c, k, n)
       :: else -> forward(s, t, c, k, n)
       fi;
       c = 0; t = 0; k = 0; n = 0
     }
  od
}

proctype TakeForwards(byte e, t) {
  byte c, k, n;
end:
  do
  :: d_step {
#ifdef SHARED_POOL
       len(forwards[LINK(e, t)]) > 0 && posted[t] > 0 ->
       posted[t]--;
#else
       len(forwards[LINK(e, t)]) > 0 ->
       forward_posted[LINK(e, t)]--;
#endif
       forwards[LINK(e, t)]?c, k, n;
       arrive(t, c, k, n);
       c = 0; k = 0; n = 0
     }
  od
}

proctype TakeAcks(byte e, t) {
  byte c, k, n;
end:
  do
  :: d_step {
       acknowledgements[LINK(e, t)]?c ->
       posted[e]++;
       assert(posted[e] <= ENTERED_AT(e) * CREDITS);
       return_credit(c);
#ifndef SHARED_POOL
       forward_credits[LINK(e, t)]++;
       assert(forward_credits[LINK(e, t)] <= FORWARDS);
       if
       :: len(waiting[LINK(e, t)]) > 0 ->
#ifdef UNORDERED
          if
          :: len(waiting[LINK(e, t)]) == 2 -> waiting[LINK(e, t)]?c, k, n; waiting[LINK(e, t)]!c, k, n
          :: else -> skip
          fi;
#endif
          waiting[LINK(e, t)]?c, k, n;
          send_on(e, t, c, k, n)
       :: else -> skip
       fi;
#endif
       c = 0; k = 0; n = 0
     }
  od
}

proctype TakeData(byte t, c) {
  byte n;
end:
  do
  :: d_step {
       (has_chunk[PAIR(t, c)] & data_sent[PAIR(t, c)]) != 0 ->
       do
       :: (has_chunk[PAIR(t, c)] & data_sent[PAIR(t, c)] & BIT(n)) != 0 -> break
       :: else -> n++
       od;
       data_sent[PAIR(t, c)] = data_sent[PAIR(t, c)] & ~BIT(n);
       has_data[PAIR(t, c)] = has_data[PAIR(t, c)] | BIT(n);
       execute(t, c);
       n = 0
     }
  od
}

proctype Client(byte c) {
  byte i, t, k, n, asked;
round:
  do
  :: i == REQUESTS -> break
  :: atomic {
       i < REQUESTS && credits[c] > 0 ->
       served_now[c] = false;
       credits[c]--;
       if
       :: t = 0
       :: t = 1
#if SERVERS > 2
       :: t = 2
#endif
       fi;
       if
       :: k = PUT
       :: k = LONG_PUT
       :: k = GET; asked++
       fi;
       n = issued[PAIR(t, c)];
       issued[PAIR(t, c)] = NEXT(n);
#ifndef SHARED_POOL
       assert(len(requests[ENTRY(c)]) < posted[ENTRY(c)]);
#endif
       requests[ENTRY(c)]!c, t, k, n;
       i++
     }
     if
     :: atomic { k == LONG_PUT -> data_sent[PAIR(t, c)] = data_sent[PAIR(t, c)] | BIT(n) }
        if
        :: (data_sent[PAIR(t, c)] & BIT(n)) == 0 /* blocking */
        :: skip
        fi
     :: k == GET ->
        if
        :: atomic { answers[c] == asked -> answers[c] = 0; asked = 0 } /* blocking */
        :: skip
        fi
     :: k == PUT
     fi;
     atomic {
       n = 0; k = 0; t = 0;
       if
       :: i < REQUESTS
       :: credits[c] == CREDITS -> /* a fence, after the last request in any case */
          do
          :: t < SERVERS ->
             assert(executed[PAIR(t, c)] == issued[PAIR(t, c)]);
             executed[PAIR(t, c)] = 0; /* from here on all numbers are alike */
             issued[PAIR(t, c)] = 0;
             t++
          :: else -> break
          od;
          t = 0
       fi
     }
  od;
  atomic { answers[c] == asked -> answers[c] = 0; asked = 0; i = 0; served_now[c] = true }
#ifdef ENDLESS
  goto round
#endif
}

init {
  byte i, j;
  atomic {
    for (i : 0 .. SERVERS - 1) {
      posted[i] = ENTERED_AT(i) * CREDITS;
      chunks[i] = CHUNKS;
      run TakeRequests(i);
      for (j : 0 .. SERVERS - 1) {
        if
        :: i != j ->
           forward_posted[LINK(i, j)] = FORWARDS;
           forward_credits[LINK(i, j)] = FORWARDS;
           run TakeForwards(i, j);
           run TakeAcks(i, j)
        :: else -> skip
        fi
      }
      for (j : 0 .. CLIENTS - 1) {
        run TakeData(i, j)
      }
    }
    for (i : 0 .. CLIENTS - 1) {
      credits[i] = CREDITS;
      run Client(i)
    }
    i = 0; j = 0
  }
}

#ifdef WATCHED
ltl served {
#ifdef ENDLESS
  []<> served_now[WATCHED]
#else
  <> served_now[WATCHED]
#endif
}
#endif
