// The tests of Runtime over a fake transport, in one translation unit: most of the compiler's work is Runtime itself,
// which they share. A new part has a line here.
#include "impl/runtime/runtime_aggregate_test.cc"
#include "impl/runtime/runtime_atomics_test.cc"
#include "impl/runtime/runtime_faults_test.cc"
#include "impl/runtime/runtime_mutex_test.cc"
#include "impl/runtime/runtime_order_test.cc"
#include "impl/runtime/runtime_sync_test.cc"
#include "impl/runtime/runtime_transfer_test.cc"
#include "impl/runtime/runtime_whole_test.cc"
