#include "impl/node/node_memory.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <new>

#include "impl/base/backtrace.h"
#include "impl/node/agree.h"
#include "impl/node/shared_file.h"

namespace armci::node {

namespace {

constexpr std::size_t kTableBytes = std::size_t{32} << 20;  // of each: address space only; committed as it grows
constexpr std::size_t kTableStepBytes = std::size_t{64} << 10;
constexpr char kHeapLock[] = "the lock of node memory's heap";
constexpr char kBlocksLock[] = "the lock of node memory's blocks";
constexpr std::size_t kSmallestReserve = std::size_t{16} << 30;

// Places where neither the program, its libraries, its stack nor the sanitizers' shadow memory usually lie.
constexpr std::uintptr_t kCandidates[] = {0x7e9000000000, 0x7ea800000000, 0x7ec000000000, 0x200000000000,
                                          0x280000000000, 0x300000000000, 0x400000000000, 0x500000000000};

std::size_t default_reserve() {
  const auto physical =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t wanted = round_up(4 * physical, std::size_t{1} << 30);
  return wanted > kSmallestReserve ? wanted : kSmallestReserve;
}

std::size_t control_bytes(int peer_count) {
  return round_up(sizeof(Control) + static_cast<std::size_t>(peer_count) * sizeof(Peer), kPageBytes);
}

// A block has at least one page: no two begin at the same place.
std::size_t whole_pages(std::size_t bytes) { return bytes == 0 ? kPageBytes : round_up(bytes, kPageBytes); }

bool process_ended(pid_t pid) {
  const int descriptor = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (descriptor < 0) return errno == ESRCH;
  // Readable once the process has ended, also before its parent has reaped it.
  pollfd entry{descriptor, POLLIN, 0};
  const int ready = poll(&entry, 1, 0);
  close(descriptor);
  return ready == 1;
}

}  // namespace

constinit NodeMemory the_node_memory;

Status NodeMemory::attach(MPI_Comm machine_comm, const NodeMemoryOptions& options) {
  int processes = 0;
  ARMCI_MPI(MPI_Comm_rank(machine_comm, &machine_rank_));
  ARMCI_MPI(MPI_Comm_size(machine_comm, &processes));
  directory_ = options.directory;
  unsigned long long reserve =
      round_up(options.reserve_bytes > 0 ? options.reserve_bytes : default_reserve(), kPageBytes);
  reserve +=
      control_bytes(processes) + 2 * kTableBytes;  // the control block does not count against the requested bytes
  ARMCI_MPI(MPI_Bcast(&reserve, 1, MPI_UNSIGNED_LONG_LONG, 0, machine_comm));
  reserve_ = reserve;
  table_offset_ = control_bytes(processes);
  ARMCI_RETURN_IF_ERROR(open_shared_file(machine_comm, directory_, reserve_, &descriptor_));
  Status status = map_equally(machine_comm);
  if (status.ok()) {
    Status prepared;
    if (machine_rank_ == 0) {
      prepared = allocate_pages(0, table_offset_ + kTableStepBytes);
      if (prepared.ok()) prepared = allocate_pages(table_offset_ + kTableBytes, kTableStepBytes);
      if (prepared.ok()) construct_control(processes, options.retain_bytes);
    }
    status = agree(machine_comm, prepared, "setting up node memory");
    if (!status.ok()) munmap(base_, reserve_);
  }
  if (!status.ok()) {
    base_ = nullptr;
    close(descriptor_);
    descriptor_ = -1;
    return status;
  }
  Peer& me = control().peers[machine_rank_];
  me.world_rank = options.world_rank;
  me.pid_namespace = pid_namespace_ = pid_namespace();
  me.pid.store(getpid(), std::memory_order_release);
  ARMCI_MPI(MPI_Barrier(machine_comm));
  return kSuccess;
}

// The first process proposes an address, the others try it, all agree; repeated until all could map one address.
Status NodeMemory::map_equally(MPI_Comm machine_comm) {
  int error = 0;
  for (const std::uintptr_t candidate : kCandidates) {
    void* wanted = reinterpret_cast<void*>(candidate);
    void* got = mmap(wanted, reserve_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
                     descriptor_, 0);
    if (got == MAP_FAILED) error = errno;
    int mine = got == wanted ? 1 : 0;
    int all = 0;
    ARMCI_MPI(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, machine_comm));
    if (all == 1) {
      base_ = static_cast<char*>(got);
      madvise(base_, reserve_, MADV_DONTDUMP);
      return kSuccess;
    }
    if (got != MAP_FAILED) munmap(got, reserve_);
  }
  return fail_errno(
      error != 0 ? error : ENOMEM,
      "the process cannot reserve %zu MiB of addresses at one place in all processes of the machine; raise the limit "
      "on address space (ulimit -v unlimited) or lower ARMCI_SHM_RESERVE",
      reserve_ >> 20);
}

