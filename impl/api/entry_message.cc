// Entry points: messages. Almost all of them are defined in messages*.cc; here are those that need the runtime.
#include "impl/api/entry.h"
#include "impl/runtime/messages.h"

namespace armci::runtime::api {

static Valued<int> armci_msg_rcvany(int tag, void* buf, int buflen, int* msglen) {
  Valued<int> result{kSuccess, -1, true};  // returns the sender: there is no code to return
  result.status = armci_msg_rcvany(tag, buf, buflen, msglen, &result.value);
  return result;
}

namespace {

// All stores of all members are complete when the barrier opens [FENCE-5].
Status armci_msg_group_barrier(ARMCI_Group* handle) {
  Group* group = nullptr;
  ARMCI_RETURN_IF_ERROR(groups().find(handle, &group));
  return runtime().barrier(*group);
}

}  // namespace
}  // namespace armci::runtime::api

ARMCI_API_MESSAGE(ARMCI_DEFINE_ENTRY)
