// Fake transports with the optional members that move data: transfers at once, and whole descriptors.
//
// They are as late as the others (fake_transport.h). Without a completion a store has left its buffer when the call
// returns; it is visible after a flush, no earlier. Whole descriptors are also kept as they came.
//
// Thread safety: as FakeNetwork, but wholes() by one thread.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "impl/testing/fake_transport.h"

namespace armci::runtime::testing {

class AtOnceTransport : public ReorderingTransport {
 public:
  Status put_now(int target, const Key& key, void* remote, const void* local, std::size_t bytes) {
    return start(FakeCallKind::kPutNow, target, key, remote, {{remote, local, bytes}}, nullptr, nullptr);
  }
  Status get_now(int target, const Key& key, const void* remote, void* local, std::size_t bytes) {
    return start(FakeCallKind::kGetNow, target, key, remote, {{local, remote, bytes}}, nullptr, nullptr);
  }
};
static_assert(Transport<AtOnceTransport> && TransfersAtOnce<AtOnceTransport> && !MovesShapes<AtOnceTransport>);

// A whole descriptor as it came down.
struct Whole {
  FakeCallKind kind;
  int target;
  bool has_completion;
  const void* src = nullptr;  // strided
  const void* dst = nullptr;
  Strided shape{};
  std::vector<void*> src_list{};  // list
  std::vector<void*> dst_list{};
  std::size_t bytes = 0;
  node::AccSpec acc{};
};

template <bool wants_on_node = false>
class ShapesTransport : public FakeTransport<false, Atomicity::kTransport, wants_on_node> {
 public:
  using Key = FakeNetwork::Key;
  using Completion = FakeNetwork::Completion;

  Status put_strided(int target, const Key& key, void* remote, const void* local, const Strided& shape,
                     Completion* completion) {
    return strided(FakeCallKind::kPutStrided, target, key, remote, local, remote, shape, nullptr, completion);
  }
  Status get_strided(int target, const Key& key, const void* remote, void* local, const Strided& shape,
                     Completion* completion) {
    return strided(FakeCallKind::kGetStrided, target, key, remote, remote, local, shape, nullptr, completion);
  }
  Status accumulate_strided(int target, const Key& key, void* remote, const void* local, const Strided& shape,
                            const node::AccSpec& acc, Completion* completion) {
    return strided(FakeCallKind::kAccStrided, target, key, remote, local, remote, shape, &acc, completion);
  }
  Status put_list(int target, const Key& key, const Segments& list, Completion* completion) {
    return segments(FakeCallKind::kPutList, target, key, list, nullptr, completion);
  }
  Status get_list(int target, const Key& key, const Segments& list, Completion* completion) {
    return segments(FakeCallKind::kGetList, target, key, list, nullptr, completion);
  }
  Status accumulate_list(int target, const Key& key, const Segments& list, const node::AccSpec& acc,
                         Completion* completion) {
    return segments(FakeCallKind::kAccList, target, key, list, &acc, completion);
  }

  const std::vector<Whole>& wholes() const { return wholes_; }

 private:
  using Piece = FakeNetwork::Piece;

  Status strided(FakeCallKind kind, int target, const Key& key, const void* remote, const void* src, const void* dst,
                 const Strided& shape, const node::AccSpec* acc, Completion* completion) {
    Whole whole{kind, target, completion != nullptr};
    whole.src = src;
    whole.dst = dst;
    whole.shape = shape;
    if (acc != nullptr) whole.acc = *acc;
    wholes_.push_back(whole);
    std::vector<Piece> pieces;
    for_each_segment(shape, [&](std::ptrdiff_t from, std::ptrdiff_t to) {
      pieces.push_back(
          {static_cast<char*>(const_cast<void*>(dst)) + to, static_cast<const char*>(src) + from, shape.count[0]});
    });
    return this->start(kind, target, key, remote, std::move(pieces), acc, completion);
  }

  Status segments(FakeCallKind kind, int target, const Key& key, const Segments& list, const node::AccSpec* acc,
                  Completion* completion) {
    Whole whole{kind, target, completion != nullptr};
    whole.src_list.assign(list.src, list.src + list.count);
    whole.dst_list.assign(list.dst, list.dst + list.count);
    whole.bytes = list.bytes;
    if (acc != nullptr) whole.acc = *acc;
    wholes_.push_back(whole);
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < list.count; ++i) pieces.push_back({list.dst[i], list.src[i], list.bytes});
    const void* const remote = kind == FakeCallKind::kGetList ? list.src[0] : list.dst[0];
    return this->start(kind, target, key, remote, std::move(pieces), acc, completion);
  }

  std::vector<Whole> wholes_;
};
static_assert(Transport<ShapesTransport<>> && MovesShapes<ShapesTransport<>> && Accumulates<ShapesTransport<>>);
static_assert(!TransfersAtOnce<ShapesTransport<>>);

// One that has found something, and chosen.
class FindingTransport : public ReorderingTransport {
 public:
  std::span<const Choice> choices() const { return kChoices; }
  static constexpr Choice kChoices[] = {{"device", "fake0"}};
  std::span<const Finding> findings() const { return kFindings; }
  static constexpr Finding kFindings[] = {{"late", "Puts come late.", "They are waited for."},
                                          {"odd", "Gets are odd.", "They are made even."}};
};
static_assert(Transport<FindingTransport> && HasFindings<FindingTransport> && !HasFindings<ReorderingTransport>);
static_assert(HasChoices<FindingTransport> && !HasChoices<ReorderingTransport>);

}  // namespace armci::runtime::testing
