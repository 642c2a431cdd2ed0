// The messages between a process and the server of a node, besides those of impl/server/wire.h.
//
//   process                               server
//     |--request (wire.h)----------------->| executed
//     |<---------------------------answer--|
//     |--order to make memory reachable--->| registered, or not any more (own node's only)
//     |<---------------------------answer--|
//
// Each request and order has one answer. An answer of tag 0 is that of a store.
#pragma once

#include <cstdint>

namespace armci::verbs {

inline constexpr std::uint32_t kOrderMagic = 0x01564d41;  // "AMV", version 1

struct Order {
  std::uint32_t magic = kOrderMagic;
  std::uint32_t tag = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  // 0: end the registration with the key
  std::uint32_t key = 0;
  std::uint32_t zero = 0;
};
static_assert(sizeof(Order) == 32);

struct Answer {
  std::uint32_t tag = 0;
  std::int32_t error = 0;   // of an order, as errno has it
  std::uint64_t value = 0;  // of an atomic: the one before; of an order: the key
};
static_assert(sizeof(Answer) == 16);

}  // namespace armci::verbs
