// UCX as this process has it: the context, and workers of it.
//
// A process has two workers. The callers of the client (client_wire.h) make progress on one, and the server thread
// (server_wire.h) on the other. Neither worker waits for the other, so they need no common lock.
//
// Thread safety: a Context may be used by several threads; a Worker by one at a time, but for signal().
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <string>

#include "impl/base/status.h"

namespace armci::ucx {

class Context {
 public:
  Context() = default;
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // The environment of UCX (UCX_TLS, UCX_NET_DEVICES, ...) is in force. `processes`: that may be talked to;
  // `whole_words`: puts and gets of UCX must not show parts of words [LC-3], over any transport.
  Status open(int processes, bool whole_words);
  ucp_context_h handle() const { return context_; }

 private:
  ucp_context_h context_ = nullptr;
};

class Worker {
 public:
  Worker() = default;
  ~Worker() { close(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  Status open(const Context& context);
  // Completes what is pending, as canceled.
  void close();
  ucp_worker_h handle() const { return worker_; }
  // By which others make endpoints to it.
  Status address(std::string* address) const;
  // The endpoint to a worker of `process`, which ends with this one.
  Status connect(const std::string& address, int process, ucp_ep_h* endpoint) const;
  // Calls `handler` for every active message with that number.
  Status handle_messages(unsigned id, ucp_am_recv_callback_t handler, void* argument);

  // One pass of progress; true if it found work.
  bool progress() { return ucp_worker_progress(worker_) != 0; }
  // Arms the worker: true if a later arrival ends await_event(), false if there is or was work. A verbs device reports
  // only arrivals after arm(), so arm() polls once more for earlier ones.
  bool arm() { return ucp_worker_arm(worker_) == UCS_OK && !progress(); }
  // Blocks until an armed worker, this one or the other, may have something to do, at most `timeout_us`
  // (microseconds; negative: without end). Other threads may use the worker meanwhile.
  void await_event(const Worker* other, std::int64_t timeout_us) const;
  // Ends an await_event(), the present one or the next. By any thread.
  void signal() { (void)ucp_worker_signal(worker_); }

 private:
  ucp_worker_h worker_ = nullptr;
  int event_fd_ = -1;
};

}  // namespace armci::ucx