void NodeMemory::construct_control(int peer_count, std::size_t retain_bytes) {
  Control* control = new (base_) Control();
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&control->heap_lock, &attributes);
  pthread_mutex_init(&control->blocks_lock, &attributes);
  pthread_mutexattr_destroy(&attributes);
  control->peer_count = peer_count;
  control->extents_committed_bytes = control->blocks_committed_bytes = kTableStepBytes;
  control->heap.initialise(extent_table(), table_offset_ + 2 * kTableBytes, reserve_,
                           kTableBytes / sizeof(NodeHeap::Extent), retain_bytes);
  control->blocks.initialise();
  control->blocks_generation.store(1, std::memory_order_relaxed);
}

void NodeMemory::detach() {
  if (base_ == nullptr) return;
  munmap(base_, reserve_);
  close(descriptor_);
  base_ = nullptr;
  descriptor_ = -1;
}

Status NodeMemory::address(NodeMemoryAddress* address) const {
  address->base = reinterpret_cast<std::uintptr_t>(base_);
  address->reserve_bytes = reserve_;
  return address_of(descriptor_, &address->file);
}

Status NodeMemory::attach_as_guest(const NodeMemoryAddress& address) {
  const int descriptor = open_at(address.file);
  if (descriptor < 0) {
    return fail(
        Code::kUnsupported, nullptr,
        "descriptor %d of process %d, the node memory, cannot be opened here: this process is on another machine, in "
        "another container or of another user; start the job alike for all processes of the machine",
        address.file.descriptor, address.file.pid);
  }
  void* const wanted = reinterpret_cast<void*>(static_cast<std::uintptr_t>(address.base));
  void* const got = mmap(wanted, address.reserve_bytes, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, descriptor, 0);
  if (got != wanted) {
    const int error = got == MAP_FAILED ? errno : EEXIST;
    if (got != MAP_FAILED) munmap(got, address.reserve_bytes);
    close(descriptor);
    return fail_errno(
        error,
        "the process cannot map %llu MiB of node memory at %p, where the node's processes have it; raise the limit on "
        "address space (ulimit -v unlimited) or lower ARMCI_SHM_RESERVE",
        static_cast<unsigned long long>(address.reserve_bytes >> 20), wanted);
  }
  base_ = static_cast<char*>(got);
  madvise(base_, address.reserve_bytes, MADV_DONTDUMP);
  reserve_ = address.reserve_bytes;
  table_offset_ = control_bytes(control().peer_count);
  descriptor_ = descriptor;
  machine_rank_ = -1;
  pid_namespace_ = pid_namespace();
  return kSuccess;
}

void NodeMemory::lock(pthread_mutex_t* mutex, const char* name) {
  if (pthread_mutex_lock(mutex) != EOWNERDEAD) return;
  // The holder died while it changed the tables, which may be wrong now, and the job is ending anyway [INIT-7]. The
  // lock reports this before pidfd shows that the process has ended. A guest that died only read.
  constexpr int kChecks = 100;
  for (int check = 0; check < kChecks; ++check) {
    check_peers(name);
    usleep(1000);  // for the kernel to end the dead process, not for another one to get further
  }
  pthread_mutex_consistent(mutex);
}

Status NodeMemory::take(std::size_t bytes, void** block) {
  const std::size_t whole = whole_pages(bytes);
  const bool fits = bytes <= reserve_;  // also keeps the rounding from wrapping
  std::uint64_t offset = 0;
  lock(&control().heap_lock, kHeapLock);
  const bool taken = fits && control().heap.take(extent_table(), whole, &offset);
  pthread_mutex_unlock(&control().heap_lock);
  if (!taken) {
    return fail(Code::kMemory, "MEM-8",
                "no %zu bytes of addresses are free in node memory (%zu MiB reserved); raise ARMCI_SHM_RESERVE", bytes,
                reserve_ >> 20);
  }
  const Status noted = note_block(offset, whole);
  if (!noted.ok()) {
    const std::string cause(last_cause().text);
    return_to_heap(offset, whole);
    return fail(noted.code(), "MEM-8", "%s", cause.c_str());
  }
  *block = base_ + offset;
  return kSuccess;
}

BlockList::Block* NodeMemory::block_table() const {
  return reinterpret_cast<BlockList::Block*>(base_ + table_offset_ + kTableBytes);
}

// *committed: how much of the table has pages; at least `needed` afterwards, which is less than a step more.
Status NodeMemory::grow_table(void* table, std::size_t needed, std::uint64_t* committed) {
  if (needed <= *committed) return kSuccess;
  if (needed > kTableBytes) {
    return fail(Code::kMemory, "MEM-8", "node memory is in more than %zu pieces; allocate fewer, larger ones",
                kTableBytes / sizeof(BlockList::Block));
  }
  const auto offset = static_cast<std::uint64_t>(static_cast<char*>(table) - base_);
  ARMCI_RETURN_IF_ERROR(allocate_pages(offset + *committed, kTableStepBytes));
  *committed += kTableStepBytes;
  return kSuccess;
}

