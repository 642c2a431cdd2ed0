// Opening one file that several processes of a machine share, without a name that could stay behind.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

#include "impl/base/status.h"

namespace armci::node {

// Collective over machine_comm. Rank 0 creates an empty file of `bytes` (sparse) in `directory`; all get a descriptor
// of it. First choice: an unnamed file (O_TMPFILE) that the others open through /proc/PID/fd. Where that fails (other
// pid namespaces, a file system without unnamed files): a named file, unlinked as soon as all have opened it.
Status open_shared_file(MPI_Comm machine_comm, const std::string& directory, std::uint64_t bytes, int* descriptor);

// The process's pid namespace, 0 when Linux does not show it.
std::uint64_t pid_namespace();

// The address of a file without a name: a descriptor of a process that has the file open. Plain bytes for messages,
// also to other machines, where open_at() fails.
struct FileAddress {
  char boot_id[40];  // of the machine; empty when Linux does not show it
  std::int32_t pid;
  std::int32_t descriptor;
  std::uint64_t pid_namespace;
  std::uint64_t device;
  std::uint64_t inode;
};

// Of an open descriptor of this process.
Status address_of(int descriptor, FileAddress* address);
// A descriptor of that file, or -1: on another machine, in another pid namespace, and when its owner has closed it.
int open_at(const FileAddress& address);

}  // namespace armci::node
