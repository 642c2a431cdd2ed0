// The messages of a SignalChannel (signal_channel.h).
//
//   | kind | applied | signal | bytes | store | data, padded | store | data, padded | ...
//   '---------- header -------------' '----------- bytes, at most kStoresBytesMax -----
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "impl/node/signal.h"
#include "impl/runtime/mpi_library.h"

namespace armci::rma {

// `kind` comes first, and is 0 in a receive that waits.
struct SignalMessage {
  enum Kind : std::uint64_t { kNone = 0, kSignal = 1, kAsk = 2, kCount = 3 };
  static constexpr std::size_t kHeaderBytes = 64;
  static constexpr std::size_t kBytesMax = runtime::kStreamedMessageBytes;
  static constexpr std::size_t kStoresBytesMax = kBytesMax - kHeaderBytes;

  // Appends a copy of the data. False, and nothing is appended, if they do not fit.
  bool add_store(void* remote, const void* local, std::size_t data_bytes) {
    if (data_bytes > kDataBytesMax || store_bytes(data_bytes) > kStoresBytesMax - bytes) return false;
    const Store store{static_cast<char*>(remote), data_bytes};
    std::memcpy(stores + bytes, &store, sizeof store);
    std::memcpy(stores + bytes + sizeof store, local, data_bytes);
    bytes += store_bytes(data_bytes);
    return true;
  }
  // Calls visit(remote, data, bytes) for each store, in order. The data are aligned to 8 bytes.
  template <class Visit>
  void each_store(Visit visit) const {
    for (std::size_t at = 0; at < bytes;) {
      Store store;
      std::memcpy(&store, stores + at, sizeof store);
      visit(store.remote, stores + at + sizeof store, store.bytes);
      at += store_bytes(store.bytes);
    }
  }

  std::uint64_t kind;
  std::uint64_t applied;  // signals of the receiver, by the sender
  node::Signal signal;    // word == nullptr: the stores only
  std::uint64_t bytes;
  char stores[kStoresBytesMax];

 private:
  struct Store {
    char* remote;
    std::uint64_t bytes;
  };
  static constexpr std::size_t store_bytes(std::size_t data_bytes) { return sizeof(Store) + (data_bytes + 7) / 8 * 8; }

 public:
  static constexpr std::size_t kStoreHeaderBytes = sizeof(Store);
  // The longest data of one store.
  static constexpr std::size_t kDataBytesMax = kStoresBytesMax - kStoreHeaderBytes;
};
static_assert(sizeof(SignalMessage) == SignalMessage::kBytesMax &&
              offsetof(SignalMessage, stores) <= SignalMessage::kHeaderBytes);

}  // namespace armci::rma
