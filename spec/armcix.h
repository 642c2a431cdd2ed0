/* armcix.h - extensions: 64-bit shapes, extended atomics, signals, mutex sets, access modes, introspection.
 *
 * The conventions C1..C16 of armci.h hold: calls are local, T-any and return a result code unless their text says
 * otherwise. Pointers that are only read are const here. All calls work with regions, handles, groups and fences of the
 * classic interface, and are ordered with its calls as calls of one kind [ORD-1 to ORD-4].
 */
#ifndef ARMCI_SPEC_ARMCIX_H_
#define ARMCI_SPEC_ARMCIX_H_

#include <stdint.h>

#include "armci.h"

#ifdef __cplusplus
extern "C" {
#endif

/* TYPES */

/* Descriptor of a vector shape (C9) with 64-bit length and number. */
typedef struct armcix_giov_s {
  void **src_ptr_array;
  void **dst_ptr_array;
  size_t bytes;         /* length of each segment */
  size_t ptr_array_len; /* number of segments */
} armcix_giov_t;

/* Operations of ARMCIX_Rmw: what becomes of the remote value v with the operand a (and the value c to compare with). */
typedef enum {
  ARMCIX_ADD = 0,  /* v + a, wrapping */
  ARMCIX_SWAP = 1, /* a */
  ARMCIX_CAS = 2,  /* a if v == c, else v */
  ARMCIX_AND = 3,  /* v & a */
  ARMCIX_OR = 4,   /* v | a */
  ARMCIX_XOR = 5,  /* v ^ a */
  ARMCIX_MIN = 6,  /* the lesser of v and a, as the type compares */
  ARMCIX_MAX = 7   /* the greater */
} armcix_op_t;

typedef enum { ARMCIX_INT32 = 0, ARMCIX_INT64 = 1, ARMCIX_UINT32 = 2, ARMCIX_UINT64 = 3 } armcix_type_t;

/* The update of a signal by a put: store the value, or add it atomically. */
typedef enum { ARMCIX_SIGNAL_SET = 0, ARMCIX_SIGNAL_ADD = 1 } armcix_signal_op_t;

/* Comparison "signal cmp value" of signal wait and test, unsigned. */
typedef enum {
  ARMCIX_CMP_EQ = 0,
  ARMCIX_CMP_NE = 1,
  ARMCIX_CMP_GT = 2,
  ARMCIX_CMP_GE = 3,
  ARMCIX_CMP_LT = 4,
  ARMCIX_CMP_LE = 5
} armcix_cmp_t;

/* The accesses that a program promises for a region until it changes the mode. */
typedef enum {
  ARMCIX_MODE_DEFAULT = 0,   /* anything */
  ARMCIX_MODE_READ_ONLY = 1, /* no stores, no RMW */
  ARMCIX_MODE_ACC_ONLY = 2,  /* accumulate only, of one type */
  ARMCIX_MODE_PUT_ONLY = 3   /* put only, to disjoint places */
} armcix_mode_t;

/* Bits of ARMCIX_Capabilities. */
#define ARMCIX_CAP_MULTI_NODE ((uint64_t)1 << 0)       /* runs over more than one node */
#define ARMCIX_CAP_LOAD_STORE ((uint64_t)1 << 1)       /* regions of the node can be loaded and stored */
#define ARMCIX_CAP_ASYNC_PROGRESS ((uint64_t)1 << 2)   /* PROG-1 holds with the MPI underneath as it is */
#define ARMCIX_CAP_OVERLAP ((uint64_t)1 << 3)          /* transfers advance while the origin computes */
#define ARMCIX_CAP_THREAD_MULTIPLE ((uint64_t)1 << 4)  /* THR-1 holds when MPI provides the level */
#define ARMCIX_CAP_NATIVE_STRIDED ((uint64_t)1 << 5)   /* strided shapes go down whole */
#define ARMCIX_CAP_NATIVE_VECTOR ((uint64_t)1 << 6)    /* vector shapes go down whole */
#define ARMCIX_CAP_NATIVE_ACC ((uint64_t)1 << 7)       /* accumulate is not made from get and put */
#define ARMCIX_CAP_NATIVE_RMW ((uint64_t)1 << 8)       /* all ARMCIX_Rmw operations, not from one atomic */
#define ARMCIX_CAP_NATIVE_LOCK ((uint64_t)1 << 9)      /* mutexes are not made from RMW */
#define ARMCIX_CAP_CHECKING ((uint64_t)1 << 10)        /* ARMCI_CHECK=1 has the costly checks */
#define ARMCIX_CAP_SIMULATED_NODES ((uint64_t)1 << 11) /* ARMCI_NODE_SIZE is supported */

/* A set of mutexes. */
typedef struct armcix_mutex_set_s *armcix_mutex_hdl_t;

/* Totals of this process since init or the last reset. Set struct_bytes to sizeof(armcix_stats_t) before the call: a
 * library with more fields fills those that the caller has, and a library with fewer sets struct_bytes to the bytes
 * filled. The counts need ARMCI_STATS=1 and are 0 without; the region fields and buffer_bytes are always right. */
typedef struct armcix_stats_s {
  size_t struct_bytes;
  uint64_t calls;             /* all calls */
  uint64_t errors;            /* those that failed */
  uint64_t puts;              /* put calls of every shape, with values, flags and signals */
  uint64_t gets;              /* get calls of every shape and with values */
  uint64_t accs;              /* accumulate calls of every shape */
  uint64_t rmws;              /* RMW calls */
  uint64_t locks;             /* lock and trylock calls */
  uint64_t fences;            /* fence calls of every kind */
  uint64_t barriers;          /* barrier calls */
  uint64_t put_bytes;         /* bytes moved by the puts */
  uint64_t get_bytes;         /* by the gets */
  uint64_t acc_bytes;         /* by the accumulates */
  uint64_t same_node_bytes;   /* of all these, to or from the caller's node */
  uint64_t remote_bytes;      /* of all these, to or from other nodes */
  uint64_t regions_live;      /* regions allocated and not freed, in which the caller takes part */
  uint64_t region_bytes_live; /* the caller's parts of them, in bytes */
  uint64_t region_bytes_max;  /* the most that was */
  double seconds;             /* since init or the last reset */
  uint64_t buffer_bytes;      /* the library's buffers for messages of and to other nodes, at this moment */
} armcix_stats_t;

/* One function's use. histogram[0] counts calls of 0 bytes, histogram[k] those of 2^(k-1) up to 2^k - 1, the last one
 * everything above too. seconds is the time spent inside. */
typedef struct armcix_call_stats_s {
  uint64_t calls;
  uint64_t bytes;
  double seconds;
  uint64_t histogram[48];
} armcix_call_stats_t;

/* One environment variable. The texts stay valid for the life of the process, value until the calling thread's next
 * ARMCIX_Setting of the same index. */
typedef struct armcix_setting_s {
  const char *name;          /* "ARMCI_..." */
  const char *type;          /* "bool", "int", "real", "bytes" or "text" */
  const char *unit;          /* "" where there is none */
  const char *default_value; /* as it would be written */
  const char *value;         /* in force now */
  const char *text;          /* one sentence */
} armcix_setting_t;

/* One fault of the layer below that this run avoids. The texts stay valid until finalize. */
typedef struct armcix_finding_s {
  const char *name;    /* permanent, for instance "passive-progress" */
  const char *text;    /* the fault, one sentence */
  const char *instead; /* the workaround, one sentence */
} armcix_finding_t;

/* The choices of the library at init, where several ways were open. The texts stay valid until finalize. */
typedef struct armcix_choice_s {
  const char *name;  /* permanent, for instance "server of a node" */
  const char *value; /* for instance "thread" */
} armcix_choice_t;

/* START */

/* ARMCI_Init_thread_comm for Fortran, where a communicator is an integer. Collective over comm, blocking.
 * Errors: those of ARMCI_Init_thread_comm.
 * Clauses: INIT-8, ERR-1. Source: [here]. */
int ARMCIX_Init_comm_f(int required, MPI_Fint comm);

/* TRANSFERS WITH 64-BIT SIZES
 *
 * ARMCIX_X is ARMCI_X with size_t lengths and counts and ptrdiff_t strides, and otherwise the same: shapes (C8, C9),
 * buffer ownership (C5), errors, ordering. The Nb forms may return before local completion; hdl as in ARMCI_NbPut, NULL
 * for implicit.
 * Clauses: EXT-1, and those of ARMCI_X. Source: [here]. */

/* ARMCI_Put. Blocking. */
int ARMCIX_Put(const void *src, void *dst, size_t bytes, int proc);

/* ARMCI_Get. Blocking. */
int ARMCIX_Get(const void *src, void *dst, size_t bytes, int proc);

/* ARMCI_Acc. Blocking. */
int ARMCIX_Acc(int datatype, const void *scale, const void *src, void *dst, size_t bytes, int proc);

/* ARMCI_PutS. Blocking. */
int ARMCIX_PutS(const void *src, const ptrdiff_t src_stride[], void *dst, const ptrdiff_t dst_stride[],
                const size_t count[], int stride_levels, int proc);

/* ARMCI_GetS. Blocking. */
int ARMCIX_GetS(const void *src, const ptrdiff_t src_stride[], void *dst, const ptrdiff_t dst_stride[],
                const size_t count[], int stride_levels, int proc);

/* ARMCI_AccS. Blocking. */
int ARMCIX_AccS(int datatype, const void *scale, const void *src, const ptrdiff_t src_stride[], void *dst,
                const ptrdiff_t dst_stride[], const size_t count[], int stride_levels, int proc);

/* ARMCI_PutV. Blocking. */
int ARMCIX_PutV(const armcix_giov_t iov[], size_t len, int proc);

/* ARMCI_GetV. Blocking. */
int ARMCIX_GetV(const armcix_giov_t iov[], size_t len, int proc);

/* ARMCI_AccV. Blocking. */
int ARMCIX_AccV(int datatype, const void *scale, const armcix_giov_t iov[], size_t len, int proc);

/* ARMCI_NbPut. Non-blocking. */
int ARMCIX_NbPut(const void *src, void *dst, size_t bytes, int proc, armci_hdl_t *hdl);

/* ARMCI_NbGet. Non-blocking. */
int ARMCIX_NbGet(const void *src, void *dst, size_t bytes, int proc, armci_hdl_t *hdl);

/* ARMCI_NbAcc. Non-blocking. */
int ARMCIX_NbAcc(int datatype, const void *scale, const void *src, void *dst, size_t bytes, int proc, armci_hdl_t *hdl);

/* ARMCI_NbPutS. Non-blocking. */
int ARMCIX_NbPutS(const void *src, const ptrdiff_t src_stride[], void *dst, const ptrdiff_t dst_stride[],
                  const size_t count[], int stride_levels, int proc, armci_hdl_t *hdl);

/* ARMCI_NbGetS. Non-blocking. */
int ARMCIX_NbGetS(const void *src, const ptrdiff_t src_stride[], void *dst, const ptrdiff_t dst_stride[],
                  const size_t count[], int stride_levels, int proc, armci_hdl_t *hdl);

/* ARMCI_NbAccS. Non-blocking. */
int ARMCIX_NbAccS(int datatype, const void *scale, const void *src, const ptrdiff_t src_stride[], void *dst,
                  const ptrdiff_t dst_stride[], const size_t count[], int stride_levels, int proc, armci_hdl_t *hdl);

/* ARMCI_NbPutV. Non-blocking. */
int ARMCIX_NbPutV(const armcix_giov_t iov[], size_t len, int proc, armci_hdl_t *hdl);

/* ARMCI_NbGetV. Non-blocking. */
int ARMCIX_NbGetV(const armcix_giov_t iov[], size_t len, int proc, armci_hdl_t *hdl);

/* ARMCI_NbAccV. Non-blocking. */
int ARMCIX_NbAccV(int datatype, const void *scale, const armcix_giov_t iov[], size_t len, int proc, armci_hdl_t *hdl);

/* ATOMICS */

/* Applies op to the value of `type` at address remote of proc in one atomic step; *result (local, of the type) receives
 * the value before. operand, and for ARMCIX_CAS compare, point to local values of the type, read during the call;
 * compare is otherwise ignored and may be NULL. Atomic against every RMW of the same width on that location, those of
 * ARMCI_Rmw and signals included. Blocking; no action by proc.
 * Errors: ARMCI_ERR_TYPE (op or type), ARMCI_ERR_ALIGNMENT (remote).
 * Ordering: as ARMCI_Rmw.
 * Clauses: EXT-2, RMW-2, RMW-4 to RMW-6. Source: [here]. */
int ARMCIX_Rmw(armcix_op_t op, armcix_type_t type, void *result, const void *operand, const void *compare, void *remote,
               int proc);

/* ARMCIX_Rmw that may return before *result is there. *result is there when the wait (or a fence) returns, and must not
 * be touched until then. Ordered with other calls only by wait and fence. Non-blocking; hdl as in ARMCI_NbPut.
 * Clauses: EXT-2, CMPL-3 to CMPL-6. Source: [here]. */
int ARMCIX_NbRmw(armcix_op_t op, armcix_type_t type, void *result, const void *operand, const void *compare,
                 void *remote, int proc, armci_hdl_t *hdl);

/* SIGNALS: a put that tells the target it has arrived. A signal is an aligned uint64_t in a region. */

/* ARMCIX_Put, then the signal at proc is set to value or has value added, atomically against RMW and other signals.
 * With 0 bytes only the signal is sent. Blocking: src may be overwritten on return.
 * Errors: ARMCI_ERR_TYPE (op), ARMCI_ERR_ALIGNMENT (signal).
 * Ordering: a process that sees the new signal sees all data of the call, and the origin's earlier blocking stores to
 * proc.
 * Clauses: EXT-3, ORD-1, ORD-5. Source: [here]. */
int ARMCIX_Put_signal(const void *src, void *dst, size_t bytes, uint64_t *signal, uint64_t value, armcix_signal_op_t op,
                      int proc);

/* ARMCIX_Put_signal that may return before local completion (C5). Non-blocking; hdl as in ARMCI_NbPut.
 * Ordering: a process that sees the new signal sees all data of the call; nothing about other stores.
 * Clauses: EXT-3, CMPL-3 to CMPL-6, ORD-3. Source: [here]. */
int ARMCIX_NbPut_signal(const void *src, void *dst, size_t bytes, uint64_t *signal, uint64_t value,
                        armcix_signal_op_t op, int proc, armci_hdl_t *hdl);

/* Returns when "*signal cmp value" holds; signal lies in the caller's own part of a region. *seen (NULL: not wanted)
 * receives the value that satisfied it. Blocking until a signal arrives; does not occupy a core that the sender needs.
 * Errors: ARMCI_ERR_TYPE (cmp), ARMCI_ERR_ADDRESS, ARMCI_ERR_ALIGNMENT.
 * Ordering: acquire: the data of the signals seen can be loaded.
 * Clauses: EXT-4, EXT-3. Source: [here]. */
int ARMCIX_Signal_wait(uint64_t *signal, armcix_cmp_t cmp, uint64_t value, uint64_t *seen);

/* ARMCIX_Signal_wait for `count` signals, one behind the other: until "signal cmp value" holds for all, at the same time
 * or one after the other. skip (NULL: none; else `count` ints): signals with a number that is not 0 do not count. Returns
 * at once if none counts. Blocking.
 * Errors: as ARMCIX_Signal_wait.
 * Ordering: acquire, for each signal.
 * Clauses: EXT-4, EXT-3. Source: [here]. */
int ARMCIX_Signal_wait_all(uint64_t signals[], size_t count, const int skip[], armcix_cmp_t cmp, uint64_t value);

/* The same until it holds for one: *which is its number, from 0; SIZE_MAX if none counts. Blocking.
 * Errors: as ARMCIX_Signal_wait, ARMCI_ERR_NULL (which).
 * Ordering: acquire, for that signal.
 * Clauses: EXT-4, EXT-3. Source: [here]. */
int ARMCIX_Signal_wait_any(uint64_t signals[], size_t count, const int skip[], armcix_cmp_t cmp, uint64_t value,
                           size_t *which);

/* The same until it holds for one or more: which[0] to which[*found - 1], of `count` places, are their numbers, in
 * ascending order; *found is 0 if none counts. Blocking.
 * Errors: as ARMCIX_Signal_wait, ARMCI_ERR_NULL (which, found).
 * Ordering: acquire, for those signals.
 * Clauses: EXT-4, EXT-3. Source: [here]. */
int ARMCIX_Signal_wait_some(uint64_t signals[], size_t count, const int skip[], armcix_cmp_t cmp, uint64_t value,
                            size_t which[], size_t *found);

/* Reads the signal once: *satisfied is 1 when "*signal cmp value" holds, else 0, and *seen (NULL: not wanted) is the
 * value read. Never blocks.
 * Errors: as ARMCIX_Signal_wait.
 * Ordering: acquire where *satisfied is 1.
 * Clauses: EXT-4, EXT-3. Source: [here]. */
int ARMCIX_Signal_test(uint64_t *signal, armcix_cmp_t cmp, uint64_t value, uint64_t *seen, int *satisfied);

/* MUTEX SETS: as many as wanted, each of one group; mutex m of the process with group rank p is (m, p). The calls
 * differ from those of the program's set (armci_atomic.h) only in what their texts say. */

/* Creates a set: count mutexes at this process (may differ and be 0), all free. NULL, with the line of C4 and on all
 * members alike, on an error. Collective over the group, blocking, T-collective.
 * Clauses: MUTEX-7, MUTEX-1. Source: [AMPI V-C]. */
armcix_mutex_hdl_t ARMCIX_Create_mutexes_hdl(int count, ARMCI_Group *group);

/* Destroys a set; all its mutexes must be free. Collective over its group, blocking, T-collective.
 * Errors: ARMCI_ERR_NULL, ARMCI_ERR_MUTEX (no such set; or a mutex is held, and then the set stays).
 * Clauses: MUTEX-7. Source: [AMPI V-C]. */
int ARMCIX_Destroy_mutexes_hdl(armcix_mutex_hdl_t hdl);

/* ARMCI_Lock in a set; proc is a group rank. Blocking.
 * Ordering: acquire, as ARMCI_Lock.
 * Clauses: MUTEX-2 to MUTEX-8. Source: [AMPI V-C]. */
void ARMCIX_Lock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc);

