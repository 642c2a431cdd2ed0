// The verbs device of raw RDMA: the one that native-verbs takes, by the same variables (ARMCI_VERBS_DEVICE,
// ARMCI_VERBS_PORT, ARMCI_VERBS_GID) and, where they say nothing, by the same rules.
//
// Thread safety: one thread. Ends the job with a message where there is no such device.
#ifndef ARMCI_BENCH_BASELINE_VERBS_DEVICE_H_
#define ARMCI_BENCH_BASELINE_VERBS_DEVICE_H_

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <string>

namespace armci::bench {

// The functions that end objects of libibverbs, in the order of destruction.
struct VerbsDestroy {
  void operator()(ibv_context* context) const { ibv_close_device(context); }
  void operator()(ibv_pd* domain) const { ibv_dealloc_pd(domain); }
  void operator()(ibv_mr* region) const { ibv_dereg_mr(region); }
  void operator()(ibv_cq* queue) const { ibv_destroy_cq(queue); }
  void operator()(ibv_qp* pair) const { ibv_destroy_qp(pair); }
};
template <typename Object>
using VerbsOwned = std::unique_ptr<Object, VerbsDestroy>;

struct VerbsDevice {
  VerbsOwned<ibv_context> context;
  VerbsOwned<ibv_pd> domain;
  ibv_device_attr limits = {};
  ibv_port_attr port = {};
  uint8_t port_number = 0;
  int gid_index = -1;  // -1: not needed
  ibv_gid gid = {};

  std::string name() const { return ibv_get_device_name(context->device); }
};

VerbsDevice OpenVerbsDevice();

// Ends the job unless `ok`; `error` as errno has it, 0 for none.
void RequireVerbs(bool ok, const char* what, int error = 0);

}  // namespace armci::bench

#endif  // ARMCI_BENCH_BASELINE_VERBS_DEVICE_H_
