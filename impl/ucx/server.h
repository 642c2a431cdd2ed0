// Executes what processes of other nodes ask for, on this process's memory, with the same CPU instructions as the
// processes of its node. Each process has one.
//
// Requests come as active messages; long ones by rendezvous, whose data are fetched before they are executed. UCX's own
// puts and gets to this process are carried out in progress() as well where the network does not do it.
//
// Memory of requests: bounded by what each other process may have under way at a time (ARMCI_UCX_REQUESTS of
// ARMCI_UCX_CHUNK_BYTES).
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "impl/common/status.h"
#include "impl/server/wire.h"
#include "impl/shmem/block_finder.h"
#include "impl/ucx/context.h"
#include "impl/ucx/messages.h"

namespace armci::ucx {

class Server {
 public:
  // `chunk_bytes`: of a request, and of an answer that is packed, at most.
  Server(std::size_t processes, std::size_t chunk_bytes);

  common::Status open(const Context& context);
  Worker& worker() { return worker_; }
  void close() { worker_.close(); }

 private:
  // A request whose data are being fetched.
  struct Fetch;
  // An answer on its way.
  struct Answer {
    ReplyTag tag;
    std::unique_ptr<char[]> data;
  };

  static ucs_status_t requested(void* self, const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                                const ucp_am_recv_param_t* about);
  static void fetched(void* request, ucs_status_t status, std::size_t bytes, void* fetch);
  static void answered(void* request, ucs_status_t status, void* answer);

  ucs_status_t fetch(const RequestTag& tag, ucp_ep_h origin, void* descriptor, std::size_t bytes);
  void execute(const RequestTag& tag, ucp_ep_h origin, std::span<const char> message);
  void carry_out(const RequestTag& tag, ucp_ep_h origin, const server::Request& request);
  void refuse(const RequestTag& tag, ucp_ep_h origin);
  void answer(ucp_ep_h origin, std::unique_ptr<Answer> answer, const void* data, std::size_t bytes);

  const std::size_t processes_;
  const std::size_t chunk_bytes_;
  node::BlockFinder blocks_;
  const server::IsInside is_inside_;
  Worker worker_;
};

}  // namespace armci::ucx
