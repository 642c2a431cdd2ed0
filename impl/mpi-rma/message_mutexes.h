// MessageMutexes: mutexes made of put, get and zero-byte messages alone, without an atomic operation. They follow
// Latham, Ross and Thakur (Implementing MPI-IO Atomic Mode and Shared File Pointers Using MPI One-Sided Communication,
// IJHPCA 21(2), 2007).
//
// For each mutex its host keeps a byte per process: whether the process holds the mutex or waits for it. One exclusive
// epoch sets the own byte and reads all others.
//
//   bytes at the host   A B C
//                       0 0 0
//   A locks             1 0 0      | lock, put 1, get the others, unlock |   no other byte: A has it
//   B locks             1 1 0      |                  "                  |   A is there: B waits for a message
//   C locks             1 1 1      |                  "                  |   A, B are there: C waits
//   A unlocks           0 1 1      | lock, put 0, get the others, unlock |   the next one after A, B, gets a message
//   B <------ A                                                              B has it, its byte is set already
//   B unlocks           0 0 1      |                  "                  |   C <------ B
//
// A process that set its byte and found another byte set receives exactly one message. Only the holder sends one, in
// its unlock, to one waiting process. The holder searches from its own byte on, in a ring, so that no waiter is passed
// over twice.
//
// try_lock() reads the other bytes first and sets its own only if they are all zero, in the same epoch:
//
//   | lock, get the others, flush, [all zero: put 1], unlock |
//
// Setting the byte at once and clearing it in a second epoch would be wrong. A holder that unlocks between the epochs
// could choose that byte. The holder would hand the mutex to a process that no longer waits and does not expect a
// message.
//
// All mutexes of a set share a window and a communicator; the tag of a message is the number of the mutex.
//
// Thread safety: all members by any thread. Of one process only one thread at a time may hold a mutex or try to: from
// the beginning of lock() or try_lock() to the end of unlock(). Creation and destruction are collective.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "impl/base/status.h"

namespace armci::rma {

class MessageMutexes {
 public:
  // Collective over `comm`: counts[r] free mutexes at rank r. Some MPI libraries have no window for one process alone.
  static Status create(MPI_Comm comm, std::span<const int> counts, std::unique_ptr<MessageMutexes>* out);
  // Collective; all mutexes are free.
  ~MessageMutexes();
  MessageMutexes(const MessageMutexes&) = delete;
  MessageMutexes& operator=(const MessageMutexes&) = delete;

  // Waits by polling MPI, ever more slowly. On failure the mutex is not held.
  //
  // Memory ordering: stores that earlier holders had completed at a target before their unlock are there.
  Status lock(int mutex, int host);
  // Does not wait for the holder. After a failed try the call sleeps for 16 us, after more in a row for up to 1 ms.
  // Tries without a pause would keep the holder from the epoch in which it unlocks.
  Status try_lock(int mutex, int host, bool* taken);
  // A failed unlock can be repeated.
  Status unlock(int mutex, int host);
  // Of a mutex of this process's own.
  Status is_free(int mutex, bool* free);

 private:
  MessageMutexes() = default;
  Status initialise(MPI_Comm comm, std::span<const int> counts);
  Status prepare(std::span<const int> counts, std::size_t* bytes);
  int number(int mutex, int host) const { return first_[static_cast<std::size_t>(host)] + mutex; }
  MPI_Aint displacement(int mutex, int rank) const { return static_cast<MPI_Aint>(mutex) * size_ + rank; }

  // Sets this process's byte and reads all others; the own one is read as 0.
  Status exchange(int mutex, int host, char mine, std::span<char> bytes);
  template <class Operations>
  Status epoch(int host, const char* what, Operations operations);
  // In an epoch that is open; return MPI's error code.
  int put_own(int mutex, int host, const char* mine);
  int get_others(int mutex, int host, std::span<char> bytes);
  Status wait_for_turn(int number);

  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
  int rank_ = -1;
  int size_ = 0;
  std::vector<int> first_;  // by host: number of its first mutex
  std::unique_ptr<char[]> memory_;
  std::atomic<int> failed_tries_{0};  // in a row, of this process
  std::mutex epoch_;                  // a process has one epoch of a window at a time, see sync_exclusive.h
};

}  // namespace armci::rma
