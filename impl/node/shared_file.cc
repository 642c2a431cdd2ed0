#include "impl/node/shared_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "impl/node/agree.h"

namespace armci::node {

namespace {

struct Invitation {
  std::int32_t created;  // 0, or the errno of the creator
  FileAddress file;
  char path[4096];  // empty: unnamed
};

bool same_file(int descriptor, const FileAddress& address) {
  struct stat information;
  return fstat(descriptor, &information) == 0 && information.st_dev == address.device &&
         information.st_ino == address.inode;
}

void read_boot_id(char (&id)[sizeof FileAddress::boot_id]) {
  std::memset(id, 0, sizeof id);
  const int descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  if (read(descriptor, id, sizeof id - 1) < 0) id[0] = '\0';
  close(descriptor);
}

// 0 or an errno.
int describe(int descriptor, FileAddress* address) {
  struct stat information;
  if (fstat(descriptor, &information) != 0) return errno;
  read_boot_id(address->boot_id);
  address->pid = getpid();
  address->descriptor = descriptor;
  address->pid_namespace = pid_namespace();
  address->device = information.st_dev;
  address->inode = information.st_ino;
  return 0;
}

int open_same(const char* path, const FileAddress& address) {
  const int descriptor = open(path, O_RDWR | O_CLOEXEC);
  if (descriptor < 0 || same_file(descriptor, address)) return descriptor;
  close(descriptor);
  return -1;
}

int create(const std::string& directory, bool named, Invitation* invitation) {
  int descriptor = -1;
  if (named) {
    std::snprintf(invitation->path, sizeof invitation->path, "%s/armci.%d.XXXXXX", directory.c_str(), getpid());
    descriptor = mkostemp(invitation->path, O_CLOEXEC);
  } else {
    invitation->path[0] = '\0';
    descriptor = open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  }
  invitation->created = descriptor < 0 ? errno : describe(descriptor, &invitation->file);
  if (invitation->created == 0) return descriptor;
  if (descriptor >= 0) close(descriptor);
  return -1;
}

int join(const Invitation& invitation) {
  return invitation.path[0] == '\0' ? open_at(invitation.file) : open_same(invitation.path, invitation.file);
}

// Growing a file beyond this process's limit would be a signal, not an error.
Status check_file_size_limit(std::uint64_t bytes) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes) {
    return kSuccess;
  }
  return fail(Code::kMemory, "MEM-8",
              "the limit on the size of files, %llu bytes, is below the %llu reserved for node memory; raise it with "
              "ulimit -f, or lower ARMCI_SHM_RESERVE",
              static_cast<unsigned long long>(limit.rlim_cur), static_cast<unsigned long long>(bytes));
}

// One attempt; *everywhere is true if all processes have the file.
Status attempt(MPI_Comm comm, const std::string& directory, bool named, int* descriptor, bool* everywhere,
               Invitation* invitation) {
  int rank = 0;
  ARMCI_MPI(MPI_Comm_rank(comm, &rank));
  *descriptor = rank == 0 ? create(directory, named, invitation) : -1;
  ARMCI_MPI(MPI_Bcast(invitation, static_cast<int>(sizeof *invitation), MPI_BYTE, 0, comm));
  if (rank != 0 && invitation->created == 0) *descriptor = join(*invitation);
  int mine = *descriptor >= 0 ? 1 : 0;
  int all = 0;
  ARMCI_MPI(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm));
  if (rank == 0 && named && invitation->created == 0) unlink(invitation->path);
  *everywhere = all == 1;
  if (!*everywhere && *descriptor >= 0) close(*descriptor);
  return kSuccess;
}

}  // namespace

std::uint64_t pid_namespace() {
  struct stat information;
  return stat("/proc/self/ns/pid", &information) == 0 ? information.st_ino : 0;
}

Status address_of(int descriptor, FileAddress* address) {
  const int error = describe(descriptor, address);
  if (error == 0) return kSuccess;
  return fail_errno(
      error,
      "the process cannot find its open file of descriptor %d; close no descriptor that the program has not opened",
      descriptor);
}

int open_at(const FileAddress& address) {
  char boot_id[sizeof address.boot_id];
  read_boot_id(boot_id);
  if (std::memcmp(boot_id, address.boot_id, sizeof boot_id) != 0 || address.pid_namespace != pid_namespace()) return -1;
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", address.pid, address.descriptor);
  return open_same(path, address);
}

Status open_shared_file(MPI_Comm machine_comm, const std::string& directory, std::uint64_t bytes, int* descriptor) {
  Invitation invitation{};
  bool everywhere = false;
  for (const bool named : {false, true}) {
    ARMCI_RETURN_IF_ERROR(attempt(machine_comm, directory, named, descriptor, &everywhere, &invitation));
    if (everywhere) break;
  }
  if (!everywhere) {
    if (invitation.created != 0) {
      return fail_errno(invitation.created,
                        "the process cannot create a file in %s; set ARMCI_SHM_DIR to a writable tmpfs",
                        directory.c_str());
    }
    return fail(
        Code::kLayerBelow, nullptr,
        "the processes of this machine cannot open one file in %s; set ARMCI_SHM_DIR to a tmpfs that all processes see",
        directory.c_str());
  }
  int rank = 0;
  ARMCI_MPI(MPI_Comm_rank(machine_comm, &rank));
  Status mine = check_file_size_limit(bytes);
  if (mine.ok() && rank == 0 && ftruncate(*descriptor, static_cast<off_t>(bytes)) != 0) {
    mine = fail_errno(
        errno, "the process cannot give the file in %s a length of %llu bytes; set ARMCI_SHM_DIR to another tmpfs",
        directory.c_str(), static_cast<unsigned long long>(bytes));
  }
  Status all = agree(machine_comm, mine, "setting the length of node memory");
  if (!all.ok()) close(*descriptor);
  return all;
}

}  // namespace armci::node
