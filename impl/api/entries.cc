// The entry points and what is instantiated with them, in one translation unit: each implementation compiles it anew,
// and most of the compiler's work is the headers and Runtime, which they all share. A new part has a
// line here.
#include "impl/api/entry_atomic.cc"
#include "impl/api/entry_complete.cc"
#include "impl/api/entry_extension.cc"
#include "impl/api/entry_group.cc"
#include "impl/api/entry_introspection.cc"
#include "impl/api/entry_memory.cc"
#include "impl/api/entry_message.cc"
#include "impl/api/entry_start.cc"
#include "impl/api/entry_transfer.cc"
#include "impl/api/entry_transfer64.cc"
#include "impl/api/library.cc"
#include "impl/api/state_report.cc"
