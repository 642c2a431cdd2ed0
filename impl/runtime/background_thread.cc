#include "impl/runtime/background_thread.h"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>

namespace armci::runtime {
namespace {

constexpr char kEveryCpu[] = "0-1023";
static_assert(CPU_SETSIZE == 1024);
constexpr char kOwnCpus[] = "own";

cpu_set_t make_every_cpu() {
  cpu_set_t cpus;
  (void)read_cpu_list(kEveryCpu, &cpus);
  return cpus;
}

cpu_set_t the_cpus = make_every_cpu();

}  // namespace

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

Status set_server_cpus(const std::string& text) {
  the_cpus = make_every_cpu();
  if (text.empty()) return kSuccess;
  CPU_ZERO(&the_cpus);
  if (text == kOwnCpus) return kSuccess;
  if (!read_cpu_list(text.c_str(), &the_cpus)) {
    return fail(Code::kArgument, "ERR-1",
                "environment variable ARMCI_SERVER_CPUS = '%s' is neither a list of CPUs such as 0-3,8 nor own; set it "
                "to one of these",
                text.c_str());
  }
  // Tried by the caller: no thread is there yet.
  cpu_set_t before;
  if (pthread_getaffinity_np(pthread_self(), sizeof before, &before) != 0) return kSuccess;
  const Status tried = place_server(pthread_self(), the_cpus);
  pthread_setaffinity_np(pthread_self(), sizeof before, &before);
  return tried;
}

const cpu_set_t& server_cpus() { return the_cpus; }

Status place_server(pthread_t thread, const cpu_set_t& cpus) {
  if (CPU_COUNT(&cpus) == 0) return kSuccess;
  // The kernel takes away what the job may not use.
  const int error = pthread_setaffinity_np(thread, sizeof cpus, &cpus);
  if (error == 0 || CPU_COUNT(&cpus) == CPU_SETSIZE) return kSuccess;
  return fail_errno(error,
                    "the server cannot run on the CPUs of ARMCI_SERVER_CPUS; set it to CPUs that the job may use "
                    "(taskset -cp PID shows them)");
}

// Time slices of 100 us, the shortest of Linux, instead of a millisecond or more. Linux from 6.12 on then runs this
// thread as soon as it wakes up, before a computing program has used up its own slice. The thread's share of the CPU
// stays the same. Other systems ignore the request.
void request_short_slices() {
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
      request_short_slices();
      body();
    });
  } catch (const std::system_error& error) {
    status = fail(Code::kMemory, nullptr,
                  "the process cannot start the thread %s: %s; raise the limit on processes (ulimit -u)", name,
                  error.what());
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ARMCI_RETURN_IF_ERROR(status);
  pthread_setname_np(thread->native_handle(), name);
  (void)place_server(thread->native_handle(), server_cpus());
  return kSuccess;
}

}  // namespace armci::runtime