/* Takes the mutex if it is free: ARMCI_OK when the caller holds it now, ARMCI_PENDING when another process or thread
 * holds it or is next in line. Never blocks. After an unlock by another process it may still be held, until that process
 * has fenced the host. proc is a group rank.
 * Errors: ARMCI_ERR_NULL, ARMCI_ERR_MUTEX.
 * Ordering: acquire on ARMCI_OK.
 * Clauses: MUTEX-7, MUTEX-8. Source: [here]. */
int ARMCIX_Trylock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc);

/* ARMCI_Unlock in a set; proc is a group rank.
 * Ordering: release, as ARMCI_Unlock.
 * Clauses: MUTEX-2, MUTEX-5, MUTEX-7, MUTEX-8. Source: [AMPI V-C]. */
void ARMCIX_Unlock_hdl(armcix_mutex_hdl_t hdl, int mutex, int proc);

/* GROUPS */

/* Splits a group: the members with the same color >= 0 make a new one, ordered by key, then by rank in the parent. A
 * negative color gives a group the caller is not in. Collective over parent, blocking, T-collective.
 * Errors: ARMCI_ERR_GROUP (parent), ARMCI_ERR_NULL (out), ARMCI_ERR_MEMORY.
 * Clauses: GROUP-3. Source: [here]. */
