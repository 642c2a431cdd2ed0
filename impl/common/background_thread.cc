#include "impl/common/background_thread.h"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>

namespace armci::common {

bool read_cpu_list(const char* text, cpu_set_t* cpus) {
  CPU_ZERO(cpus);
  for (const char* at = text;; ++at) {
    unsigned first = 0;
    const char* const end = text + std::strlen(text);
    auto number = std::from_chars(at, end, first);
    unsigned last = first;
    if (number.ec == std::errc() && number.ptr != end && *number.ptr == '-') {
      number = std::from_chars(number.ptr + 1, end, last);
    }
    if (number.ec != std::errc() || last < first || last >= CPU_SETSIZE) return false;
    for (unsigned cpu = first; cpu <= last; ++cpu) CPU_SET(cpu, cpus);
    at = number.ptr;
    if (at == end) return true;
    if (*at != ',') return false;
  }
}

// Every CPU there may be; the kernel takes away those that the job may not use.
void leave_binding(pthread_t thread) {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) CPU_SET(cpu, &all);
  pthread_setaffinity_np(thread, sizeof all, &all);
}

// Turns of 100 us, the least there is, instead of a millisecond or more: Linux from 6.12 on then lets the thread run as
// soon as it wakes up, before a program that computes has used up its own turn. Its share of the CPU stays the same.
// Others take no notice.
void ask_for_short_turns() {
#ifdef SYS_sched_setattr
  struct {
    std::uint32_t size;
    std::uint32_t policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime_ns;
    std::uint64_t deadline_ns;
    std::uint64_t period_ns;
  } attributes{};
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0 || attributes.policy != SCHED_OTHER) return;
  attributes.runtime_ns = 100'000;
  (void)syscall(SYS_sched_setattr, 0, &attributes, 0);
#endif
}

Status start_background_thread(const char* name, std::function<void()> body, std::thread* thread) {
  sigset_t every;
  sigset_t before;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  Status status;
  try {
    *thread = std::thread([body = std::move(body)] {
      ask_for_short_turns();
      body();
    });
  } catch (const std::system_error& error) {
    status = fail(Code::kMemory, nullptr, "cannot start the thread %s: %s", name, error.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ARMCI_RETURN_IF_ERROR(status);
  pthread_setname_np(thread->native_handle(), name);
  leave_binding(thread->native_handle());
  return kSuccess;
}

}  // namespace armci::common
