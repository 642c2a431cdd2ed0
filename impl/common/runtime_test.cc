// The tests of Runtime over a fake transport, in one translation unit: most of the compiler's work is Runtime itself,
// which they share. A new part has a line here.
#include "impl/common/runtime_aggregate_test.cc"
#include "impl/common/runtime_atomics_test.cc"
#include "impl/common/runtime_faults_test.cc"
#include "impl/common/runtime_mutex_test.cc"
#include "impl/common/runtime_order_test.cc"
#include "impl/common/runtime_sync_test.cc"
#include "impl/common/runtime_transfer_test.cc"
#include "impl/common/runtime_whole_test.cc"
