#include "impl/common/background_thread.h"

#include <sched.h>
#include <signal.h>

#include <system_error>
#include <utility>

namespace armci::common {

// Every CPU there may be; the kernel takes away those that the job may not use.
void leave_binding(pthread_t thread) {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) CPU_SET(cpu, &all);
  pthread_setaffinity_np(thread, sizeof all, &all);
}

Status start_background_thread(const char* name, std::function<void()> body, std::thread* thread) {
  sigset_t every;
  sigset_t before;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  Status status;
  try {
    *thread = std::thread(std::move(body));
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
