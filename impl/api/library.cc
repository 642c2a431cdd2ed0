#include "impl/api/library.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "impl/api/api_id.h"
#include "impl/api/entry.h"
#include "impl/api/state_report.h"
#include "impl/api/totals.h"
#include "impl/api/version.h"
#include "impl/base/backtrace.h"
#include "impl/node/agree.h"
#include "impl/node/waiter.h"
#include "impl/runtime/config.h"
#include "impl/runtime/hang_broadcast.h"
#include "impl/runtime/messages.h"
#include "impl/runtime/mpi_library.h"
#include "impl/runtime/stats.h"
#include "impl/runtime/trace.h"
#include "impl/runtime/verbose.h"
#include "impl/runtime/watchdog.h"

namespace armci::runtime {

RuntimeOfJob the_runtime;
std::atomic<std::uint32_t> entry_gate{kGateDown};

namespace {

int inits = 0;
bool owns_mpi = false;
bool ended_by_mpi = false;  // MPI_Finalize came before ARMCI_Finalize
int thread_level = MPI_THREAD_SINGLE;
bool race_stacks = false;  // ARMCI_CHECK=race-stacks
bool is_forked_child = false;

// Runs in the child before fork returns there. Only stores: another thread of the parent may have held any lock.
void leave_job_in_child() {
  if (inits == 0) return;
  is_forked_child = true;
  inits = 0;
  owns_mpi = false;
  entry_gate.store(kGateDown, std::memory_order_release);
  end_alone();
}

Status watch_forks() {
  static const int failed = pthread_atfork(nullptr, nullptr, leave_job_in_child);
  return failed == 0 ? kSuccess : fail_errno(failed, "pthread_atfork; the process has no memory left");
}

Status refuse_in_child() {
  return fail(Code::kState, "INIT-9",
              "this process is a child of fork, which is no process of the job; call from the parent, or start a "
              "program by exec");
}

bool mpi_running() {
  int begun = 0;
  int ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  return begun != 0 && ended == 0;
}

Status start_mpi(int* argc, char*** argv, int required) {
  if (required != kAnyThreadLevel && (required < MPI_THREAD_SINGLE || required > MPI_THREAD_MULTIPLE)) {
    return fail(Code::kType, "INIT-8",
                "argument required = %d is no MPI thread level; pass one from MPI_THREAD_SINGLE to MPI_THREAD_MULTIPLE",
                required);
  }
  ARMCI_RETURN_IF_ERROR(require_mpi_of_build());
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended != 0)
    return fail(Code::kState, "INIT-1", "MPI has been finalized; initialize the library before MPI_Finalize");
  if (!mpi_running()) {
    ARMCI_MPI(MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &thread_level));
    owns_mpi = true;
  } else {
    ARMCI_MPI(MPI_Query_thread(&thread_level));
  }
  if (required > thread_level) {
    return fail(Code::kUnsupported, "INIT-8",
                "argument required = %d: MPI provides thread level %d; call MPI_Init_thread with the level required",
                required, thread_level);
  }
  return kSuccess;
}

// Finalizes MPI if this library initialised it.
void leave_mpi() {
  if (owns_mpi) MPI_Finalize();
  owns_mpi = false;
}

// Never destroyed: a program may leave by exit() without finalize, and a joinable thread must not be destroyed.
HangBroadcast& hang_broadcast() {
  static HangBroadcast* const broadcast = new HangBroadcast;
  return *broadcast;
}

Status start_observers() {
  const Config& settings = config();
  observe_flags = 0;
  if (settings.stats) ARMCI_RETURN_IF_ERROR(stats().initialise(kApiNames, kApiCount));
  reset_totals();
  node::reset_wait_totals();
  if (settings.stats || settings.timeout_seconds > 0 || is_verbose(Verbosity::kCalls)) observe_flags |= kObserveUsage;
  Checks checks = Checks::kCheap;
  ARMCI_RETURN_IF_ERROR(read_checks(settings.check, &checks));
  if (checks == Checks::kCostly) observe_flags |= kObserveCheck;
  if (checks == Checks::kRaces || checks == Checks::kRacesWithStacks) observe_flags |= kObserveRaces;
  race_stacks = checks == Checks::kRacesWithStacks;
  freeze_on_error(settings.freeze_on_error);
  WatchdogHooks hooks;
  hooks.dump_pending = print_pending;
  hooks.peer_requested_dump = HangBroadcast::announced;
  hooks.announce_hang = [] { hang_broadcast().announce(); };
  hooks.note_dumped = HangBroadcast::note_printed;
  hooks.dumps_complete = [] { return hang_broadcast().complete(); };
  if (settings.timeout_seconds > 0) prepare_backtraces();
  ARMCI_RETURN_IF_ERROR(start_signal_reports(settings.report_signal));
  return start_watchdog(settings.timeout_seconds, hooks);
}

