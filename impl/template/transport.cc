#include "impl/template/transport.h"

namespace armci::template_port {

namespace {

// The result of a member that is not written yet. Delete this function with its last use.
Status not_implemented(const char* member, int level) {
  return fail(Code::kUnsupported, nullptr,
              "%s of the port template is not implemented; write it in impl/template/transport.cc, it belongs "
              "to level %d of docs/porting.md",
              member, level);
}

}  // namespace

// Collective. Connect the processes of world.comm(), or prepare to connect them on first use. If the transport cannot
// work here, return an error that says what to raise or to link instead; Runtime returns the error on all processes.
Status Transport::initialise(const runtime::World&) { return not_implemented("initialise", 1); }

// Collective. Also called where initialise() failed, on this process or on another: destroy what exists.
void Transport::finalise() {}

// Local. Fill in the whole key: Runtime sends it as bytes.
Status Transport::register_memory(void*, std::size_t, Key*) { return not_implemented("register_memory", 1); }

void Transport::deregister_memory(const Key&) {}

// Issues the put and returns. The transport may read `local` until test() reports done, and not afterwards.
Status Transport::put(int, const Key&, void*, const void*, std::size_t, Completion*) {
  return not_implemented("put", 2);
}

// Issues the get and returns. `local` has the data once test() reports done.
Status Transport::get(int, const Key&, const void*, void*, std::size_t, Completion*) {
  return not_implemented("get", 2);
}

// Never blocks, and makes progress: Runtime calls test() in a loop.
Status Transport::test(Completion*, bool*) { return not_implemented("test", 2); }

// Waits until every put to target is visible to all processes, without the target's program.
Status Transport::flush(int) { return not_implemented("flush", 2); }

// Never blocks. Empty where a thread or the network does all the work.
void Transport::progress() {}

// Returns when it has taken effect; *before is written on success only.
Status Transport::atomic64(int, const Key&, void*, runtime::AtomicOp, std::int64_t, std::int64_t, std::int64_t*) {
  return not_implemented("atomic64", 4);
}

}  // namespace armci::template_port
