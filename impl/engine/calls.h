// Calls: the members of a transport (impl/runtime/transport.h) that the engine has, for a port to inherit.
//
// Thread safety: as the contract requires.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "impl/engine/client.h"
#include "impl/engine/compose.h"
#include "impl/engine/rows.h"
#include "impl/engine/server.h"
#include "impl/runtime/transport.h"

namespace armci::engine {

// Of a port with a server for each node.
inline Routes routes_by_node(const runtime::World& world, int cluster) {
  std::vector<int> node_of;
  for (int process = 0; process < world.size(); ++process) node_of.push_back(world.node_of(process));
  return {std::move(node_of), world.node_count(), cluster};
}

template <class PortKey>
class Calls {
 public:
  using Key = PortKey;
  struct Completion {
    std::uint64_t operation = 0;  // 0: complete
    bool aggregate = false;

    bool complete() const { return operation == 0; }
    bool operator==(const Completion&) const = default;
  };

  Status put(int target, const Key& key, void* remote, const void* local, std::size_t bytes, Completion* completion) {
    return client_->put({target, &key}, remote, local, bytes, how(completion));
  }
  Status get(int target, const Key& key, const void* remote, void* local, std::size_t bytes, Completion* completion) {
    return client_->get({target, &key}, remote, local, bytes, how(completion));
  }
  Status put_now(int target, const Key& key, void* remote, const void* local, std::size_t bytes) {
    return client_->put({target, &key}, remote, local, bytes, {});
  }
  Status get_now(int target, const Key& key, const void* remote, void* local, std::size_t bytes) {
    return client_->get({target, &key}, remote, local, bytes, {});
  }
  Status put_signal(int target, const Key& key, void* remote, const void* local, std::size_t bytes,
                    const node::Signal& signal) {
    return client_->put_signal({target, &key}, remote, local, bytes, signal);
  }

  Status put_strided(int target, const Key& key, void* remote, const void* local, const runtime::Strided& shape,
                     Completion* completion) {
    const How as = how(completion);
    if (shape.levels == 0) return client_->put({target, &key}, remote, local, shape.count[0], as);
    return client_->put_rows({target, &key}, Rows(shape, Here::kSource, local, remote), as);
  }
  Status get_strided(int target, const Key& key, const void* remote, void* local, const runtime::Strided& shape,
                     Completion* completion) {
    const How as = how(completion);
    if (shape.levels == 0) return client_->get({target, &key}, remote, local, shape.count[0], as);
    return client_->get_rows({target, &key}, Rows(shape, Here::kDestination, local, remote), as);
  }
  Status put_list(int target, const Key& key, const runtime::Segments& list, Completion* completion) {
    return client_->put_rows({target, &key}, Rows(list, Here::kSource), how(completion));
  }
  Status get_list(int target, const Key& key, const runtime::Segments& list, Completion* completion) {
    return client_->get_rows({target, &key}, Rows(list, Here::kDestination), how(completion));
  }
  Status accumulate_strided(int target, const Key&, void* remote, const void* local, const runtime::Strided& shape,
                            const node::AccSpec& acc, Completion* completion) {
    const How as = how(completion);
    if (shape.levels == 0) return client_->add(target, accumulate_header(acc), remote, local, shape.count[0], as);
    return client_->add_rows(target, accumulate_header(acc), Rows(shape, Here::kSource, local, remote), as);
  }
  Status accumulate_list(int target, const Key&, const runtime::Segments& list, const node::AccSpec& acc,
                         Completion* completion) {
    return client_->add_rows(target, accumulate_header(acc), Rows(list, Here::kSource), how(completion));
  }
  Status atomic64(int target, const Key& key, void* remote, runtime::AtomicOp op, std::int64_t operand,
                  std::int64_t compare, std::int64_t* before) {
    return rmw(target, key, remote, runtime::rmw_of(op, operand, compare), before, nullptr);
  }
  Status rmw(int target, const Key&, void* remote, const runtime::Rmw& rmw, void* before, Completion* completion) {
    return client_->atomic(target, atomic_header(remote, rmw), before, how(completion));
  }

  Status wait(const Completion& completion) { return client_->wait(completion.operation); }
  Status test(Completion* completion, bool* done) { return client_->test(completion->operation, done); }
  Status flush(int target) { return client_->flush(target); }
  Status flush_all() { return client_->flush_all(); }
  std::size_t buffer_bytes() {
    return (server_ != nullptr ? server_->buffer_bytes() : 0) + (client_ != nullptr ? client_->buffer_bytes() : 0);
  }

 protected:
  // None in a job of one node. A port resets both before the wires that they use.
  std::unique_ptr<Client> client_;
  std::unique_ptr<Server> server_;  // a thread of this process

 private:
  static How how(Completion* completion) {
    if (completion == nullptr) return {};
    return {&completion->operation, completion->aggregate};
  }
};

}  // namespace armci::engine