// Collective. Traced calls note their usage, as counted calls do.
Status start_trace() {
  const std::string title = std::string(SelectedTransport::kTraits.name) + ", " + std::to_string(world().size()) +
                            " processes on " + std::to_string(world().node_count()) + " nodes";
  const TraceNames names = {kApiNames, kApiCount, [](int call) { return api_category(static_cast<ApiId>(call)); }};
  ARMCI_RETURN_IF_ERROR(trace().start(world().comm(), config().trace, config().trace_events, names, title));
  if (trace().enabled()) observe_flags |= kObserveUsage;
  return kSuccess;
}

// Collective. ARMCI_CHECK may be set for some processes only.
Status start_race_detection() {
  int wanted = (observe_flags & kObserveRaces) != 0 ? 1 : 0;
  ARMCI_MPI(MPI_Allreduce(MPI_IN_PLACE, &wanted, 1, MPI_INT, MPI_MAX, world().comm()));
  if (wanted == 0) return kSuccess;
  observe_flags |= kObserveRaces;
  return race_detection().start(kApiNames, race_stacks);
}

// Of an init that nests. Local.
Status require_world(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return kSuccess;
  int likeness = MPI_UNEQUAL;
  ARMCI_MPI(MPI_Comm_compare(comm, world().comm(), &likeness));
  if (likeness == MPI_IDENT || likeness == MPI_CONGRUENT) return kSuccess;
  return fail(Code::kState, "INIT-8",
              "argument comm has other processes than the world of the library, or has them in another order; finalize "
              "first, or make a group (ARMCI_Group_create)");
}

// The name of the implementation and the version of the library.
struct Identity {
  char text[64] = "";
};

// Collective. Processes that load different implementations or versions would wait for each other for ever, or read
// node memory that is laid out in another way. All implementations and versions therefore begin with these calls of
// MPI.
Status require_one_library(MPI_Comm parent) {
  Identity mine;
  std::snprintf(mine.text, sizeof mine.text, "%s %d.%d.%d", SelectedTransport::kTraits.name, kVersionMajor,
                kVersionMinor, kVersionPatch);
  Identity first = mine;
  int rank = 0;
  ARMCI_MPI(MPI_Comm_rank(parent, &rank));
  set_message_rank(rank);
  ARMCI_MPI(MPI_Bcast(&first, sizeof first, MPI_BYTE, 0, parent));
  Status same;
  if (std::strncmp(mine.text, first.text, sizeof mine.text) != 0) {
    same = fail(Code::kUnsupported, "ABI-1",
                "this process has loaded the library %s, and process 0 %.63s; load one library on all processes (check "
                "LD_LIBRARY_PATH on each node, or start with armci-run --impl)",
                mine.text, first.text);
  }
  return node::agree(parent, same, "comparing the libraries of the processes", "ABI-1");
}

// Every process reads the settings; a bad setting on one process is an error on all.
Status read_settings(MPI_Comm parent) {
  Config settings;
  Status mine = load_config(&settings);
  ARMCI_RETURN_IF_ERROR(node::agree(parent, mine, "reading the environment"));
  set_config(settings);
  if (message_rank() == 0) warn_unknown_settings();
  return kSuccess;
}

void print_place() {
  char host[HOST_NAME_MAX + 1] = "";
  gethostname(host, sizeof host);
  cpu_set_t cpus;
  const bool known = sched_getaffinity(0, sizeof cpus, &cpus) == 0;
  log_line("process %d on %s, node %d of %d, may use %d CPUs", static_cast<int>(getpid()), host,
           world().node_of(world().rank()), world().node_count(), known ? CPU_COUNT(&cpus) : 0);
}

void print_choices() {
  if (is_verbose(Verbosity::kObjects)) print_place();
  if (!is_verbose(Verbosity::kChoices) || world().rank() != 0) return;
  std::fprintf(stderr, "armci: %s: %d processes, %d node(s)%s, MPI thread level %d, spin %d iterations\n",
               SelectedTransport::kTraits.name, world().size(), world().node_count(),
               world().simulated() ? " (simulated)" : "", thread_level, node::spin_iterations());
  std::fprintf(stderr, "armci: node memory in %s\narmci: copies: %s\narmci: accumulate: %s\n", config().shm_dir.c_str(),
               node::copy_report().c_str(), node::accumulate_level_name(node::accumulate_level()));
  for (const Choice& one : runtime().choices()) std::fprintf(stderr, "armci: %s: %s\n", one.name, one.value);
}

}  // namespace

RuntimeOfJob::~RuntimeOfJob() {
  if (!is_forked_child) runtime.~SelectedRuntime();
}

