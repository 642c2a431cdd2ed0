// The environment variables of mpi-rma, as rows of the common table (impl/runtime/config.h).
//
// Thread safety: written by load_config() before the transport starts, read-only afterwards.
#pragma once

#include <mpi.h>

#include <string>

#include "impl/base/status.h"
#include "impl/mpi-rma/preflight/preflight.h"

namespace armci::rma {

// How operations are opened and completed: sync.h.
enum class SyncKind { kAuto, kEpochless, kExclusive };

// The base of mutexes: MPI's atomics, in a queue (impl/runtime), or put, get and messages (message_mutexes.h).
enum class MutexKind { kAtomic, kMessage };

// Where the memory of regions comes from: region_memory.h.
enum class RegionKind { kCreate, kAllocate, kShared };

// How a strided or vector transfer is made of operations of MPI: shapes.h.
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
// An error that lists the words there are for any other one [ERR-1].
Status read_choices(Choices* choices);
// Collective over `comm`: the same, and an error on all where one process has other settings than another, as a
// launcher need not pass the environment on.
Status read_choices_together(MPI_Comm comm, Choices* choices);

}  // namespace armci::rma
