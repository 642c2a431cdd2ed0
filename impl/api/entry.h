// The C entry points: checks, observation and error reports at the border between the program and the library.
//
// ARMCI_DEFINE_ENTRY turns a row of the API table into the strong function PARMCI_X and its weak alias ARMCI_X (the
// profiling interface). The function calls api::ARMCI_X, which executes the call. Everything that all calls share is
// here, once: refusal before init and after finalize, statistics, and the watchdog. A failed Status becomes a return
// code and one line on stderr; for calls that cannot return a code, it ends the job [ERR-1, ERR-2]. No exception passes
// it.
//
// Included by the parts of entries.cc only; compiled once per implementation, with ARMCI_TRANSPORT_HEADER
// naming the header that defines armci::SelectedTransport.
#pragma once

#include ARMCI_TRANSPORT_HEADER

#include <atomic>
#include <cstdint>
#include <new>
#include <type_traits>

#include "armcix.h"
#include "impl/api/api_id.h"
#include "impl/api/observed_call.h"
#include "impl/base/status.h"
#include "impl/runtime/runtime.h"

namespace armci::runtime {

using SelectedRuntime = Runtime<SelectedTransport>;
static_assert(!(SelectedTransport::kTraits.reaches_nodes &&
                SelectedTransport::kTraits.atomicity == Atomicity::kNodeCpu) ||
                  Accumulates<SelectedTransport>,
              "an accumulate of Runtime's under a lock word would not be atomic together with those of the target "
              "node's CPU: such a transport needs accumulate_strided and accumulate_list");
// A child of fork leaves the members alone when it exits: their threads and connections are those of the parent
// [INIT-9].
union RuntimeOfJob {
  RuntimeOfJob() : runtime() {}
  ~RuntimeOfJob();
  SelectedRuntime runtime;
};
extern RuntimeOfJob the_runtime;
inline SelectedRuntime& runtime() { return the_runtime.runtime; }

enum GateFlag : std::uint32_t { kGateDown = 1, kGateObserved = 2 };
// Zero while the library is up and nothing observes calls. Entry points test this word only.
extern std::atomic<std::uint32_t> entry_gate;

// A result that is not a code. On failure the line is printed and `value` returned, or, with `fatal`, the job ends.
template <class R>
struct Valued {
  Status status;
  R value{};
  bool fatal = false;
};

[[gnu::cold]] int report(ApiId id, Status status);
[[noreturn, gnu::cold]] void report_fatal(ApiId id);
bool is_refused(ApiId id);     // true: the library is down and the call needs it up
bool returns_value(ApiId id);  // ARMCI_GetValue*, armci_msg_rcvany...: the result is no code
bool is_query(ApiId id);       // armci_domain_*...: -1 stands for an error
Status refuse_while_down();

template <class R>
struct IsValued : std::false_type {};
template <class R>
struct IsValued<Valued<R>> : std::true_type {};

// The outcome of an api function as the C function's result.
template <class R, class Outcome>
R translate(ApiId id, Outcome&& outcome) {
  using O = std::remove_cvref_t<Outcome>;
  if constexpr (std::is_same_v<O, Status>) {
    if constexpr (std::is_void_v<R>) {
      if (!outcome.ok()) [[unlikely]]
        report_fatal(id);
    } else {
      return outcome.ok() ? 0 : report(id, outcome);
    }
  } else if constexpr (IsValued<O>::value) {
    if (!outcome.status.ok()) [[unlikely]] {
      if (outcome.fatal) report_fatal(id);
      report(id, outcome.status);
    }
    return outcome.value;
  } else {
    return outcome;
  }
}

// The result of a call that may not run now.
template <class R>
R refuse(ApiId id) {
  const Status status = refuse_while_down();
  if constexpr (std::is_void_v<R>) {
    report_fatal(id);
  } else if constexpr (std::is_arithmetic_v<R>) {
    // Most calls return a code and queries return -1. A call that returns a value of the program has no value for
    // errors.
    if (returns_value(id)) report_fatal(id);
    const int code = report(id, status);
    return static_cast<R>(is_query(id) ? -1 : code);
  } else {
    report(id, status);
    return R{};
  }
}

// The usual way, all inlined: the body's captures must not cost a store to the stack.
template <class R, class Body>
[[gnu::always_inline]] inline R enter(ApiId id, Body body) {
  if constexpr (std::is_void_v<decltype(body())>) {
    body();
  } else {
    return translate<R>(id, body());
  }
}

// Taken while calls are observed or the library is down. cold: compiled for size (D107).
template <class R, class Body>
[[gnu::noinline, gnu::cold]] R enter_observed(ApiId id, const char* name, long peer, Body body) {
  if (is_refused(id)) return refuse<R>(id);
  const ObservedCall observed(id, name, peer);
  return enter<R>(id, body);
}

inline bool unobserved() { return entry_gate.load(std::memory_order_relaxed) == 0; }

}  // namespace armci::runtime

#include "impl/api/race_record.h"

// The `proc` in the entry point of a call without such a parameter: no peer to name.
static constexpr int proc = static_cast<int>(armci::runtime::kNoPeer);

// The compiler has seen that the strong function does not throw; its alias is declared before it could know.
#pragma GCC diagnostic ignored "-Wmissing-attributes"

#define ARMCI_DEFINE_ENTRY(result, strong, weak_name, parameters, arguments)                             \
  extern "C" [[gnu::visibility("default")]] result strong parameters noexcept {                          \
    using namespace armci::runtime;                                                                      \
    if (unobserved()) [[likely]] {                                                                       \
      return enter<result>(ApiId::weak_name, [&] { return armci::runtime::api::weak_name arguments; });  \
    }                                                                                                    \
    const void* const caller = __builtin_return_address(0);                                              \
    return enter_observed<result>(ApiId::weak_name, #weak_name, static_cast<long>(proc), [=]() mutable { \
      return call_recorded<ApiId::weak_name>(                                                            \
          caller, [&] { return RaceRecord<ApiId::weak_name> arguments; },                                \
          [&] { return armci::runtime::api::weak_name arguments; });                                     \
    });                                                                                                  \
  }                                                                                                      \
  extern "C" [[gnu::visibility("default"), gnu::weak, gnu::alias(#strong)]] result weak_name parameters;