int ARMCIX_Group_split(ARMCI_Group *parent, int color, int key, ARMCI_Group *out);

/* The communicator of the group, as armci_group_comm, in *comm as the integer that Fortran uses; MPI_COMM_NULL's integer
 * where the caller is not a member. It stays the library's.
 * Errors: ARMCI_ERR_GROUP, ARMCI_ERR_NULL.
 * Clauses: GROUP-1. Source: [here]. */
int ARMCIX_Group_comm_f(ARMCI_Group *group, MPI_Fint *comm);

/* A second group with the same members in the same order. Collective over parent, blocking, T-collective.
 * Clauses: GROUP-3. Source: [here]. */
int ARMCIX_Group_dup(ARMCI_Group *parent, ARMCI_Group *out);

/* PROGRESS, ADDRESSES, ACCESS MODES */

/* ARMCI_Poll with a result. Lets MPI progress as well, where this thread may call MPI. No operation of this library
 * needs this call. Not blocking.
 * Clauses: PROG-4, PROG-5. Source: [here]. */
int ARMCIX_Progress(void);

/* An address through which the caller can load and store remote address addr of proc, or NULL when there is none or
 * addr lies in no region of proc (which is no error). Valid until the region is freed. Not blocking.
 * Clauses: EXT-5, MEM-4. Source: [here]. */
