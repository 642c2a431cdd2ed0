// The process's own thread: executes what others ask of this process, and drives its own operations while the program
// computes. It calls UCX only, never MPI.
//
// It blocks on the descriptors of both workers when there is nothing to do: the server's always, the client's while
// something is under way and no thread is inside a call. Who leaves a call with something under way wakes it up, unless
// it watches already.
//
// Thread safety: start() and stop() by one thread; attend() by any.
#pragma once

#include <atomic>
#include <string>
#include <thread>

#include "impl/common/status.h"
#include "impl/ucx/client.h"
#include "impl/ucx/server.h"

namespace armci::ucx {

class Progress {
 public:
  Progress(Server* server, Client* client) : server_(*server), client_(*client) {}
  ~Progress() { stop(); }

  common::Status start();
  void stop();
  // Something is under way that nobody is inside a call for.
  void attend();

 private:
  void run();
  common::Status block();
  void wake();

  Server& server_;
  Client& client_;
  int wake_ = -1;  // an eventfd
  std::atomic<bool> stopping_{false};
  std::atomic<bool> watches_client_{false};
  std::thread thread_;
};

}  // namespace armci::ucx
