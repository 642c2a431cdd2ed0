// A process's calls to servers: what it needs before it has a connection, and what only a server can do.
//
// Thread safety: call() by any thread, one at a time.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "impl/base/status.h"
#include "impl/native-verbs/datagrams.h"
#include "impl/native-verbs/device.h"
#include "impl/native-verbs/messages.h"

namespace armci::verbs {

class Caller {
 public:
  Status open(const Device& device, int process);
  // Of the servers, by node.
  void learn(std::vector<Address> servers, std::uint64_t secret);

  // Returns with the reply, or fails when none has come for long. Blocking; the server executes it once.
  Status call(int node, Call call, Reply* reply);

 private:
  Status poll(std::uint64_t sequence, bool* come, Reply* reply);

  std::mutex mutex_;
  std::uint32_t process_ = 0;
  Owned<ibv_cq> done_;
  Datagrams datagrams_;
  std::vector<Address> servers_;
  std::uint64_t secret_ = 0;
  std::uint64_t sequence_ = 0;
};

}  // namespace armci::verbs
