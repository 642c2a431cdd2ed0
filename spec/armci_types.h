/* armci_types.h - types, constants and the link-time check of the interface. Included by armci.h.
 *
 * Everything here is part of the binary interface [ABI-1]: sizes, field orders and values do not change within an ABI
 * version and are the same in every implementation and with every MPI library.
 */
#ifndef ARMCI_SPEC_ARMCI_TYPES_H_
#define ARMCI_SPEC_ARMCI_TYPES_H_

#include <mpi.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Length of an allocation in bytes; signed, so that a negative length can be refused [MEM-12]. */
typedef long armci_size_t;

/* The most stride levels of a strided shape, which then has one dimension more (C8). */
#define ARMCI_MAX_STRIDE_LEVEL 8

/* Results of calls that return int (C3). Programs may rely on the names, and on 0 for success. */
typedef enum {
  ARMCI_OK = 0,
  ARMCI_PENDING = 1,          /* not an error: ARMCI_Test in progress, ARMCIX_Trylock_hdl held by another */
  ARMCI_ERR_STATE = 2,        /* called before init or after finalize, or out of order */
  ARMCI_ERR_PROC = 3,         /* process id outside the world (or the group) */
  ARMCI_ERR_NULL = 4,         /* NULL where memory is needed */
  ARMCI_ERR_LENGTH = 5,       /* negative length or count, or not a multiple of the element size */
  ARMCI_ERR_STRIDE = 6,       /* stride levels outside 0..ARMCI_MAX_STRIDE_LEVEL */
  ARMCI_ERR_TYPE = 7,         /* unknown datatype, operation, comparison, mode or other choice */
  ARMCI_ERR_ADDRESS = 8,      /* remote address outside every live region of the target */
  ARMCI_ERR_ALIGNMENT = 9,    /* address not aligned as the element type needs */
  ARMCI_ERR_HANDLE = 10,      /* reserved: no call returns it in this version */
  ARMCI_ERR_MUTEX = 11,       /* mutex index outside the set, no set, a set there already, or not held by the caller */
  ARMCI_ERR_GROUP = 12,       /* group invalid, freed, or one the caller is not in */
  ARMCI_ERR_MEMORY = 13,      /* memory or another limited resource ran out */
  ARMCI_ERR_PROMISE = 14,     /* a promise was broken (access mode, buffer used before wait), ARMCI_CHECK=1 */
  ARMCI_ERR_UNSUPPORTED = 15, /* this implementation, or the MPI below it, cannot do it here */
  ARMCI_ERR_SYSTEM = 16       /* the layer below failed: MPI, the operating system, the network */
} armci_result_t;

/* Element types of accumulate: int, long, float, double, and complex of float and of double (real part first). */
enum {
  ARMCI_ACC_INT = 0,
  ARMCI_ACC_LNG = 1,
  ARMCI_ACC_FLT = 2,
  ARMCI_ACC_DBL = 3,
  ARMCI_ACC_CPL = 4,
  ARMCI_ACC_DCP = 5
};

/* Operations of ARMCI_Rmw; those without _LONG work on int. */
enum { ARMCI_FETCH_AND_ADD = 0, ARMCI_FETCH_AND_ADD_LONG = 1, ARMCI_SWAP = 2, ARMCI_SWAP_LONG = 3 };

/* Kinds of locality: SMP is "can load and store each other's regions". */
typedef enum { ARMCI_DOMAIN_SMP = 0 } armci_domain_t;

/* Handle of non-blocking operations: set it up with ARMCI_INIT_HANDLE, then let only the library write it. The handle
 * belongs to the process and must stay at its address while operations are outstanding. One thread at a time
 * uses it. */
typedef struct armci_hdl_s {
  int opaque[2];
} armci_hdl_t;

/* Descriptor of a vector shape (C9). The caller owns the pointer arrays; the library never writes them. */
typedef struct armci_giov_s {
  void **src_ptr_array;
  void **dst_ptr_array;
  int bytes;         /* length of each segment */
  int ptr_array_len; /* number of segments */
} armci_giov_t;

/* A process group, which may be copied as a value; copies name the same group [COMPAT-10]. comm, the communicator of
 * the group's members in group rank order, may be used for MPI calls by the program (MPI_COMM_NULL where the caller is
 * not a member); the rest is the library's. */
typedef struct armci_group_s {
  MPI_Comm comm;
  int opaque[(32 - sizeof(MPI_Comm)) / sizeof(int)];
} ARMCI_Group;

/* Memory from ARMCI_Memget. May be sent to another process as bytes. */
typedef struct armci_meminfo_s {
  char *armci_addr; /* remote address, for transfers to process cpid */
  char *addr;       /* address at the process that made it */
  size_t size;      /* bytes */
  int cpid;         /* absolute id of the owner */
  long idlist[64];  /* the library's */
} armci_meminfo_t;

/* The implementation that is linked in, as text ("shmem"). Each library defines it strongly, so two implementations in
 * one static link are an error. */
extern const char armci_implementation[];

/* The ABI version, as a symbol: a library of ABI 1 defines it with the value 1, one of another ABI defines another
 * name. Every object that was compiled with this header refers to it, so linking (or loading) it with a library of
 * another ABI ends with "undefined symbol: armci_abi_version_1" instead of wrong data. Define ARMCI_NO_ABI_CHECK before
 * including, in an object that uses only types and constants and is linked without the library. */
extern const int armci_abi_version_1;

#if !defined(ARMCI_NO_ABI_CHECK) && defined(__GNUC__)
static const int *const armci_abi_reference __attribute__((used)) = &armci_abi_version_1;
#endif

#ifdef __cplusplus
}
#endif

#endif /* ARMCI_SPEC_ARMCI_TYPES_H_ */