bool library_initialised() { return inits > 0; }
bool library_left_by_fork() { return is_forked_child; }
int library_thread_level() { return thread_level; }

Status library_init(int* argc, char*** argv, int required, MPI_Comm parent) {
  if (inits > 0) {
    ARMCI_RETURN_IF_ERROR(require_world(parent));
    ++inits;
    return kSuccess;
  }
  if (is_forked_child) return refuse_in_child();
  if (Status started = start_mpi(argc, argv, required); !started.ok()) {
    leave_mpi();
    return started;
  }
  if (parent == MPI_COMM_NULL) parent = MPI_COMM_WORLD;
  Status status = require_one_library(parent);
  if (status.ok()) status = watch_forks();
  if (status.ok()) status = read_settings(parent);
  if (status.ok()) status = runtime().initialise(parent);
  if (status.ok()) status = node::agree(world().comm(), start_observers(), "starting watchdog and statistics");
  if (status.ok()) {
    const Status started = hang_broadcast().start(world(), thread_level, config().timeout_seconds > 0);
    status = node::agree(world().comm(), started, "starting the thread that broadcasts hang reports");
  }
  if (status.ok()) status = start_trace();
  if (status.ok()) status = start_race_detection();
  if (!status.ok()) {
    stop_watchdog();
    hang_broadcast().stop();
    stop_signal_reports();
    runtime().abandon();
    leave_mpi();
    return status;
  }
  print_choices();
  inits = 1;
  entry_gate.store(observe_flags != 0 ? kGateObserved : std::uint32_t{0}, std::memory_order_release);
  return kSuccess;
}

namespace {

// Collective: prints the memory of the processes for messages, with ARMCI_STATS and where a process has any.
Status print_buffers(MPI_Comm comm) {
  const std::uint64_t mine = runtime().buffer_bytes();
  // The maximum of ~bytes is the complement of the minimum of bytes.
  std::uint64_t most[3] = {stats().enabled() ? std::uint64_t{1} : 0, mine, ~mine};
  ARMCI_MPI(MPI_Allreduce(MPI_IN_PLACE, most, 3, MPI_UINT64_T, MPI_MAX, comm));
  if (most[0] == 0 || most[1] == 0 || world().rank() != 0) return kSuccess;
  std::fprintf(stderr, "armci: buffers for messages: at least %llu and at most %llu bytes in a process\n",
               static_cast<unsigned long long>(~most[2]), static_cast<unsigned long long>(most[1]));
  return kSuccess;
}

// Collective: prints the waits of the processes by kind and their time, with ARMCI_STATS. Waits that end in their busy
// part are not counted, collective calls are.
Status print_wait_times(MPI_Comm comm) {
  std::uint64_t mine[2 * node::kWaitKinds + 1] = {};
  for (int kind = 0; kind < node::kWaitKinds; ++kind) {
    const node::WaitTotals totals = node::wait_totals(static_cast<node::WaitKind>(kind));
    mine[2 * kind] = totals.waits;
    mine[2 * kind + 1] = totals.microseconds;
  }
  mine[2 * node::kWaitKinds] = stats().enabled() ? 1 : 0;
  std::uint64_t sum[std::size(mine)] = {};
  std::uint64_t most[std::size(mine)] = {};
  ARMCI_MPI(MPI_Reduce(mine, sum, std::size(mine), MPI_UINT64_T, MPI_SUM, 0, comm));
  ARMCI_MPI(MPI_Reduce(mine, most, std::size(mine), MPI_UINT64_T, MPI_MAX, 0, comm));
  if (world().rank() != 0 || sum[2 * node::kWaitKinds] == 0) return kSuccess;
  for (int kind = 0; kind < node::kWaitKinds; ++kind) {
    if (sum[2 * kind] == 0) continue;
    std::fprintf(stderr, "armci: waited for %s: %llu times, %.3f s, at most %.3f s in a process\n",
                 node::wait_name(static_cast<node::WaitKind>(kind)), static_cast<unsigned long long>(sum[2 * kind]),
                 static_cast<double>(sum[2 * kind + 1]) / 1e6, static_cast<double>(most[2 * kind + 1]) / 1e6);
  }
  return kSuccess;
}

}  // namespace

