#include "impl/mpi-rma/transport.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "impl/mpi-rma/products.h"
#include "impl/mpi-rma/settings.h"
#include "impl/node/agree.h"
#include "impl/runtime/config.h"

namespace armci::rma {

using node::AccSpec;
using runtime::Segments;
using runtime::Strided;

namespace {

// The two sides overlap. ARMCI_CHECK warns of this [ERR-4], and MPICH ends the job.
bool overlap_on_node(int target, const void* remote, const void* local, std::size_t bytes) {
  const auto there = reinterpret_cast<std::uintptr_t>(remote);
  const auto here = reinterpret_cast<std::uintptr_t>(local);
  if (there >= here + bytes || here >= there + bytes) return false;
  return runtime::world().node_of(target) == runtime::world().my_node();
}

runtime::Finding reported(const FaultRow& row) { return {row.id, row.description, row.safe_method}; }

// Whether this MPI has no known fault that rules out the epochless strategy.
bool can_be_epochless(const Findings& findings) {
  return !findings.has(Fault::kAccumulateFlush) && !findings.has(Fault::kFetchAndOp) &&
         !findings.has(Fault::kCompareAndSwap);
}

// Every choice of the settings needs these kinds of windows.
Status require_windows(const Findings& findings, RegionKind kind) {
  for (const Fault fault : {Fault::kCreateSharedBroken, Fault::kDynamicBroken}) {
    if (!findings.has(fault) || (fault == Fault::kCreateSharedBroken && kind == RegionKind::kAllocate)) continue;
    const FaultRow& row = fault_row(fault);
    return fail(Code::kUnsupported, "INIT-1",
                "this MPI library cannot be used between nodes (%s): %s Choose another transport of it or another "
                "library; tools/armci mpi-doctor shows the fault in a program of its own",
                row.id, row.description);
  }
  return kSuccess;
}

}  // namespace

runtime::Routing Transport::route(const runtime::World& world) {
  // A single process needs no window, and some MPI libraries have none for it.
  if (world.size() == 1) return {true, true};
  Choices choices;
  const bool exclusive = read_choices(&choices).ok() && choices.sync == SyncKind::kExclusive;
  const bool direct = settings().direct < 0 ? !exclusive : settings().direct != 0;
  return {direct, direct && world.node_count() == 1};
}

Status Transport::choose_provider(MPI_Comm parent, int* node_size) {
  region_kind_ = RegionKind::kCreate;
  early_findings_.reset();
  hindrance_ = nullptr;
  Choices choices;
  ARMCI_RETURN_IF_ERROR(read_choices_together(parent, &choices));
  int size = 0;
  ARMCI_MPI(MPI_Comm_size(parent, &size));
  if (choices.window == RegionKind::kCreate || size == 1) return kSuccess;
  early_findings_ = preflight(parent, choices.preflight);
  hindrance_ = hindrance(choices.window, *early_findings_);
  if (hindrance_ != nullptr) return kSuccess;
  region_kind_ = choices.window;
  *node_size = 1;
  return kSuccess;
}

Status Transport::initialise(const runtime::World& world) {
  Choices choices;
  ARMCI_RETURN_IF_ERROR(read_choices(&choices));
  rank_ = world.rank();
  unflushed_.reset(world.size());
  mutex_kind_ = choices.mutex;
  idle_ = route(world).cpu_atomics;
  if (hindrance_ != nullptr && runtime::config().verbose > 0 && rank_ == 0) {
    std::fprintf(stderr, "armci: ARMCI_RMA_WINDOW=create is used instead of %s: %s\n", settings().window.c_str(),
                 hindrance_->description);
  }
  if (idle_) {
    if (hindrance_ != nullptr) reported_ = {reported(*hindrance_)};
    return kSuccess;
  }
  ARMCI_MPI(MPI_Comm_dup(world.comm(), &comm_));
  findings_ = early_findings_ ? *early_findings_ : preflight(comm_, choices.preflight);
  for (const FaultRow& row : fault_table()) {
    if (findings_.has(row.fault)) reported_.push_back(reported(row));
  }
  if (runtime::config().verbose > 0 && rank_ == 0) print_findings(findings_);
  ARMCI_RETURN_IF_ERROR(require_windows(findings_, region_kind_));
  if (choices.sync == SyncKind::kAuto) {
    choices.sync = can_be_epochless(findings_) ? SyncKind::kEpochless : SyncKind::kExclusive;
  }
  choices_.add("synchronisation", choices.sync == SyncKind::kEpochless ? "epochless" : "exclusive");
  choices_.add("windows", region_kind_ == RegionKind::kCreate ? "create" : settings().window);
  ARMCI_RETURN_IF_ERROR(Sync::make(choices.sync, settings().requests, findings_, comm_, &sync_));
  noncontiguous_.configure(sync_.get(), findings_,
                           {choices.strided, choices.vector, static_cast<std::size_t>(settings().batch)});
  if (provides_memory()) ARMCI_RETURN_IF_ERROR(region_memory_.initialise(world, region_kind_, findings_));
  ARMCI_RETURN_IF_ERROR(dynamic_.create(comm_, findings_.has(Fault::kDynamicPieces)));
  ARMCI_RETURN_IF_ERROR(sync_->open(dynamic_.window()));
  ARMCI_RETURN_IF_ERROR(open_signals());
  return start_progress();
}

Status Transport::start_progress() {
  if (settings().progress_us == 0) return kSuccess;
  int level = MPI_THREAD_SINGLE;
  ARMCI_MPI(MPI_Query_thread(&level));
  if (level != MPI_THREAD_MULTIPLE) {
    return fail(Code::kUnsupported, "PROG-1",
                "MPI serves other nodes only inside its own calls, and its thread level %d keeps this library from "
                "making them while the program computes; call MPI_Init_thread with MPI_THREAD_MULTIPLE, or set "
                "ARMCI_RMA_PROGRESS=0 if every process calls ARMCI or MPI often",
                level);
  }
  progress_ = std::make_unique<ProgressThread>();
  return progress_->start(comm_, signals_.get(), settings().progress_us, [this] { return held_.send_old(by_puts()); });
}

void Transport::finalise() {
  progress_.reset();
  (void)held_.send_all(by_puts());
  close_signals();
  for (std::unique_ptr<Mutexes>& set : mutexes_) set.reset();
  mutexes_.clear();
  if (dynamic_.window() != nullptr) (void)sync_->close(dynamic_.window());
  (void)dynamic_.free();
  noncontiguous_.release();
  sync_.reset();
  reported_.clear();
  choices_.clear();
  if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

Status Transport::register_region(const runtime::GroupView& group, std::span<const runtime::Exposed> parts,
                                  std::span<Key> keys) {
  if (idle_) return kSuccess;
  const runtime::Exposed& mine = parts[static_cast<std::size_t>(group.rank)];
  std::unique_ptr<Window> window;
  const Status created = Window::create(group.comm, mine.base, mine.bytes, &window);
  ARMCI_RETURN_IF_ERROR(open_together(group, mine, created, std::move(window), &window));
  for (std::size_t r = 0; r < parts.size(); ++r) keys[r] = {window.get(), parts[r].base, static_cast<int>(r)};
  (void)window.release();
  return kSuccess;
}

Status Transport::provide_region(const runtime::GroupView& group, std::span<runtime::Exposed> parts,
                                 std::span<Key> keys) {
  std::unique_ptr<Window> window;
  std::vector<const void*> origins;
  ARMCI_RETURN_IF_ERROR(region_memory_.make(group, parts, &origins, &window));
  const runtime::Exposed& mine = parts[static_cast<std::size_t>(group.rank)];
  ARMCI_RETURN_IF_ERROR(open_together(group, mine, kSuccess, std::move(window), &window));
  for (std::size_t r = 0; r < parts.size(); ++r) keys[r] = {window.get(), origins[r], static_cast<int>(r)};
  (void)window.release();
  return kSuccess;
}

// Collective: succeeds on all processes, or fails on all if one has no open window. A window that only some processes
// have cannot be freed: the window stays, unused. A process may signal another one as soon as it has heard of that
// one's success.
Status Transport::open_together(const runtime::GroupView& group, const runtime::Exposed& mine, Status status,
                                std::unique_ptr<Window> window, std::unique_ptr<Window>* out) {
  if (status.ok()) status = sync_->open(window.get());
  if (status.ok()) exposed_.add(window.get(), mine.base, mine.bytes);
  const Status all = node::agree(group.comm, status, "creating a window", "MEM-8");
  if (all.ok()) return *out = std::move(window), kSuccess;
  Window* const stays = window.release();
  exposed_.remove(stays);
  if (status.ok()) (void)sync_->close(stays);
  return all;
}

void Transport::deregister_region(const Key& key) {
  if (key.window == nullptr) return;
  (void)held_.send_all(by_puts());
  unflushed_.forget(key.window);
  exposed_.remove(key.window);
  const std::unique_ptr<Window> window(key.window);
  (void)sync_->close(window.get());
  (void)window->free();
}

Status Transport::register_memory(void* base, std::size_t bytes, Key* key) {
  if (idle_) return kSuccess;
  *key = {nullptr, nullptr, rank_};
  return dynamic_.attach(base, bytes);
}

// In pieces, since counts of MPI are int and the dynamic window has cells; all but the last are complete at return.
Status Transport::transfer(Kind kind, const Key& key, const void* remote, void* local, std::size_t bytes,
                           Completion* completion) {
  Access access{kind, window_of(key), key.rank, local, 0, MPI_BYTE, key.displacement(remote), 0, MPI_BYTE, MPI_BYTE};
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t now = std::min(bytes - done, DynamicWindow::left_in_cell(remote));
    remote = static_cast<const char*>(remote) + now;
    access.local_count = access.count = static_cast<int>(now);
    done += now;
    ARMCI_RETURN_IF_ERROR(sync_->start(access, done < bytes ? nullptr : completion));
    access.local = static_cast<char*>(access.local) + now;
    access.displacement += static_cast<MPI_Aint>(now);
  }
  return kSuccess;
}

Status Transport::put(int target, const Key& key, void* remote, const void* local, std::size_t bytes,
                      Completion* completion) {
  if (overlap_on_node(target, remote, local, bytes)) return std::memmove(remote, local, bytes), kSuccess;
  const HeldStores::Way as = way(target, completion, 1, bytes);
  if (as != HeldStores::Way::kPut) return copy(as, target, key, {{remote, local, bytes}});
  return stored(target, key, transfer(Kind::kPut, key, remote, const_cast<void*>(local), bytes, completion));
}

// After the operations of a store were issued, all or some.
Status Transport::stored(int target, const Key& key, Status status) {
  if (sync_->flushes()) unflushed_.note(target, window_of(key), key.rank);
  return status;
}

Status Transport::put_strided(int target, const Key& key, void* remote, const void* local, const Strided& shape,
                              Completion* completion) {
  const HeldStores::Way as = way(target, completion, shape.segments(), shape.total_bytes());
  if (as != HeldStores::Way::kPut) {
    std::vector<HeldStores::Put> puts;
    runtime::for_each_segment(shape, [&](std::ptrdiff_t from, std::ptrdiff_t to) {
      puts.push_back({static_cast<char*>(remote) + to, static_cast<const char*>(local) + from, shape.count[0]});
    });
    return copy(as, target, key, puts);
  }
  return stored(target, key,
                noncontiguous_.strided(Kind::kPut, place_of(key), local, remote, shape, word_type(local, remote, shape),
                                       completion));
}

Status Transport::get_strided(int, const Key& key, const void* remote, void* local, const Strided& shape,
                              Completion* completion) {
  return noncontiguous_.strided(Kind::kGet, place_of(key), remote, local, shape, word_type(remote, local, shape),
                                completion);
}

Status Transport::put_list(int target, const Key& key, const Segments& list, Completion* completion) {
  const HeldStores::Way as = way(target, completion, list.count, list.count * list.bytes);
  if (as != HeldStores::Way::kPut) {
    std::vector<HeldStores::Put> puts;
    for (std::size_t i = 0; i < list.count; ++i) puts.push_back({list.dst[i], list.src[i], list.bytes});
    return copy(as, target, key, puts);
  }
  return stored(target, key, noncontiguous_.list(Kind::kPut, place_of(key), list, word_type(list), completion));
}

Status Transport::get_list(int, const Key& key, const Segments& list, Completion* completion) {
  return noncontiguous_.list(Kind::kGet, place_of(key), list, word_type(list), completion);
}

// With a scale other than 1 the products are formed here, a bounded number at a time.
Status Transport::accumulate_strided(int target, const Key& key, void* remote, const void* local, const Strided& shape,
                                     const AccSpec& acc, Completion* completion) {
  const MPI_Datatype element = element_type(acc.type);
  if (is_one(acc)) {
    return stored(target, key,
                  noncontiguous_.strided(Kind::kAccumulate, place_of(key), local, remote, shape, element, completion));
  }
  Products products(acc, [&](const Segments& list) {
    return noncontiguous_.list(Kind::kAccumulate, place_of(key), list, element, nullptr);
  });
  Status status;
  runtime::for_each_segment(shape, [&](std::ptrdiff_t from, std::ptrdiff_t to) {
    if (status.ok()) {
      status = products.add(static_cast<const char*>(local) + from, static_cast<char*>(remote) + to, shape.count[0]);
    }
  });
  if (status.ok()) status = products.send();
  return stored(target, key, status);
}

Status Transport::accumulate_list(int target, const Key& key, const Segments& list, const AccSpec& acc,
                                  Completion* completion) {
  const MPI_Datatype element = element_type(acc.type);
  if (is_one(acc)) {
    return stored(target, key, noncontiguous_.list(Kind::kAccumulate, place_of(key), list, element, completion));
  }
  Products products(acc, [&](const Segments& part) {
    return noncontiguous_.list(Kind::kAccumulate, place_of(key), part, element, nullptr);
  });
  Status status;
  for (std::size_t i = 0; status.ok() && i < list.count; ++i)
    status = products.add(list.src[i], list.dst[i], list.bytes);
  if (status.ok()) status = products.send();
  return stored(target, key, status);
}

Status Transport::get(int target, const Key& key, const void* remote, void* local, std::size_t bytes,
                      Completion* completion) {
  if (overlap_on_node(target, remote, local, bytes)) return std::memmove(local, remote, bytes), kSuccess;
  return transfer(Kind::kGet, key, remote, local, bytes, completion);
}

Status Transport::rmw(int target, const Key& key, void* remote, const runtime::Rmw& rmw, void* before,
                      Completion* completion) {
  const Status issued = sync_->atomic({window_of(key), key.rank, key.displacement(remote), rmw}, before, completion);
  return completion == nullptr ? issued : stored(target, key, issued);
}

Status Transport::create_mutexes(const runtime::GroupView& group, std::span<const int> counts, Mutexes** out) {
  // A single process needs no messages, and some MPI libraries have no window for it.
  if (mutex_kind_ == MutexKind::kAtomic || counts.size() == 1) return kSuccess;
  std::unique_ptr<Mutexes> made;
  const Status all = node::agree(group.comm, Mutexes::create(group.comm, counts, &made), "creating mutexes", "MUTEX-1");
  // A set that only some processes have cannot be destroyed: the set stays.
  if (!all.ok()) return (void)made.release(), all;
  std::lock_guard guard(mutexes_mutex_);
  *out = mutexes_.emplace_back(std::move(made)).get();
  return kSuccess;
}

void Transport::destroy_mutexes(Mutexes* mutexes) {
  std::unique_ptr<Mutexes> last;  // ends after the guard: its end waits for other processes
  std::lock_guard guard(mutexes_mutex_);
  const auto found =
      std::find_if(mutexes_.begin(), mutexes_.end(), [&](const auto& one) { return one.get() == mutexes; });
  last = std::move(*found);
  mutexes_.erase(found);
}

Status Transport::flush_stores(int target) {
  return unflushed_.flush(target, [this](Window* window, int rank) { return sync_->flush(window, rank); });
}

// The targets are asked for their signals first, so that they answer during the flush of stores.
Status Transport::flush(int target) {
  ARMCI_RETURN_IF_ERROR(held_.send(target, by_puts()));
  SignalChannel::Asked asked;
  if (signals_ != nullptr) ARMCI_RETURN_IF_ERROR(signals_->ask(target, &asked));
  ARMCI_RETURN_IF_ERROR(flush_stores(target));
  return signals_ != nullptr ? signals_->await(asked) : kSuccess;
}

Status Transport::flush_all() {
  std::vector<SignalChannel::Asked> asked;
  Status status = held_.send_all(by_puts());
  const Status all_asked = signals_ != nullptr ? signals_->ask_all(&asked) : kSuccess;
  if (!all_asked.ok()) status = all_asked;
  const Status flushed = unflushed_.flush_all([this](Window* window) { return sync_->flush_all(window); });
  if (!flushed.ok()) status = flushed;
  for (const SignalChannel::Asked& one : asked) {
    const Status applied = signals_->await(one);
    if (!applied.ok()) status = applied;
  }
  return status;
}

// Lets MPI serve the other processes, and takes their signals. A waiting process would otherwise see their stores to
// its memory only at the next pass of the progress thread.
void Transport::progress() {
  if (idle_) return;
  if (signals_ != nullptr) return signals_->serve_while_waiting();
  int found = 0;
  (void)MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &found, MPI_STATUS_IGNORE);
}

}  // namespace armci::rma
