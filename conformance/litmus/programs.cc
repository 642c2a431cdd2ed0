// The programs and their tables of outcomes; spec/semantics.md, "Litmus shapes", has the same in prose. Shapes of that
// list in other files:
//   put with signal, compare-and-swap from 0 to i: ext_litmus_test.cc, as they need armcix.h
//   accumulate by n processes, k times, in different shapes: acc_test.cc, ACC2_*_sums_are_exact_under_contention
//
// Blocking operations are ordered as the clauses say. In the non-blocking forms a store that was only waited for is
// complete locally and ordered with nothing (ORD-3), so that what needed the order of two stores becomes interesting
// there; what needed a fence stays forbidden.

#include "armci.h"
#include "conformance/litmus/program.h"

namespace conformance::litmus {
namespace {

constexpr Grade kAcceptable = Grade::kAcceptable;
constexpr Grade kInteresting = Grade::kInteresting;
constexpr Grade kForbidden = Grade::kForbidden;

using Table = std::vector<OutcomeRow>;

// r1: the flag, r2: the data. `last` says what a flag without data means.
Table MessagePassing(const OutcomeRow& last, Grade between = kAcceptable) {
  return {{"0 0", kAcceptable, "the reader came before both stores"},
          {"1 1", kAcceptable, "the reader came after both stores"},
          {"0 1", between, "the reader came between the stores"},
          last};
}

std::vector<Litmus> MessagePassingPrograms() {
  const char* const kReader = "r1=f; wait; r2=x";
  const OutcomeRow fenced{"1 0", kForbidden, "the flag was stored after the fence of the data", "FENCE-1"};
  const OutcomeRow two_targets{"1 0", kInteresting, "stores to different targets are unordered", "ORD-2"};
  const OutcomeRow waited{"1 0", kInteresting, "a wait orders nothing remotely", "ORD-3"};
  return {
      {"MP_one_target",
       "ORD",
       "ORD1",
       {"ORD-1", "ORD-3"},
       "x@A f@A",
       {"x=1; wait; f=1", kReader},
       "r1 r2",
       MessagePassing({"1 0", kForbidden, "the later blocking store overtook the earlier one", "ORD-1"}, kInteresting),
       MessagePassing(waited, kInteresting)},
      {"MP_one_target_fence",
       "FENCE",
       "FENCE1",
       {"FENCE-1"},
       "x@A f@A",
       {"x=1; fence x; f=1", kReader},
       "r1 r2",
       MessagePassing(fenced, kInteresting),
       MessagePassing(fenced, kInteresting)},
      {"MP_two_targets",
       "ORD",
       "ORD2",
       {"ORD-2"},
       "x@A f@B",
       {"x=1; wait; f=1", kReader},
       "r1 r2",
       MessagePassing(two_targets),
       MessagePassing(two_targets)},
      {"MP_two_targets_fence",
       "FENCE",
       "FENCE1",
       {"FENCE-1", "ORD-2"},
       "x@A f@B",
       {"x=1; fence x; f=1", kReader},
       "r1 r2",
       MessagePassing(fenced),
       MessagePassing(fenced)},
      {"MP_RMW_as_flag",
       "RMW",
       "RMW5",
       {"RMW-5"},
       "x@A f@A",
       {"x=1; wait; _=f+1", "r1=f+0; wait; r2=x"},
       "r1 r2",
       MessagePassing({"1 0", kForbidden, "the RMW overtook the blocking store before it", "RMW-5"}),
       MessagePassing(waited)},
  };
}

int PutFlag(const Plan& plan, char* src, char* dst, char* flag, int proc, bool /*nonblocking*/) {
  int* int_flag = reinterpret_cast<int*>(flag);
  if (plan.shape == Shape::kContiguous) return ARMCI_Put_flag(src, dst, plan.count[0], int_flag, 1, proc);
  std::vector<int> count = plan.count;
  std::vector<int> src_stride = plan.src_stride;
  std::vector<int> dst_stride = plan.dst_stride;
  return ARMCI_PutS_flag(src, src_stride.data(), dst, dst_stride.data(), count.data(),
                         static_cast<int>(count.size()) - 1, int_flag, 1, proc);
}

// Calls that announce the data other than by a store of their own.
std::vector<Litmus> TellingPrograms() {
  const Table flag =
      MessagePassing({"1 0", kForbidden, "the flag of a put came before its data", "ORD-5"}, kInteresting);
  const Table announced{{"1", kAcceptable, "the data was there when the wait returned"},
                        {"0", kForbidden, "the notification came before a store to the one it tells", "ORD-6"}};
  const Table passed_on{{"1", kAcceptable, "the data is visible to all from the fence on"},
                        {"0", kForbidden, "the chain of notifications began with a fence of the data", "LC-1"}};
  const Table relayed{{"1", kAcceptable, "the data is complete when its target returns from the wait"},
                      {"0", kForbidden, "the target passed on a notification of data that had not come", "ORD-6"}};
  const Table not_fenced{{"1", kAcceptable, "the data came before the reader"},
                         {"0", kInteresting, "a notification of the target is no fence to others"}};
  return {
      {"MP_put_flag",
       "ORD",
       "ORD5",
       {"ORD-5"},
       "x@A f@A",
       {"x,f=1", "r1=f; wait; r2=x"},
       "r1 r2",
       flag,
       flag,
       Stores::kContiguousOrStridedFlag,
       true,
       true,
       {"ARMCI_Put_flag", "ARMCI_PutS_flag"},
       {PutFlag}},
      {"MP_notify",
       "ORD",
       "ORD6",
       {"ORD-6", "LC-1"},
       "x@P1",
       {"x=1; notify 1", "await 0; r1=x"},
       "r1",
       announced,
       announced,
       Stores::kPutOrAcc,
       true,
       false,
       {"armci_notify", "armci_notify_wait"}},
      {"WRC_notify",
       "LC",
       "LC1",
       {"LC-1", "ORD-6", "FENCE-1"},
       "x@A",
       {"x=1; fence x; notify 1", "await 0; notify 2", "await 1; r1=x"},
       "r1",
       passed_on,
       passed_on,
       Stores::kPutOrAcc,
       true,
       false,
       {"armci_notify", "armci_notify_wait"}},
      {"WRC_notify_of_the_target",
       "LC",
       "LC1",
       {"LC-1", "ORD-6"},
       "x@P1",
       {"x=1; notify 1", "await 0; notify 2", "await 1; r1=x"},
       "r1",
       relayed,
       relayed,
       Stores::kPutOrAcc,
       true,
       false,
       {"armci_notify", "armci_notify_wait"}},
      {"MP_notify_past_the_target",
       "ORD",
       "ORD6",
       {"ORD-6"},
       "x@P1",
       {"x=1; notify 1; notify 2", "await 0", "await 0; r1=x"},
       "r1",
       not_fenced,
       not_fenced,
       Stores::kPutOrAcc,
       true,
       false,
       {"armci_notify", "armci_notify_wait"}},
  };
}

// r1: the relay's reading, r2: what the relay wrote, r3: the data.
Table Relay(const OutcomeRow& too_early, const OutcomeRow& last) {
  return {too_early,
          {"0 0 ?", kAcceptable, "the relay came before the store it waits for"},
          {"1 0 1", kAcceptable, "the reader came before the relay's store"},
          {"1 1 1", kAcceptable, "the chain is complete"},
          {"0 1 ?", kForbidden, "the relay stored a 1 that it had not read", "LC-3"},
          last};
}

std::vector<Litmus> RelayPrograms() {
  const char* const kRelay = "r1=f; wait; g=r1";
  const char* const kReader = "r2=g; wait; r3=x";
  const OutcomeRow before_relay{"1 0 0", kAcceptable, "the reader came before the relay's store"};
  const OutcomeRow before_fence{"1 0 0", kInteresting,
                                "legal if the reader came before the end of the fence, which it cannot tell"};
  const OutcomeRow unfenced{"1 1 0", kInteresting, "data and flag lie at different targets, without a fence", "ORD-2"};
  const OutcomeRow fenced{"1 1 0", kForbidden, "the chain began with a fence of the data", "FENCE-1"};
  const OutcomeRow relayed{"1 1 0", kForbidden, "the relay had read the data before its fence", "FENCE-8"};
  const OutcomeRow handed_over{"1 1 0", kForbidden, "the mutex went from the writer to the relay and on to the reader",
                               "LC-1"};
  return {
      {"WRC",
       "ORD",
       "ORD2",
       {"ORD-2"},
       "x@A f@B g@C",
       {"x=1; wait; f=1", kRelay, kReader},
       "r1 r2 r3",
       Relay(before_relay, unfenced),
       Relay(before_relay, unfenced)},
      {"WRC_fence",
       "FENCE",
       "FENCE1",
       {"FENCE-1"},
       "x@A f@B g@C",
       {"x=1; fence x; f=1", kRelay, kReader},
       "r1 r2 r3",
       Relay(before_fence, fenced),
       Relay(before_fence, fenced)},
      {"WRC_fence_at_relay",
       "FENCE",
       "FENCE8",
       {"FENCE-8"},
       "x@A g@B",
       {"x=1", "r1=x; wait; allfence; g=r1", kReader},
       "r1 r2 r3",
       Relay(before_relay, relayed),
       Relay(before_relay, relayed)},
      // f and g only tell in which order the critical sections came; f goes first, so that nothing but the mutex helps
      // x.
      {"WRC_mutex",
       "LC",
       "LC1",
       {"LC-1", "MUTEX-2"},
       "x@A f@B g@C",
       {"lock; f=1; x=1; fence f; fence x; unlock", "lock; r1=f; wait; g=r1; fence g; unlock",
        "lock; r2=g; wait; r3=x; wait; unlock"},
       "r1 r2 r3",
       Relay(before_relay, handed_over),
       Relay(before_relay, handed_over),
       Stores::kPutOrAcc,
       true,
       false},
  };
}

// Two threads that each read the value that the other one stored, or stores.
Table Crosswise(const OutcomeRow& special, const char* other) {
  return {{"0 1", kAcceptable, "P0 came first"},
          {"1 0", kAcceptable, "P1 came first"},
          {other, kAcceptable, "the threads ran together"},
          special};
}

std::vector<Litmus> BufferingPrograms() {
  const OutcomeRow early_reads{"0 0", kInteresting, "nothing orders a read after a store to another target", "ORD-2"};
  const OutcomeRow fenced{"0 0", kForbidden, "both read after the fence of their store", "FENCE-1"};
  const OutcomeRow late_gets{"1 1", kForbidden, "both gets saw a store issued because they had returned", "CMPL-2"};
  const OutcomeRow open_gets{"1 1", kInteresting, "a non-blocking get may read until its wait", "CMPL-3"};
  return {
      {"SB",
       "ORD",
       "ORD2",
       {"ORD-2"},
       "x@A y@B",
       {"x=1; wait; r1=y", "y=1; wait; r2=x"},
       "r1 r2",
       Crosswise(early_reads, "1 1"),
       Crosswise(early_reads, "1 1")},
      {"SB_fence",
       "FENCE",
       "FENCE1",
       {"FENCE-1"},
       "x@A y@B",
       {"x=1; fence x; r1=y", "y=1; fence y; r2=x"},
       "r1 r2",
       Crosswise(fenced, "1 1"),
       Crosswise(fenced, "1 1")},
      {"SB_allfence",
       "FENCE",
       "FENCE2",
       {"FENCE-2"},
       "x@A y@B",
       {"x=1; allfence; r1=y", "y=1; allfence; r2=x"},
       "r1 r2",
       Crosswise(fenced, "1 1"),
       Crosswise(fenced, "1 1")},
      {"LB",
       "CMPL",
       "CMPL2",
       {"CMPL-2"},
       "x@A y@B",
       {"r1=x; y=1", "r2=y; x=1"},
       "r1 r2",
       Crosswise(late_gets, "0 0"),
       Crosswise(open_gets, "0 0")},
  };
}

// r1 r2: x then y as P2 sees them, r3 r4: y then x as P3 does.
Table Readers(const OutcomeRow& opposite) {
  return {opposite, {"? ? ? ?", kAcceptable, "the readers agree on an order of the stores"}};
}

std::vector<Litmus> IndependentReadsPrograms() {
  const OutcomeRow free{"1 0 1 0", kInteresting, "stores to different targets: the readers need not agree", "ORD-2"};
  const OutcomeRow fenced{"1 0 1 0", kForbidden, "a store read before an allfence is visible to all after it",
                          "FENCE-8"};
  const OutcomeRow locked{"1 0 1 0", kForbidden, "the critical sections of one mutex have one order", "LC-1, MUTEX-2"};
  return {
      {"IRIW",
       "ORD",
       "ORD2",
       {"ORD-2"},
       "x@A y@B",
       {"x=1", "y=1", "r1=x; wait; r2=y", "r3=y; wait; r4=x"},
       "r1 r2 r3 r4",
       Readers(free),
       Readers(free)},
      {"IRIW_allfence",
       "FENCE",
       "FENCE8",
       {"FENCE-8"},
       "x@A y@B",
       {"x=1", "y=1", "r1=x; wait; allfence; r2=y", "r3=y; wait; allfence; r4=x"},
       "r1 r2 r3 r4",
       Readers(fenced),
       Readers(fenced)},
      {"IRIW_mutex",
       "LC",
       "LC1",
       {"LC-1", "MUTEX-2"},
       "x@A y@B",
       {"lock; x=1; fence x; unlock", "lock; y=1; fence y; unlock",
        "lock; r1=x; wait; unlock; lock; r2=y; wait; unlock", "lock; r3=y; wait; unlock; lock; r4=x; wait; unlock"},
       "r1 r2 r3 r4",
       Readers(locked),
       Readers(locked)},
  };
}

std::vector<Litmus> CoherencePrograms() {
  const auto reads = [](const OutcomeRow& back) -> Table {
    return {{"0 0", kAcceptable, "before both stores"},
            {"0 1", kAcceptable, "the first store came between the reads"},
            {"0 2", kAcceptable, "both stores came between the reads"},
            {"1 1", kAcceptable, "between the stores"},
            {"1 2", kAcceptable, "the second store came between the reads"},
            {"2 2", kAcceptable, "after both stores"},
            {"1 0", kForbidden, "the second read is older than the first", "ORD-4"},
            {"2 0", kForbidden, "the second read is older than the first", "ORD-4"},
            back};
  };
  const auto own = [](const OutcomeRow& back) -> Table {
    return {{"1 1", kAcceptable, "the other store came first"},
            {"1 2", kAcceptable, "the other store came last"},
            {"2 2", kAcceptable, "the other store came before the read"},
            {"0 1", kForbidden, "P0 does not see its own store", "ORD-4"},
            {"0 2", kForbidden, "P0 does not see its own store", "ORD-4"},
            back};
  };
  return {
      {"CoRR",
       "ORD",
       "ORD4",
       {"ORD-4", "ORD-1", "ORD-3"},
       "x@A",
       {"x=1; x=2", "r1=x; wait; r2=x"},
       "r1 r2",
       reads({"2 1", kForbidden, "the stores took effect in the wrong order", "ORD-1"}),
       reads({"2 1", kInteresting, "two stores in flight are unordered", "ORD-3"}),
       Stores::kPut},
      {"CoWR",
       "ORD",
       "ORD4",
       {"ORD-4"},
       "x@A",
       {"x=1; wait; r1=x", "x=2"},
       "r1 x",
       own({"2 1", kForbidden, "P0 saw 2 after its own 1, so 2 is the later one", "ORD-4"}),
       own({"2 1", kInteresting, "the store of 1 had been waited for only", "ORD-3"}),
       Stores::kPut,
       false},
      {"CoWW",
       "ORD",
       "ORD1",
       {"ORD-1", "ORD-3", "FENCE-4"},
       "x@A",
       {"x=1; x=2"},
       "x",
       {{"2", kAcceptable, "the later store stays"},
        {"1", kForbidden, "the earlier store came last", "ORD-1"},
        {"0", kForbidden, "neither store is there after a barrier", "FENCE-4"}},
       {{"2", kAcceptable, "the later store stays"},
        {"1", kInteresting, "two stores in flight are unordered", "ORD-3"},
        {"0", kForbidden, "neither store is there after a barrier", "FENCE-4"}},
       Stores::kPut},
  };
}

std::vector<Litmus> AtomicPrograms() {
  const Table put_and_add{
      {"1 11", kAcceptable, "the put came first"},
      {"0 1", kAcceptable, "the RMW came first"},
      {"0 10", kInteresting, "a put is not promised to be atomic against an RMW (decision D39)"},
      {"0 11", kInteresting, "the same: the put came between the RMW's reading for its caller and its adding"},
      {"1 1", kForbidden, "the RMW saw the put, and its own effect is lost", "RMW-2"},
      {"1 10", kForbidden, "the RMW saw the put, and the sum is without it", "RMW-2"}};
  const Table tickets{{"0 1", kAcceptable, "an order"}, {"1 0", kAcceptable, "an order"}};
  const Table three_tickets{{"0 1 2", kAcceptable, "an order"}, {"0 2 1", kAcceptable, "an order"},
                            {"1 0 2", kAcceptable, "an order"}, {"1 2 0", kAcceptable, "an order"},
                            {"2 0 1", kAcceptable, "an order"}, {"2 1 0", kAcceptable, "an order"}};
  const Table sums{{"2", kAcceptable, "both are in the sum"},
                   {"1", kForbidden, "an accumulate was lost", "ACC-2"},
                   {"0", kForbidden, "no accumulate is there after a barrier", "FENCE-4"}};
  return {
      {"RMW_against_put",
       "RMW",
       "RMW2",
       {"RMW-2"},
       "x@A",
       {"x=1", "r1=x+10"},
       "r1 x",
       put_and_add,
       put_and_add,
       Stores::kPut},
      {"RMW_against_RMW",
       "RMW",
       "RMW3",
       {"RMW-2", "RMW-3"},
       "x@A",
       {"r1=x+1", "r2=x+1"},
       "r1 r2",
       tickets,
       {},
       Stores::kNone},
      {"RMW_against_two_RMW",
       "RMW",
       "RMW3",
       {"RMW-2", "RMW-3"},
       "x@A",
       {"r1=x+1", "r2=x+1", "r3=x+1"},
       "r1 r2 r3",
       three_tickets,
       {},
       Stores::kNone},
      {"ACC_against_ACC", "ACC", "ACC2", {"ACC-2", "FENCE-4"}, "x@A", {"x=1", "x=1"}, "x", sums, sums, Stores::kAcc},
  };
}

}  // namespace

const std::vector<Litmus>& Programs() {
  static const std::vector<Litmus> programs = [] {
    std::vector<Litmus> all;
    for (const auto& some : {MessagePassingPrograms(), TellingPrograms(), RelayPrograms(), BufferingPrograms(),
                             IndependentReadsPrograms(), CoherencePrograms(), AtomicPrograms()}) {
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }();
  return programs;
}

}  // namespace conformance::litmus