Status library_finalise() {
  if (is_forked_child) return refuse_in_child();
  // The second test: the program has ended MPI by another name, as PMPI_Finalize.
  if (ended_by_mpi || (inits == 1 && !mpi_running())) {
    return fail(Code::kState, "INIT-5", "MPI has been finalized before; call ARMCI_Finalize before MPI_Finalize");
  }
  if (inits == 0) {
    return fail(Code::kState, "INIT-2",
                "the process has called no matching init; call ARMCI_Init once for each ARMCI_Finalize");
  }
  if (--inits > 0) return kSuccess;
  // The last step that may take long. The watchdog reads node memory, so it stops before node memory is freed.
  Status status = runtime().barrier(groups().world());
  if (status.ok() && race_detection().is_on()) status = race_detection().finish();
  // On every process: some may count and others not.
  for (const Status& printed : {stats().print_summary(world().comm(), stderr), print_wait_times(world().comm()),
                                print_buffers(world().comm())}) {
    if (status.ok()) status = printed;
  }
  if (const Status written = trace().finish(); status.ok()) status = written;
  stop_watchdog();
  hang_broadcast().stop();
  stop_signal_reports();
  Status ended = runtime().finalise();
  if (status.ok()) status = ended;
  release_messages();
  forget_mutex_sets();
  stats().finalise();
  observe_flags = 0;
  entry_gate.store(kGateDown, std::memory_order_release);
  leave_mpi();
  return status;
}

void end_with_mpi() {
  if (inits == 0 || !mpi_running()) return;
  if (world().rank() == 0) {
    warn(
        "MPI_Finalize: the library is still initialized, and ends now; call ARMCI_Finalize before MPI_Finalize "
        "[INIT-5]");
  }
  // Nested inits end too; the caller ends MPI.
  inits = 1;
  owns_mpi = false;
  if (!library_finalise().ok()) print_failure("MPI_Finalize", last_cause());
  ended_by_mpi = true;
}

int report(ApiId id, Status status) {
  count_error();
  print_failure(kApiNames[static_cast<int>(id)], last_cause());
  return status.value();
}

void report_fatal(ApiId id) {
  const Cause cause = last_cause();
  print_failure(kApiNames[static_cast<int>(id)], cause);
  print_fatal(kApiNames[static_cast<int>(id)], static_cast<int>(cause.code));
  die(static_cast<int>(cause.code));
}

Status refuse_while_down() {
  if (is_forked_child) return refuse_in_child();
  return fail(Code::kState, "ERR-1", "the library is not initialized; call between ARMCI_Init and ARMCI_Finalize");
}

bool returns_value(ApiId id) {
  switch (id) {
    case ApiId::ARMCI_GetValueInt:
    case ApiId::ARMCI_GetValueLong:
    case ApiId::ARMCI_GetValueFloat:
    case ApiId::ARMCI_GetValueDouble:
    case ApiId::armci_msg_rcvany:
    case ApiId::armci_msg_me:
    case ApiId::armci_msg_nproc:
      return true;
    default:
      return false;
  }
}

bool is_query(ApiId id) {
  switch (id) {
    case ApiId::armci_domain_nprocs:
    case ApiId::armci_domain_id:
    case ApiId::armci_domain_glob_proc_id:
    case ApiId::armci_domain_my_id:
    case ApiId::armci_domain_count:
    case ApiId::armci_domain_same_id:
    case ApiId::ARMCI_Same_node:
    case ApiId::ARMCI_Absolute_id:
      return true;
    default:
      return false;
  }
}

namespace {

bool allowed_while_down(ApiId id) {
  switch (id) {
    case ApiId::ARMCI_Init:
    case ApiId::ARMCI_Init_args:
    case ApiId::ARMCI_Init_thread:
    case ApiId::ARMCI_Init_thread_comm:
    case ApiId::ARMCI_Init_mpi_comm:
    case ApiId::ARMCIX_Init_comm_f:
    case ApiId::ARMCI_Initialized:
    case ApiId::ARMCI_Finalize:
    case ApiId::ARMCI_Cleanup:
    case ApiId::ARMCI_Error:
    case ApiId::armci_msg_abort:
    case ApiId::armci_timer:
    case ApiId::armci_read_strided:
    case ApiId::armci_write_strided:
    case ApiId::ARMCI_Copy:
    case ApiId::ARMCI_Set_shm_limit:
    case ApiId::ARMCI_INIT_HANDLE:
    case ApiId::ARMCI_SET_AGGREGATE_HANDLE:
    case ApiId::ARMCI_UNSET_AGGREGATE_HANDLE:
    case ApiId::ARMCIX_Implementation:
    case ApiId::ARMCIX_Version:
    case ApiId::ARMCIX_Capabilities:
    case ApiId::ARMCIX_Setting:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool is_refused(ApiId id) {
  return (entry_gate.load(std::memory_order_acquire) & kGateDown) != 0 && !allowed_while_down(id);
}

}  // namespace armci::runtime

// The name of the implementation. Two implementations in one link define it twice, which is an error.
extern "C" {
[[gnu::visibility("default")]] extern const char armci_implementation[];
const char armci_implementation[] = ARMCI_IMPLEMENTATION_NAME;
}