Status NodeMemory::note_block(std::uint64_t offset, std::uint64_t bytes) {
  Control& books = control();
  lock(&books.blocks_lock, kBlocksLock);
  Status grown = grow_table(block_table(), (books.blocks.count() + std::size_t{1}) * sizeof(BlockList::Block),
                            &books.blocks_committed_bytes);
  if (grown.ok()) books.blocks.insert(block_table(), {offset, bytes});
  pthread_mutex_unlock(&books.blocks_lock);
  return grown;
}

void NodeMemory::forget_block(std::uint64_t offset) {
  Control& books = control();
  lock(&books.blocks_lock, kBlocksLock);
  books.blocks.erase(block_table(), offset);
  books.blocks_generation.fetch_add(1, std::memory_order_release);
  pthread_mutex_unlock(&books.blocks_lock);
}

bool NodeMemory::find_block(const void* address, std::size_t bytes, BlockList::Block* block,
                            std::uint64_t* generation) {
  // Wraps below the base, where no block is.
  const std::uint64_t offset = reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(base_);
  Control& books = control();
  lock(&books.blocks_lock, kBlocksLock);
  const BlockList::Block* const found = books.blocks.find(block_table(), offset, bytes);
  if (found != nullptr) {
    *block = *found;
    *generation = books.blocks_generation.load(std::memory_order_relaxed);
  }
  pthread_mutex_unlock(&books.blocks_lock);
  return found != nullptr;
}

Status NodeMemory::commit(void* address, std::size_t bytes) {
  if (bytes == 0) return kSuccess;
  const auto begin = static_cast<std::uint64_t>(static_cast<char*>(address) - base_) / kPageBytes * kPageBytes;
  const auto end = round_up(static_cast<std::uint64_t>(static_cast<char*>(address) - base_) + bytes, kPageBytes);
  return allocate_pages(begin, end - begin);
}

Status NodeMemory::allocate_pages(std::uint64_t offset, std::uint64_t bytes) {
  int result = 0;
  do {
    result = fallocate(descriptor_, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  } while (result != 0 && errno == EINTR);
  return result == 0 ? kSuccess : shortage(bytes, errno);
}

Status NodeMemory::shortage(std::uint64_t bytes, int error) const {
  struct statvfs space {};
  fstatvfs(descriptor_, &space);
  const auto mib = [&](std::uint64_t blocks) { return static_cast<unsigned long long>(blocks * space.f_frsize >> 20); };
  Status status =
      fail_errno(error,
                 "shared memory ran out: the region needs %llu bytes of %s, which has %llu of %llu MiB free; enlarge "
                 "it (mount -o remount,size=...) or set ARMCI_SHM_DIR to a larger tmpfs",
                 static_cast<unsigned long long>(bytes), directory_.c_str(), mib(space.f_bavail), mib(space.f_blocks));
  return fail(status.code(), "MEM-8", "%s", std::string(last_cause().text).c_str());
}

void NodeMemory::give_back(void* block, std::size_t bytes) {
  const auto offset = static_cast<std::uint64_t>(static_cast<char*>(block) - base_);
  forget_block(offset);
  return_to_heap(offset, whole_pages(bytes));
}

void NodeMemory::return_to_heap(std::uint64_t offset, std::uint64_t bytes) {
  Control& books = control();
  lock(&books.heap_lock, kHeapLock);
  const std::size_t needed = (books.heap.extent_count() + std::size_t{2}) * sizeof(NodeHeap::Extent);
  bool punch = true;
  if (grow_table(extent_table(), needed, &books.extents_committed_bytes).ok()) {
    books.heap.release(extent_table(), offset, bytes, &punch);
  }
  if (punch) {
    // Under the lock: once it is free again, another process may commit and fill the same block.
    fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
              static_cast<off_t>(bytes));
  }
  pthread_mutex_unlock(&books.heap_lock);
}

int NodeMemory::dead_peer() const {
  if (base_ == nullptr) return -1;
  for (int i = 0; i < control().peer_count; ++i) {
    const Peer& peer = control().peers[i];
    const std::int32_t pid = peer.pid.load(std::memory_order_acquire);
    if (i == machine_rank_ || pid == 0 || peer.pid_namespace != pid_namespace_) continue;
    if (peer.leaving.load(std::memory_order_acquire) == 0 && process_ended(pid)) return peer.world_rank;
  }
  return -1;
}

void NodeMemory::check_peers(const char* waiting_for) const {
  const int dead = dead_peer();
  if (dead < 0) return;
  (void)fail(
      Code::kLayerBelow, "INIT-7",
      "process %d died while this process waited for %s; the job ends; see the last messages of the dead process", dead,
      waiting_for);
  print_failure("watching the processes", last_cause());
  die(1);
}

void NodeMemory::announce_leaving() {
  if (base_ != nullptr) control().peers[machine_rank_].leaving.store(1, std::memory_order_release);
}

}  // namespace armci::node
