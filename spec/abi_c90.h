/* abi_c90.h - what a C90 compiler makes of the public headers, for abi_test.cc. */
#ifndef ARMCI_SPEC_ABI_C90_H_
#define ARMCI_SPEC_ABI_C90_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct AbiSizes {
  size_t handle;
  size_t group;
  size_t giov;
  size_t meminfo;
  size_t domain;
  size_t giovx;
  size_t op;
  size_t stats;
  size_t call_stats;
  size_t setting;
  size_t finding;
  size_t choice;
  const int *abi_version; /* the symbol that this object refers to */
} AbiSizes;

AbiSizes abi_sizes_in_c(void);

#ifdef __cplusplus
}
#endif

#endif /* ARMCI_SPEC_ABI_C90_H_ */