void *ARMCIX_Ptr(int proc, const void *addr);

/* Promises what the program will do with the region whose own part starts at base (NULL where that is empty). The
 * library may use the promise to be faster, never to give other results. group is the group that allocated the region,
 * NULL the world.
 * Completes what is outstanding on the region first. Collective over the group, blocking, T-collective.
 * Errors: ARMCI_ERR_TYPE (mode). With ARMCI_CHECK=1, calls that break the promise return ARMCI_ERR_PROMISE.
 * Clauses: MODE-1. Source: [AMPI VIII-A]. */
int ARMCIX_Region_mode(void *base, armcix_mode_t mode, ARMCI_Group *group);

/* INTROSPECTION: local, not blocking; texts are the library's and stay valid. */

/* The implementation that runs: the same as armci_implementation. At any time.
 * Clauses: EXT-6. Source: [here]. */
const char *ARMCIX_Implementation(void);

/* The version of the library; NULL for parts not wanted. At any time.
 * Clauses: EXT-6. Source: [here]. */
int ARMCIX_Version(int *major, int *minor, int *patch);

/* ARMCIX_CAP_ bits of the implementation. At any time; after init for the MPI and nodes at hand.
 * Clauses: EXT-6. Source: [here]. */
uint64_t ARMCIX_Capabilities(void);

