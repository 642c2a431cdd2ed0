#include "impl/mpi-rma/region_memory.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "impl/node/agree.h"
#include "impl/runtime/world.h"

namespace armci::rma {

namespace {

// The folder in which MPI libraries create the memory that processes of a machine share.
constexpr const char* kSharedFolder = "/dev/shm";

// The bytes that the processes of this machine can still share; UINT64_MAX where Linux does not say.
std::uint64_t free_bytes() {
  struct statvfs about {};
  if (statvfs(kSharedFolder, &about) != 0) return UINT64_MAX;
  return static_cast<std::uint64_t>(about.f_bavail) * about.f_frsize;
}

}  // namespace

const FaultRow* hindrance(RegionKind kind, const Findings& findings) {
  if (kind == RegionKind::kShared && findings.has(Fault::kAllocateSharedBroken)) {
    return &fault_row(Fault::kAllocateSharedBroken);
  }
  if (kind != RegionKind::kAllocate) return nullptr;
  for (Fault fault : {Fault::kAllocateBase, Fault::kAllocateConcurrent, Fault::kAllocateAtomics,
                      Fault::kAllocateSwapCrash, Fault::kAllocatePutTwice}) {
    if (findings.has(fault)) return &fault_row(fault);
  }
  return nullptr;
}

// A store to a page that Linux cannot provide ends the process. A read() into that page returns an error instead.
Status make_pages(char* from, std::size_t bytes) {
  constexpr std::size_t kBytesOfOneCall = std::size_t{1} << 30;
  const int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  if (zeros < 0)
    return fail(Code::kMemory, "MEM-8", "the process cannot open /dev/zero: %s; give it the right to read this device",
                std::strerror(errno));
  int error = 0;
  for (std::size_t done = 0; done < bytes && error == 0;) {
    const ssize_t now = read(zeros, from + done, std::min(bytes - done, kBytesOfOneCall));
    if (now > 0) {
      done += static_cast<std::size_t>(now);
    } else if (now == 0 || errno != EINTR) {
      error = now == 0 ? EIO : errno;
    }
  }
  close(zeros);
  if (error == 0) return kSuccess;
  return fail(Code::kMemory, "MEM-8",
              "MPI gave %zu bytes that are not there (%s): enlarge %s, free memory, or set ARMCI_RMA_WINDOW=create",
              bytes, std::strerror(error), kSharedFolder);
}

Status RegionMemory::initialise(const runtime::World& world, RegionKind kind, const Findings& findings) {
  kind_ = kind;
  equal_sizes_ = kind == RegionKind::kAllocate && findings.has(Fault::kAllocateUnequal);
  my_machine_ = world.rank();
  ARMCI_MPI(MPI_Bcast(&my_machine_, 1, MPI_INT, 0, world.machine_comm()));
  machine_of_.resize(static_cast<std::size_t>(world.size()));
  ARMCI_MPI(MPI_Allgather(&my_machine_, 1, MPI_INT, machine_of_.data(), 1, MPI_INT, world.comm()));
  return kSuccess;
}

// bytes_of_each: the bytes that every member takes, or 0: each member takes the bytes of its part.
Status RegionMemory::check_memory(std::span<const runtime::Exposed> parts, std::size_t bytes_of_each) const {
  const std::uint64_t free = free_bytes();
  std::uint64_t wanted = 0;
  for (const runtime::Exposed& part : parts) {
    if (machine_of_[static_cast<std::size_t>(part.proc)] != my_machine_) continue;
    if (__builtin_add_overflow(wanted, bytes_of_each > 0 ? bytes_of_each : part.bytes, &wanted)) wanted = UINT64_MAX;
  }
  if (wanted <= free) return kSuccess;
  return fail(Code::kMemory, "MEM-8",
              "the processes of this machine request %llu bytes of MPI, and %llu are free in %s: enlarge it (mount -o "
              "remount,size=...), or set ARMCI_RMA_WINDOW=create",
              static_cast<unsigned long long>(wanted), static_cast<unsigned long long>(free), kSharedFolder);
}

Status RegionMemory::make_window(const runtime::GroupView& group, std::size_t bytes,
                                 std::unique_ptr<Window>* out) const {
  if (kind_ == RegionKind::kAllocate) return Window::allocate(group.comm, bytes, out);
  MPI_Comm machine = MPI_COMM_NULL;
  ARMCI_MPI(MPI_Comm_split(group.comm, my_machine_, group.rank, &machine));
  MPI_Comm_set_errhandler(machine, MPI_ERRORS_RETURN);
  const Status status = Window::allocate_shared(group.comm, machine, bytes, out);
  MPI_Comm_free(&machine);
  return status;
}

Status RegionMemory::make(const runtime::GroupView& group, std::span<runtime::Exposed> parts,
                          std::vector<const void*>* origins, std::unique_ptr<Window>* out) const {
  std::size_t most = 0;
  for (const runtime::Exposed& part : parts) most = std::max(most, part.bytes);
  const std::size_t own = parts[static_cast<std::size_t>(group.rank)].bytes;
  ARMCI_RETURN_IF_ERROR(
      node::agree(group.comm, check_memory(parts, equal_sizes_ ? most : 0), "checking the memory for a region"));

  std::unique_ptr<Window> window;
  Status status = make_window(group, equal_sizes_ ? most : own, &window);
  if (status.ok()) status = make_pages(window->memory(), own);
  struct Entry {
    std::uint64_t origin;
    std::uint64_t memory;
    std::int64_t has_window;
    std::int64_t code;
  } mine{0, 0, 0, status.value()};
  if (window != nullptr) {
    mine.origin = reinterpret_cast<std::uint64_t>(window->origin());
    mine.memory = own > 0 ? reinterpret_cast<std::uint64_t>(window->memory()) : 0;
    mine.has_window = 1;
  }
  std::vector<Entry> all(parts.size());
  ARMCI_MPI(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, group.comm));
  bool everywhere = true;
  for (std::size_t r = 0; r < all.size(); ++r) {
    everywhere = everywhere && all[r].has_window != 0;
    if (all[r].code != 0 && status.ok()) {
      status = fail(Code::kMemory, "MEM-8", "process %d got no memory of MPI, see its message", parts[r].proc);
    }
  }
  if (!status.ok()) {
    // A window that some have and others have not cannot be freed: it stays.
    if (everywhere) (void)window->free();
    (void)(everywhere ? nullptr : window.release());
    return status;
  }
  origins->clear();
  for (std::size_t r = 0; r < all.size(); ++r) {
    parts[r].base = reinterpret_cast<void*>(all[r].memory);
    origins->push_back(reinterpret_cast<const void*>(all[r].origin));
  }
  *out = std::move(window);
  return kSuccess;
}

}  // namespace armci::rma
