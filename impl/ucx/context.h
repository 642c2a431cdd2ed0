// What there is of UCX in a process: its context, and workers.
//
// UCX's own settings (UCX_TLS, UCX_NET_DEVICES, ...) are read by UCX from the environment.
//
// Thread safety: a worker is used by one thread at a time; the context by any.
#pragma once

#include <ucp/api/ucp.h>

#include <string>
#include <vector>

#include "impl/common/status.h"

namespace armci::ucx {

// With UCX's own text. `peer`: -1 if there is none.
common::Status fail_ucx(ucs_status_t status, const char* call, int peer = -1);

class Context {
 public:
  Context() = default;
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  common::Status open();
  ucp_context_h get() const { return context_; }
  // Whether there is a transport whose device writes and reads remote memory by itself.
  bool has_rdma() const { return has_rdma_; }

 private:
  ucp_context_h context_ = nullptr;
  bool has_rdma_ = false;
};

class Worker {
 public:
  Worker() = default;
  ~Worker() { close(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Used by several threads in turns.
  common::Status open(const Context& context);
  void close();

  ucp_worker_h get() const { return worker_; }
  int descriptor() const { return descriptor_; }  // readable when arm() succeeded and something has come since
  // Where others connect to.
  common::Status address(std::vector<char>* out) const;
  // Calls `handler` for messages of that kind.
  common::Status handle(unsigned id, ucp_am_recv_callback_t handler, void* argument);
  // Executes what has come; how much of it.
  unsigned progress() { return ucp_worker_progress(worker_); }
  // False: something has come already.
  bool arm(common::Status* failure);

 private:
  ucp_worker_h worker_ = nullptr;
  int descriptor_ = -1;
};

// The transports of a connection, as UCX names them: `tcp/eth0, self/memory`.
std::string transports_of(ucp_ep_h endpoint);

}  // namespace armci::ucx
