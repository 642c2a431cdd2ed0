// What does ARMCI cost against tagged messages of UCX that a program sends and receives by itself?
//
// The cases of `messages`, which is about MPI. While messages are measured rank 1 advances its worker.
#include "bench/baseline/ucx_peer.h"
#include "bench/session/message_cases.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

constexpr int kTarget = 1;

RawMessages ByUcx(const UcxPeer& peer) {
  return {"ucp_tag_send_nbx", "ucx_message",
          [&peer](int back, long count) { return peer.Transfers(Ucp::kReceive, static_cast<size_t>(back), 1, count); },
          [&peer](bool to_target, int bytes, int window, long count) {
            return peer.Transfers(to_target ? Ucp::kSend : Ucp::kReceive, static_cast<size_t>(bytes), window, count);
          },
          [&peer] { peer.Look(); }};
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"ucx_messages", "transfers against tagged messages of UCX", 2, /*between_nodes=*/true});
  {
    const UcxPeer peer(MPI_COMM_WORLD, kTarget, kMessagesMost);
    Require(peer.MovesData(), "moving data by raw UCX");
    session.Note("ucx", ucp_get_version_string());
    RunMessageCases(&session, ByUcx(peer), kTarget);
  }
  return session.Finish();
}
