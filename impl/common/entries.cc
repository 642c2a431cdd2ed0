// The entry points and what is instantiated with them, in one translation unit: each implementation compiles it anew,
// and most of the compiler's work is the headers and Runtime, which they all share. A new part has a
// line here.
#include "impl/common/entry_atomic.cc"
#include "impl/common/entry_complete.cc"
#include "impl/common/entry_extension.cc"
#include "impl/common/entry_group.cc"
#include "impl/common/entry_introspection.cc"
#include "impl/common/entry_memory.cc"
#include "impl/common/entry_message.cc"
#include "impl/common/entry_start.cc"
#include "impl/common/entry_transfer.cc"
#include "impl/common/entry_transfer64.cc"
#include "impl/common/library.cc"
#include "impl/common/state_report.cc"
