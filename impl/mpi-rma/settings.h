// The environment variables of mpi-rma, as rows of the common table (impl/runtime/config.h).
//
// Thread safety: written by load_config() before the transport starts, read-only afterwards.
#pragma once

#include <mpi.h>

#include <string>

#include "impl/base/status.h"
#include "impl/mpi-rma/preflight/preflight.h"

namespace armci::rma {

// The strategy of operations and their completion: sync.h.
enum class SyncKind { kAuto, kEpochless, kExclusive };

// The base of mutexes: MPI's atomics, in a queue (impl/runtime), or put, get and messages (message_mutexes.h).
enum class MutexKind { kAtomic, kMessage };

// The source of the memory of regions: region_memory.h.
enum class RegionKind { kCreate, kAllocate, kShared };

// The method for strided or vector transfers: shapes.h.
enum class Method { kAuto, kDirect, kBatched, kConservative };

struct Settings {
  std::string sync;       // ARMCI_RMA_SYNC
  int direct = -1;        // ARMCI_RMA_DIRECT
  std::string mutex;      // ARMCI_RMA_MUTEX
  std::string window;     // ARMCI_RMA_WINDOW
  int requests = -1;      // ARMCI_RMA_REQUESTS
  std::string strided;    // ARMCI_RMA_STRIDED
  std::string vector;     // ARMCI_RMA_VECTOR
  int batch = 0;          // ARMCI_RMA_BATCH
  std::string preflight;  // ARMCI_PREFLIGHT
  int progress_us = 0;    // ARMCI_RMA_PROGRESS
};

// The values in force.
Settings& settings();

// The values of the settings that are words.
struct Choices {
  SyncKind sync = SyncKind::kAuto;
  MutexKind mutex = MutexKind::kAtomic;
  RegionKind window = RegionKind::kCreate;
  Method strided = Method::kAuto;
  Method vector = Method::kAuto;
  PreflightMode preflight = PreflightMode::kCached;
};
// Fails for a word that is not in the list, with the list in the error [ERR-1].
Status read_choices(Choices* choices);
// Collective over `comm`: as read_choices(), and fails on all processes if their settings differ. A launcher need not
// pass the environment to all processes.
Status read_choices_together(MPI_Comm comm, Choices* choices);

}  // namespace armci::rma
