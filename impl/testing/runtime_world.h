// Runtime<T> as process 0 of a job of several, without a job. The world, its groups and all processes' memory lie in
// this process, and no process communicates.
//
//   RuntimeForTest<ReorderingTransport> job({0, 1, 1});   // process 0 on node 0, processes 1 and 2 on node 1
//   job->contiguous<Kind::kPut>(&value, job.memory(1), sizeof value, 1, kBlocking);
//   job.network().fail_call(FakeCallKind::kFlush, 1);
//
// Thread safety: construction and destruction by one thread; one object at a time (the world is the process's).
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "impl/runtime/runtime.h"
#include "impl/testing/fake_transport.h"

namespace armci::runtime {

class WorldForTest {
 public:
  // node_of[p] is the node of process p; nodes are numbered from 0 without gaps.
  static void fill(World* world, int rank, const std::vector<int>& node_of) {
    *world = World();
    world->rank_ = rank;
    world->size_ = static_cast<int>(node_of.size());
    world->node_of_ = node_of;
    for (int proc = 0; proc < world->size_; ++proc) {
      const auto node = static_cast<std::size_t>(node_of[static_cast<std::size_t>(proc)]);
      if (world->nodes_.size() <= node) world->nodes_.resize(node + 1);
      world->nodes_[node].ranks.push_back(proc);
    }
    world->my_node_ = node_of[static_cast<std::size_t>(rank)];
    world->machine_count_ = world->node_count();
    world->machine_processes_ = 1;
  }
  static void clear(World* world) { *world = World(); }
};

class GroupForTest {
 public:
  // The group of these absolute ids, of which the world's rank must be one.
  static std::unique_ptr<Group> make(const World& world, const std::vector<int>& members) {
    auto group = std::make_unique<Group>();
    group->members_ = members;
    std::vector<bool> seen(static_cast<std::size_t>(world.node_count()));
    for (int r = 0; r < group->size(); ++r) {
      const int node = world.node_of(group->absolute_id(r));
      if (group->absolute_id(r) == world.rank()) group->rank_ = r;
      if (node == world.my_node()) group->on_node_.push_back(r);
      if (!seen[static_cast<std::size_t>(node)]) group->masters_.push_back(r);
      seen[static_cast<std::size_t>(node)] = true;
    }
    return group;
  }
};

template <class T>
class RuntimeForTest {
 public:
  using RuntimeType = Runtime<T>;
  using RegionType = typename RuntimeType::RegionType;
  using MutexSet = typename RuntimeType::MutexSet;
  static constexpr std::size_t kMemoryBytes = std::size_t{1} << 20;  // of each process's part of the program's region

  explicit RuntimeForTest(const std::vector<int>& node_of) {
    WorldForTest::fill(&world(), 0, node_of);
    group_ = GroupForTest::make(world(), all_processes());
    group_->barrier = new (&barrier_) node::Barrier();
    runtime_.prepare(world());
    const std::size_t service_bytes = sizeof(Service) + node_of.size() * sizeof(std::uint64_t);
    runtime_.service_ = add_region(std::vector<std::size_t>(node_of.size(), service_bytes));
    region_ = add_region(std::vector<std::size_t>(node_of.size(), kMemoryBytes));
  }
  ~RuntimeForTest() { WorldForTest::clear(&world()); }
  RuntimeForTest(const RuntimeForTest&) = delete;
  RuntimeForTest& operator=(const RuntimeForTest&) = delete;

  RuntimeType* operator->() { return &runtime_; }
  T& network() { return runtime_.transport(); }
  Group& group() { return *group_; }

  // Process proc's part of the program's region, zeroed at the start.
  char* memory(int proc) { return region_->parts[static_cast<std::size_t>(proc)].base; }
  template <class Value>
  Value* at(int proc, std::size_t index) {
    return reinterpret_cast<Value*>(memory(proc)) + index;
  }

  // A region with one part per process, in zeroed memory of its own.
  RegionType* add_region(const std::vector<std::size_t>& bytes) {
    auto region = std::make_unique<RegionType>();
    region->id = ++next_id_;
    for (std::size_t proc = 0; proc < bytes.size(); ++proc) {
      char* base = bytes[proc] == 0 ? nullptr : new_memory(bytes[proc]);
      region->parts.push_back({static_cast<int>(proc), base, bytes[proc], {static_cast<std::int32_t>(proc), 1}});
    }
    return runtime_.regions().insert(std::move(region));
  }

  // A set of mutexes as create_mutexes() creates it, counts by process; all free.
  std::unique_ptr<MutexSet> make_mutexes(const std::vector<int>& counts) {
    auto set = std::make_unique<MutexSet>(MutexSet{group_.get(), nullptr, counts, {}});
    set->number();
    std::vector<std::size_t> bytes;
    for (int proc = 0; proc < group_->size(); ++proc) bytes.push_back(runtime_.mutex_part_bytes(*set, proc));
    set->region = add_region(bytes);
    if constexpr (MakesMutexes<T>) (void)runtime_.transport().create_mutexes({}, counts, &set->own);
    return set;
  }

  std::int64_t accumulate_lock(int proc) { return service(proc)->accumulate_lock.load(); }
  void set_accumulate_lock(int proc, std::int64_t holder) { service(proc)->accumulate_lock.store(holder); }
  // The count of the notifications of `from` in `at_proc`'s memory.
  std::uint64_t& notifications(int at_proc, int from) { return service(at_proc)->notifications[from]; }
  node::WakeUp& wake_up(int proc) { return service(proc)->wake_up; }
  std::size_t outstanding() const { return runtime_.handles_.total(); }

 private:
  using Service = typename RuntimeType::Service;
  struct Free {
    void operator()(char* memory) const { ::operator delete[](memory, std::align_val_t{node::kPageBytes}); }
  };

  char* new_memory(std::size_t bytes) {
    memory_.emplace_back(new (std::align_val_t{node::kPageBytes}) char[bytes]);
    std::memset(memory_.back().get(), 0, bytes);
    return memory_.back().get();
  }
  std::vector<int> all_processes() const {
    std::vector<int> all;
    for (int proc = 0; proc < world().size(); ++proc) all.push_back(proc);
    return all;
  }
  Service* service(int proc) {
    return reinterpret_cast<Service*>(runtime_.service_->parts[static_cast<std::size_t>(proc)].base);
  }

  std::vector<std::unique_ptr<char[], Free>> memory_;
  RuntimeType runtime_;
  std::unique_ptr<Group> group_;
  alignas(node::Barrier) char barrier_[sizeof(node::Barrier)];
  RegionType* region_ = nullptr;
  std::int64_t next_id_ = 0;
};

}  // namespace armci::runtime
