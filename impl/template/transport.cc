#include "impl/template/transport.h"

namespace armci::template_port {

namespace {

// The answer of a member that is not written yet; goes away with the last of them.
Status not_implemented(const char* member, int level) {
  return fail(Code::kUnsupported, nullptr,
              "%s of the port template is not implemented; write it in impl/template/transport.cc, it belongs "
              "to level %d of docs/porting.md",
              member, level);
}

}  // namespace

// Collective. Connect the processes of world.comm(), or prepare to connect them on first use. What cannot work here is
// refused with a sentence that says what to raise or to link instead; Runtime has all processes agree on it.
Status Transport::initialise(const runtime::World&) { return not_implemented("initialise", 1); }

// Collective. Also called where initialise() failed, on this process or on another: take down what is there.
void Transport::finalise() {}

// Local. The key is filled in completely: it travels as bytes.
Status Transport::register_memory(void*, std::size_t, Key*) { return not_implemented("register_memory", 1); }

void Transport::deregister_memory(const Key&) {}

// Starts and returns. `local` is read until test() says done, and not looked at afterwards.
Status Transport::put(int, const Key&, void*, const void*, std::size_t, Completion*) {
  return not_implemented("put", 2);
}

// Starts and returns. `local` has the data when test() says done.
Status Transport::get(int, const Key&, const void*, void*, std::size_t, Completion*) {
  return not_implemented("get", 2);
}

// Never blocks, and advances the transfer: it is called in a loop.
Status Transport::test(Completion*, bool*) { return not_implemented("test", 2); }

// Waits until every put to target is visible to all, without help of the target's program.
Status Transport::flush(int) { return not_implemented("flush", 2); }

// Never blocks. Empty where a thread or the network does all the work.
void Transport::progress() {}

// Returns when it has taken effect; *before is written on success only.
Status Transport::atomic64(int, const Key&, void*, runtime::AtomicOp, std::int64_t, std::int64_t, std::int64_t*) {
  return not_implemented("atomic64", 4);
}

}  // namespace armci::template_port
