// NodeMemory: one range of memory that all processes of a machine map at the same address.
//
//   address  base                                                            base + reserve
//            | control | table of free extents | table of blocks | blocks .......... |
//   file     one sparse, unnamed file in ARMCI_SHM_DIR (a tmpfs), mapped whole, MAP_SHARED
//
// A block is a part of the range. Its pages are allocated in the file before the block is used (commit), and given back
// by punching a hole. A full file system is an error at the commit, never SIGBUS later (MEM-8). The file has no name
// (O_TMPFILE; the others open it through the creator's /proc entry), so nothing stays behind after any death of a
// process [INIT-5, INIT-7]. Where that is not possible it has a name until all have opened it.
//
// Equal addresses make a pointer valid on every process of the machine: translation costs nothing [MEM-4].
//
// Thread safety: attach and detach are collective and single-threaded; the rest may be called by several threads.
#pragma once

#include <mpi.h>
#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "impl/base/status.h"
#include "impl/node/block_list.h"
#include "impl/node/node_heap.h"
#include "impl/node/shared_file.h"
#include "impl/node/wait_report.h"

namespace armci::node {

inline constexpr int kAccumulateLocks = 4096;  // a power of two; see node_accumulate.h

struct alignas(64) AccumulateLock {
  std::atomic<std::uint32_t> held;
};

// The data of a process for its neighbours on the node.
struct alignas(64) Peer {
  std::atomic<std::int32_t> pid;
  std::int32_t world_rank;
  std::uint64_t pid_namespace;         // a pid means something only inside its namespace
  std::atomic<std::uint32_t> leaving;  // set when the process ends in an orderly way
};

// At the start of node memory; constructed by the machine's first process.
struct Control {
  pthread_mutex_t heap_lock;  // both locks are robust and process-shared, and never held together
  NodeHeap heap;
  std::uint64_t extents_committed_bytes;
  pthread_mutex_t blocks_lock;
  BlockList blocks;
  std::uint64_t blocks_committed_bytes;
  std::atomic<std::uint64_t> blocks_generation;  // changes when one is given back; never 0
  std::int32_t peer_count;
  alignas(64) std::atomic<std::uint32_t> hang_announced;  // some process's watchdog expired: all print their state
  std::atomic<std::uint32_t> dumped;                      // the number of processes that have printed
  AccumulateLock accumulate_locks[kAccumulateLocks];
  Peer peers[];
};

struct NodeMemoryOptions {
  std::string directory;      // a tmpfs that all processes of the machine see
  std::size_t reserve_bytes;  // length of the address range; 0: four times the physical memory
  std::size_t retain_bytes;   // free blocks whose pages are kept for reuse
  int world_rank;
};

// The data with which another process of the machine (a server) maps the memory of the processes. Sent as bytes.
struct NodeMemoryAddress {
  FileAddress file;
  std::uint64_t base;
  std::uint64_t reserve_bytes;
};

class NodeMemory {
 public:
  // Collective over the processes that share memory. On failure every process fails and nothing is left mapped.
  Status attach(MPI_Comm machine_comm, const NodeMemoryOptions& options);
  // Collective over the same processes.
  void detach();

  // For a guest on this machine; valid until detach().
  Status address(NodeMemoryAddress* address) const;
  // Maps the memory of other processes at their address. The processes do not watch a guest. A guest neither takes nor
  // gives back blocks, and detaches alone. Not collective.
  Status attach_as_guest(const NodeMemoryAddress& address);

  // Takes a block of at least `bytes` (whole pages, at least one); its pages are not committed yet. Not collective.
  Status take(std::size_t bytes, void** block);
  // Allocates the pages of a range, so that touching them cannot fail. Idempotent; not collective.
  Status commit(void* address, std::size_t bytes);
  // Gives a block of take() back, `bytes` as given there. No process may touch it any more. Not collective.
  void give_back(void* block, std::size_t bytes);

  // The block that all of [address, address + bytes) lies in, as of *generation; false if there is none. Takes a lock;
  // BlockFinder (block_finder.h) mostly does without.
  bool find_block(const void* address, std::size_t bytes, BlockList::Block* block, std::uint64_t* generation);

  bool attached() const { return base_ != nullptr; }
  // The whole range that all processes of the machine map at the same address.
  char* begin() const { return base_; }
  char* end() const { return base_ + reserve_; }
  Control& control() const { return *reinterpret_cast<Control*>(base_); }
  AccumulateLock* accumulate_locks() const { return control().accumulate_locks; }

  // The world rank of a process of this machine that ended without leaving (killed, crashed), or -1.
  int dead_peer() const;
  // Ends the job with a message when dead_peer() finds one; `waiting_for` says what this process was waiting for.
  void check_peers(const char* waiting_for) const;
  void check_peers(WaitKind kind) const { check_peers(wait_name(kind)); }
  // Marks this process as ending in an orderly way.
  void announce_leaving();

 private:
  Status map_equally(MPI_Comm machine_comm);
  void construct_control(int peer_count, std::size_t retain_bytes);
  Status allocate_pages(std::uint64_t offset, std::uint64_t bytes);
  Status shortage(std::uint64_t bytes, int error) const;
  NodeHeap::Extent* extent_table() const { return reinterpret_cast<NodeHeap::Extent*>(base_ + table_offset_); }
  BlockList::Block* block_table() const;
  Status grow_table(void* table, std::size_t needed, std::uint64_t* committed);
  Status note_block(std::uint64_t offset, std::uint64_t bytes);
  void forget_block(std::uint64_t offset);
  void return_to_heap(std::uint64_t offset, std::uint64_t bytes);
  void lock(pthread_mutex_t* mutex, const char* name);

  char* base_ = nullptr;
  std::size_t reserve_ = 0;
  std::size_t table_offset_ = 0;
  int descriptor_ = -1;
  int machine_rank_ = -1;  // of a guest: -1
  std::uint64_t pid_namespace_ = 0;
  std::string directory_;
};

extern NodeMemory the_node_memory;
inline NodeMemory& node_memory() { return the_node_memory; }

}  // namespace armci::node