/* The thread level in force, MPI_THREAD_SINGLE to MPI_THREAD_MULTIPLE, in *provided.
 * Clauses: EXT-6, THR-1. Source: [here]. */
int ARMCIX_Query_thread(int *provided);

/* The totals of this process; see armcix_stats_t for struct_bytes.
 * Errors: ARMCI_ERR_LENGTH (struct_bytes is less than its own size).
 * Clauses: EXT-7. Source: [here]. */
int ARMCIX_Stats_get(armcix_stats_t *out);

/* Statistics of this process for one function, by its public name ("ARMCI_Put"). Zeros without ARMCI_STATS=1.
 * Errors: ARMCI_ERR_TYPE (no such function).
 * Clauses: EXT-7. Source: [here]. */
int ARMCIX_Stats_call(const char *call_name, armcix_call_stats_t *out);

/* Sets all counters of this process to 0, except those of live regions.
 * Clauses: EXT-7. Source: [here]. */
void ARMCIX_Stats_reset(void);

/* Environment variable number index, 0 and up, in *out. Non-zero past the last one (ARMCI_PENDING, no line printed). At
 * any time; before init with the defaults as values.
 * Clauses: EXT-8. Source: [here]. */
int ARMCIX_Setting(int index, armcix_setting_t *out);

/* Fault number index, 0 and up, in *out: one that the library found, at init, in the layer below (the MPI library, say)
 * and avoids in this run, unless a setting chooses otherwise. The same on all processes. Non-zero past the last one
 * (ARMCI_PENDING, no line printed); an implementation that looks for none has none.
 * Clauses: EXT-9. Source: [here]. */
int ARMCIX_Finding(int index, armcix_finding_t *out);

/* Choice number index, 0 and up, in *out: the way that the library chose at init among several ways between nodes (a
 * device, transports, the kind of a server). Where nodes may differ, the choice of process 0. The same on all
 * processes. Non-zero past the last one (ARMCI_PENDING, no line printed); a job on one node may have none.
 * Clauses: EXT-10. Source: [here]. */
int ARMCIX_Choice(int index, armcix_choice_t *out);

#ifdef __cplusplus
}
#endif

#endif /* ARMCI_SPEC_ARMCIX_H_ */
