#include "impl/api/state_report.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "impl/api/entry.h"
#include "impl/base/backtrace.h"
#include "impl/base/report_line.h"
#include "impl/node/wait.h"
#include "impl/node/wait_report.h"
#include "impl/runtime/world.h"

namespace armci::runtime {
namespace {

// The length of the longest entry, with the note that there are more.
constexpr std::size_t kEntryBytesMax = 96;

void print_operations(int fd) {
  ReportLine line;
  line << runtime().pending_operations() << " pending non-blocking operations";
  const char* before = ": ";
  bool is_cut = false;
  runtime().visit_pending([&](int peer, std::size_t operations) {
    is_cut = is_cut || line.bytes_left() < kEntryBytesMax;
    if (is_cut) return;
    line << before << operations << " to process " << peer;
    before = ", ";
  });
  if (is_cut) line << " and more";
  line.write_to(fd);
}

void print_unflushed(int fd) {
  ReportLine line;
  line << "stores not fenced to: ";
  std::size_t unflushed = 0;
  std::size_t named = 0;
  for (int peer = 0; peer < world().size(); ++peer) {
    if (!runtime().has_unflushed_stores(peer)) continue;
    ++unflushed;
    if (line.bytes_left() < kEntryBytesMax) continue;
    line << (named++ == 0 ? "" : ", ") << peer;
  }
  if (unflushed == 0) line << "none";
  if (unflushed > named) line << " and " << unflushed - named << " more";
  line.write_to(fd);
}

void print_held(int fd) {
  ReportLine line;
  std::size_t held = 0;
  std::size_t named = 0;
  line << "holds ";
  const bool visited = runtime().visit_held([&](int mutex, int host) {
    ++held;
    if (line.bytes_left() < kEntryBytesMax) return;
    line << (named++ == 0 ? "" : ", ") << "mutex " << mutex << " of process " << host;
  });
  if (!visited) {
    line << "unknown mutexes: sets of them are being made or destroyed";
  } else if (held == 0) {
    line << "no mutex";
  }
  if (held > named) line << " and " << held - named << " more";
  line.write_to(fd);
}

void print_wait(void* fd, const node::WaitReport& wait) {
  ReportLine line;
  line << "thread " << wait.tid << " waits for ";
  if (wait.mutex < 0) {
    line << node::wait_name(wait.kind);
  } else {
    line << "mutex " << wait.mutex << " of process " << wait.host;
    if (wait.holder >= 0) line << ", held by process " << wait.holder;
  }
  line << ", for " << (node::now_us() - wait.since_us) / 1000 << " ms";
  line.write_to(*static_cast<int*>(fd));
}

int reporting_signal = 0;
struct sigaction before_reports {};

bool is_handler(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

void report_state(int signal_number, siginfo_t* information, void* context) {
  const int saved_errno = errno;
  print_pending(STDERR_FILENO);
  report_stack(STDERR_FILENO);
  errno = saved_errno;
  if ((before_reports.sa_flags & SA_SIGINFO) != 0) {
    before_reports.sa_sigaction(signal_number, information, context);
  } else if (is_handler(before_reports)) {
    before_reports.sa_handler(signal_number);
  }
}

bool reports(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == report_state;
}

const void* object_of(const void* address) {
  Dl_info info{};
  return address != nullptr && dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

// MPICH takes SIGUSR1 for itself: its handler notes that, and is called as before.
bool is_mpis(const struct sigaction& action) {
  const void* const mpi = object_of(dlsym(RTLD_DEFAULT, "PMPI_Finalize"));
  const auto handler = (action.sa_flags & SA_SIGINFO) != 0 ? reinterpret_cast<const void*>(action.sa_sigaction)
                                                           : reinterpret_cast<const void*>(action.sa_handler);
  // A static program is one object with all of its libraries.
  return is_handler(action) && mpi != nullptr && object_of(handler) == mpi &&
         mpi != object_of(reinterpret_cast<const void*>(getauxval(AT_ENTRY)));
}

// Of those that the system raises at a fault, a handler that returns would have the fault again without end; others end
// or steer a program, or are this library's (print_all_stacks).
bool is_for_programs(int signal_number) {
  switch (signal_number) {
    case SIGUSR1:
    case SIGUSR2:
    case SIGURG:
    case SIGWINCH:
    case SIGIO:
      return true;
    default:
      return signal_number >= SIGRTMIN && signal_number <= SIGRTMAX && signal_number != stack_signal();
  }
}

}  // namespace

void print_pending(int fd) {
  print_operations(fd);
  print_unflushed(fd);
  print_held(fd);
  node::visit_waits(print_wait, &fd);
}

Status start_signal_reports(int signal_number) {
  if (signal_number == 0) return kSuccess;
  if (!is_for_programs(signal_number) || sigaction(signal_number, nullptr, &before_reports) != 0) {
    return fail(
        Code::kType, "ERR-1",
        "ARMCI_REPORT_SIGNAL = %d is no signal for reports; set it to SIGUSR1 (%d), SIGUSR2 (%d), SIGWINCH (%d), a "
        "real-time signal, or 0 for none",
        signal_number, SIGUSR1, SIGUSR2, SIGWINCH);
  }
  const bool is_default = (before_reports.sa_flags & SA_SIGINFO) == 0 && before_reports.sa_handler == SIG_DFL;
  if (!is_default && !is_mpis(before_reports)) return kSuccess;
  prepare_backtraces();
  struct sigaction mine {};
  mine.sa_sigaction = report_state;
  mine.sa_flags = SA_RESTART | SA_SIGINFO;
  sigemptyset(&mine.sa_mask);
  sigaction(signal_number, &mine, nullptr);
  reporting_signal = signal_number;
  return kSuccess;
}

void stop_signal_reports() {
  if (reporting_signal == 0) return;
  struct sigaction present {};
  sigaction(reporting_signal, nullptr, &present);
  if (reports(present)) sigaction(reporting_signal, &before_reports, nullptr);
  reporting_signal = 0;
}

}  // namespace armci::runtime
