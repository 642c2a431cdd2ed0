// The binary interface [ABI-1]: sizes, field orders and values of the public headers, the same for C and C++ and with
// every MPI library; and every call has a profiling twin of the same type [PROF-1].
//
// Nearly all of it is checked by the compiler. At run time the C side (abi_c90.c) reports what it sees, so that the two
// languages are compared in one program. The program links without the library: it defines what headers refer to.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <type_traits>

#include "armci.h"
#include "armci_message.h"
#include "armcix.h"
#include "message.h"
#include "parmci.h"
#include "spec/abi_c90.h"
#include "spec/api_table.h"

extern "C" const int armci_abi_version_1 = 1;

// Handles and groups live in programs that were compiled against other headers of this interface: they must not grow.
static_assert(sizeof(armci_hdl_t) == 8 && alignof(armci_hdl_t) == alignof(int));
static_assert(sizeof(ARMCI_Group) == 32 && offsetof(ARMCI_Group, comm) == 0);
static_assert(std::is_same_v<decltype(ARMCI_Group::comm), MPI_Comm>);

static_assert(sizeof(armci_giov_t) == 24);
static_assert(offsetof(armci_giov_t, src_ptr_array) == 0);
static_assert(offsetof(armci_giov_t, dst_ptr_array) == 8);
static_assert(offsetof(armci_giov_t, bytes) == 16);
static_assert(offsetof(armci_giov_t, ptr_array_len) == 20);

static_assert(sizeof(armcix_giov_t) == 32);
static_assert(offsetof(armcix_giov_t, src_ptr_array) == 0);
static_assert(offsetof(armcix_giov_t, dst_ptr_array) == 8);
static_assert(offsetof(armcix_giov_t, bytes) == 16);
static_assert(offsetof(armcix_giov_t, ptr_array_len) == 24);

static_assert(sizeof(armci_meminfo_t) == 544);
static_assert(offsetof(armci_meminfo_t, armci_addr) == 0);
static_assert(offsetof(armci_meminfo_t, addr) == 8);
static_assert(offsetof(armci_meminfo_t, size) == 16);
static_assert(offsetof(armci_meminfo_t, cpid) == 24);
static_assert(offsetof(armci_meminfo_t, idlist) == 32);

static_assert(sizeof(armcix_stats_t) == 160 && offsetof(armcix_stats_t, struct_bytes) == 0);
static_assert(sizeof(armcix_call_stats_t) == 24 + 48 * 8);
static_assert(sizeof(armcix_setting_t) == 6 * sizeof(char *));
static_assert(sizeof(armcix_finding_t) == 3 * sizeof(char *));
static_assert(sizeof(armcix_choice_t) == 2 * sizeof(char *));
static_assert(sizeof(armcix_mutex_hdl_t) == sizeof(void *));

static_assert(std::is_same_v<armci_size_t, long>);
static_assert(std::is_same_v<armci_long_long_t, long long>);
static_assert(sizeof(armci_domain_t) == sizeof(int));
static_assert(ARMCI_MAX_STRIDE_LEVEL == 8);

static_assert(ARMCI_OK == 0 && ARMCI_PENDING == 1 && ARMCI_ERR_STATE == 2 && ARMCI_ERR_SYSTEM == 16);
static_assert(ARMCI_ACC_INT == 0 && ARMCI_ACC_LNG == 1 && ARMCI_ACC_FLT == 2);
static_assert(ARMCI_ACC_DBL == 3 && ARMCI_ACC_CPL == 4 && ARMCI_ACC_DCP == 5);
static_assert(ARMCI_FETCH_AND_ADD == 0 && ARMCI_FETCH_AND_ADD_LONG == 1);
static_assert(ARMCI_SWAP == 2 && ARMCI_SWAP_LONG == 3);
static_assert(ARMCI_DOMAIN_SMP == 0);
static_assert(ARMCI_INT == 0 && ARMCI_LONG == 1 && ARMCI_LONG_LONG == 2 && ARMCI_FLOAT == 3 && ARMCI_DOUBLE == 4);
static_assert(SCOPE_ALL == 0 && SCOPE_NODE == 1 && SCOPE_MASTERS == 2);

static_assert(ARMCIX_ADD == 0 && ARMCIX_SWAP == 1 && ARMCIX_CAS == 2 && ARMCIX_AND == 3);
static_assert(ARMCIX_OR == 4 && ARMCIX_XOR == 5 && ARMCIX_MIN == 6 && ARMCIX_MAX == 7);
static_assert(ARMCIX_INT32 == 0 && ARMCIX_INT64 == 1 && ARMCIX_UINT32 == 2 && ARMCIX_UINT64 == 3);
static_assert(ARMCIX_SIGNAL_SET == 0 && ARMCIX_SIGNAL_ADD == 1);
static_assert(ARMCIX_CMP_EQ == 0 && ARMCIX_CMP_NE == 1 && ARMCIX_CMP_GT == 2);
static_assert(ARMCIX_CMP_GE == 3 && ARMCIX_CMP_LT == 4 && ARMCIX_CMP_LE == 5);
static_assert(ARMCIX_MODE_DEFAULT == 0 && ARMCIX_MODE_READ_ONLY == 1);
static_assert(ARMCIX_MODE_ACC_ONLY == 2 && ARMCIX_MODE_PUT_ONLY == 3);

#define SAME_TYPE(result, strong, weak, parameters, arguments) \
  static_assert(std::is_same_v<decltype(weak), decltype(strong)>, #weak " and " #strong " have different types");
ARMCI_API_ALL(SAME_TYPE)

namespace {

int failures = 0;

void expect_equal(const char *what, std::size_t in_c, std::size_t in_cplusplus) {
  if (in_c == in_cplusplus) return;
  ++failures;
  std::printf("%s: %zu in C, %zu in C++\n", what, in_c, in_cplusplus);
}

}  // namespace

int main() {
  const AbiSizes c = abi_sizes_in_c();
  expect_equal("sizeof(armci_hdl_t)", c.handle, sizeof(armci_hdl_t));
  expect_equal("sizeof(ARMCI_Group)", c.group, sizeof(ARMCI_Group));
  expect_equal("sizeof(armci_giov_t)", c.giov, sizeof(armci_giov_t));
  expect_equal("sizeof(armci_meminfo_t)", c.meminfo, sizeof(armci_meminfo_t));
  expect_equal("sizeof(armci_domain_t)", c.domain, sizeof(armci_domain_t));
  expect_equal("sizeof(armcix_giov_t)", c.giovx, sizeof(armcix_giov_t));
  expect_equal("sizeof(armcix_op_t)", c.op, sizeof(armcix_op_t));
  expect_equal("sizeof(armcix_stats_t)", c.stats, sizeof(armcix_stats_t));
  expect_equal("sizeof(armcix_call_stats_t)", c.call_stats, sizeof(armcix_call_stats_t));
  expect_equal("sizeof(armcix_setting_t)", c.setting, sizeof(armcix_setting_t));
  expect_equal("sizeof(armcix_finding_t)", c.finding, sizeof(armcix_finding_t));
  expect_equal("sizeof(armcix_choice_t)", c.choice, sizeof(armcix_choice_t));
  if (c.abi_version != &armci_abi_version_1 || armci_abi_reference != &armci_abi_version_1) {
    ++failures;
    std::printf("an object compiled with armci.h does not refer to armci_abi_version_1\n");
  }
  std::printf("%s\n", failures == 0 ? "PASS" : "FAIL");
  return failures == 0 ? 0 : 1;
}
