#include "impl/shmem/shared_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "impl/common/agree.h"

namespace armci::node {

using common::fail;
using common::fail_errno;
using common::kSuccess;
using common::Status;

namespace {

struct Invitation {
  std::int32_t created;  // 0, or the errno of the creator
  std::int32_t pid;
  std::int32_t descriptor;
  std::uint64_t pid_namespace;
  std::uint64_t device;
  std::uint64_t inode;
  char path[4096];  // empty: unnamed
};

bool same_file(int descriptor, const Invitation& invitation) {
  struct stat information;
  return fstat(descriptor, &information) == 0 && information.st_dev == invitation.device &&
         information.st_ino == invitation.inode;
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
  struct stat information;
  if (descriptor < 0 || fstat(descriptor, &information) != 0) {
    invitation->created = errno;
    if (descriptor >= 0) close(descriptor);
    return -1;
  }
  invitation->created = 0;
  invitation->pid = getpid();
  invitation->descriptor = descriptor;
  invitation->pid_namespace = pid_namespace();
  invitation->device = information.st_dev;
  invitation->inode = information.st_ino;
  return descriptor;
}

int join(const Invitation& invitation) {
  char path[64];
  const char* name = invitation.path;
  if (name[0] == '\0') {
    if (invitation.pid_namespace != pid_namespace()) return -1;
    std::snprintf(path, sizeof path, "/proc/%d/fd/%d", invitation.pid, invitation.descriptor);
    name = path;
  }
  const int descriptor = open(name, O_RDWR | O_CLOEXEC);
  if (descriptor >= 0 && !same_file(descriptor, invitation)) {
    close(descriptor);
    return -1;
  }
  return descriptor;
}

// Growing a file beyond this process's limit would be a signal, not an error.
Status check_file_size_limit(std::uint64_t bytes) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes) {
    return kSuccess;
  }
  return fail(common::Code::kMemory, "MEM-8",
              "the limit on the size of files, %llu bytes, is below the %llu reserved for node memory; raise it with "
              "ulimit -f, or lower ARMCI_SHM_RESERVE",
              static_cast<unsigned long long>(limit.rlim_cur), static_cast<unsigned long long>(bytes));
}

// One attempt; *everywhere tells whether all processes have the file.
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

Status open_shared_file(MPI_Comm machine_comm, const std::string& directory, std::uint64_t bytes, int* descriptor) {
  Invitation invitation{};
  bool everywhere = false;
  for (const bool named : {false, true}) {
    ARMCI_RETURN_IF_ERROR(attempt(machine_comm, directory, named, descriptor, &everywhere, &invitation));
    if (everywhere) break;
  }
  if (!everywhere) {
    if (invitation.created != 0) {
      return fail_errno(invitation.created, "cannot create a file in %s; set ARMCI_SHM_DIR to a writable tmpfs",
                        directory.c_str());
    }
    return fail(common::Code::kLayerBelow, nullptr,
                "the processes of this machine cannot open one file in %s; set ARMCI_SHM_DIR to a tmpfs that all see",
                directory.c_str());
  }
  int rank = 0;
  ARMCI_MPI(MPI_Comm_rank(machine_comm, &rank));
  Status mine = check_file_size_limit(bytes);
  if (mine.ok() && rank == 0 && ftruncate(*descriptor, static_cast<off_t>(bytes)) != 0) {
    mine = fail_errno(errno, "cannot give the file in %s a length of %llu bytes", directory.c_str(),
                      static_cast<unsigned long long>(bytes));
  }
  Status all = common::agree(machine_comm, mine, "setting the length of node memory");
  if (!all.ok()) close(*descriptor);
  return all;
}

}  // namespace armci::node
