// The environment variables of mpi-rma, as rows of the common table (impl/common/config.h).
//
// Thread safety: written by load_config() before the transport starts, read-only afterwards.
#pragma once

#include <string>

#include "impl/common/status.h"

namespace armci::rma {

enum class SyncKind { kEpochless, kExclusive };

struct Settings {
  std::string sync;     // ARMCI_RMA_SYNC
  bool direct = true;   // ARMCI_RMA_DIRECT
  int requests = -1;    // ARMCI_RMA_REQUESTS
  int progress_us = 0;  // ARMCI_RMA_PROGRESS
};

// The values in force.
Settings& settings();

// The strategy that ARMCI_RMA_SYNC names; an error that lists them for any other word [ERR-1].
common::Status sync_kind(SyncKind* kind);

}  // namespace armci::rma
