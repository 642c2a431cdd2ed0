#include "bench/session/targets.h"

#include <cstdio>
#include <cstdlib>

namespace armci::bench {
namespace {

struct Row {
  std::string_view key;
  Target target;
};

// A baseline is always the fastest raw way measured in the same rounds.
constexpr Row kTargets[] = {
    // Small transfers, against a call of memcpy with 8 bytes.
    {"put_8", {Limit::kTimeAtMost, 5}},
    {"get_8", {Limit::kTimeAtMost, 5}},
    {"put_fence_8", {Limit::kTimeAtMost, 6}},  // plus one full memory barrier
    {"put_value", {Limit::kTimeAtMost, 4}},
    {"acc_8", {Limit::kTimeAtMost, 10}},
    // Data movement, against the best copy or the plain loop.
    {"contiguous", {Limit::kRateAtLeast, 0.95}},
    {"strided_2d", {Limit::kRateAtLeast, 0.95}},
    {"strided_collapsed", {Limit::kRateAtLeast, 0.95}},
    {"vector", {Limit::kRateAtLeast, 0.9}},
    // Accumulate, against axpy; two processes on disjoint halves, against one.
    {"accumulate", {Limit::kRateAtLeast, 0.8}},
    {"accumulate_pair", {Limit::kRateAtLeast, 1.6}},
    // Atomics and locks.
    {"fetch_add", {Limit::kTimeAtMost, 2}},
    {"fetch_add_contended", {Limit::kRateAtLeast, 0.8}},
    {"lock_unlock", {Limit::kTimeAtMost, 4}},
    {"lock_contended", {Limit::kTimeAtMost, 3}},  // of the same critical sections run by one process
    // One-sided calls of MPI, with the same completion; for shapes the better of datatypes and one operation per
    // segment, but for noise.
    {"rma_transfer", {Limit::kTimeAtMost, 1.1}},
    {"rma_shape", {Limit::kTimeAtMost, 1.05}},
    {"rma_fetch_add", {Limit::kTimeAtMost, 1.15}},
    // Messages that both sides know of: round trips of the same lengths, and streams with as many pending.
    {"message_round_trip", {Limit::kTimeAtMost, 1.35}},
    {"message_round_trip_atomic", {Limit::kTimeAtMost, 1.4}},
    {"message_initiation", {Limit::kTimeAtMost, 0.1}},
    {"message_stream", {Limit::kRateAtLeast, 0.95}},
    {"message_stream_short", {Limit::kRateAtLeast, 0.8}},
    {"message_stream_rows", {Limit::kRateAtLeast, 0.9}},
    {"message_stream_rows_short", {Limit::kRateAtLeast, 0.75}},
    {"message_stream_accumulate", {Limit::kRateAtLeast, 0.75}},
    {"aggregate_of_vector", {Limit::kTimeAtMost, 1.15}},
    {"aggregate_of_puts", {Limit::kTimeAtMost, 0.05}},
    // Raw RDMA of the same lengths and with the same completion, and a round trip of sends; for rows the same number of
    // non-blocking calls, and one contiguous transfer.
    {"verbs_put_get", {Limit::kTimeAtMost, 1.15}},
    {"verbs_stream", {Limit::kRateAtLeast, 0.95}},
    {"verbs_stream_unregistered", {Limit::kRateAtLeast, 0.8}},
    {"verbs_notify", {Limit::kTimeAtMost, 1.25}},
    {"verbs_atomic", {Limit::kTimeAtMost, 1.3}},
    {"verbs_rows", {Limit::kTimeAtMost, 1}},
    {"verbs_rows_rate", {Limit::kRateAtLeast, 0.8}},
    // Raw UCX of the same lengths and with the same completion.
    {"ucx_put_get", {Limit::kTimeAtMost, 1.2}},
    {"ucx_stream", {Limit::kRateAtLeast, 1 / 1.2}},
    {"ucx_atomic", {Limit::kTimeAtMost, 1.3}},
    // Its tagged messages, as those of MPI above.
    {"ucx_message_round_trip", {Limit::kTimeAtMost, 1.15}},
    {"ucx_message_round_trip_atomic", {Limit::kTimeAtMost, 1.15}},
    {"ucx_message_initiation", {Limit::kTimeAtMost, 0.1}},
    {"ucx_message_stream", {Limit::kRateAtLeast, 0.95}},
    {"ucx_message_stream_short", {Limit::kRateAtLeast, 0.85}},
    {"ucx_message_stream_rows", {Limit::kRateAtLeast, 0.85}},
    {"ucx_message_stream_rows_short", {Limit::kRateAtLeast, 0.75}},
    {"ucx_message_stream_accumulate", {Limit::kRateAtLeast, 0.95}},
    // By way of another node's server, against straight to the target's.
    {"forwarded", {Limit::kTimeAtMost, 1.6}},
    // While processes compute: microseconds, part of a core, part of a transfer.
    {"busy_p99", {Limit::kValueAtMost, 1000}},
    {"idle_server", {Limit::kValueAtMost, 0.02}},
    {"idle_wait", {Limit::kValueAtMost, 0.02}},
    {"overlap", {Limit::kValueAtMost, 0.2}},
    // A guideline: the direct way is never slower than the roundabout one, but for noise.
    {"consistency", {Limit::kTimeAtMost, 1.05}},
    // One fence of all targets, against fences one by one [FENCE-7].
    {"fence_all", {Limit::kTimeAtMost, 1}},
    {"fence_all_of_singles", {Limit::kTimeAtMost, 1.0 / 3}},
    // A program by ARMCI, against the same by messages.
    {"kernel", {Limit::kTimeAtMost, 1}},
    // Collective calls.
    {"barrier", {Limit::kTimeAtMost, 1}},  // of MPI_Barrier
    {"malloc_free", {Limit::kSecondsAtMost, 200e-6}},
    {"growth_bytes", {Limit::kValueAtMost, 1 << 20}},  // over all cycles: one page per cycle would be 80 times that
    {"growth_count", {Limit::kValueAtMost, 0}},
};

}  // namespace

Target FindTarget(std::string_view key) {
  if (key.empty()) return {};
  for (const Row& row : kTargets) {
    if (row.key == key) return row.target;
  }
  std::fprintf(stderr, "bench: no target is named \"%.*s\"\n", static_cast<int>(key.size()), key.data());
  std::abort();
}

}  // namespace armci::bench
