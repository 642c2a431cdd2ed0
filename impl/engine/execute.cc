#include "impl/engine/execute.h"

#include <atomic>
#include <cstring>

#include "impl/node/accumulate.h"
#include "impl/node/copy.h"
#include "impl/node/node_accumulate.h"
#include "impl/node/node_atomics.h"
#include "impl/node/node_memory.h"
#include "impl/node/signal.h"

namespace armci::engine {

namespace {

template <class Word>
std::uint64_t rmw(const RequestHeader& header) {
  const auto before = node::rmw<Word>(static_cast<node::RmwOp>(header.type), pointer(header.address),
                                      static_cast<Word>(header.operand[0]), static_cast<Word>(header.operand[1]));
  return static_cast<std::uint64_t>(before);
}

node::Signal signal_of(const RequestHeader& header) {
  return {reinterpret_cast<std::uint64_t*>(pointer(header.operand[0])), header.operand[1],
          static_cast<node::SignalOp>(header.type), reinterpret_cast<node::WakeUp*>(pointer(header.first))};
}

// Rows that are `bytes` long on both sides.
void copy_run(char* to, std::ptrdiff_t to_stride, const char* from, std::ptrdiff_t from_stride, std::size_t rows,
              std::size_t bytes) {
  if (rows == 1) return node::copy(to, from, bytes);
  node::copy_rows(to, to_stride, from, from_stride, rows, bytes);
}

// Fetches the word of a later entry (node::kFetchedAhead), if atomics follow each other. An address that is not valid
// is not fetched.
void prefetch_atomic(std::span<const char> rest) {
  constexpr std::size_t kEntryBytes = sizeof(EntryHeader) + sizeof(RequestHeader::operand);
  if (rest.size() < node::kFetchedAhead * kEntryBytes) return;
  EntryHeader later;
  std::memcpy(&later, rest.data() + (node::kFetchedAhead - 1) * kEntryBytes, sizeof later);
  if (later.kind == RequestKind::kAtomic) __builtin_prefetch(pointer(later.address), 1);
}

}  // namespace

void store(const Request& request, const char* data) {
  const std::size_t bytes = request.header.bytes;
  std::atomic_thread_fence(std::memory_order_release);
  if (request.header.kind != RequestKind::kAccumulate) {
    for_runs(request, [&](char* to, std::ptrdiff_t stride, std::size_t segments) {
      copy_run(to, stride, data, static_cast<std::ptrdiff_t>(bytes), segments, bytes);
      data += segments * bytes;
    });
  } else {
    const node::Accumulator accumulator(node::node_memory().accumulate_locks(),
                                        static_cast<node::AccType>(request.header.type), request.header.operand);
    if (request.header.form == Form::kList) {
      accumulator.add_list(
          request.header.count, bytes, [&](std::size_t i) { return pointer(request.addresses[i]); },
          [&](std::size_t i) { return data + i * bytes; });
    } else {
      for_places(request, [&](char* to) {
        accumulator.add(to, data, bytes);
        data += bytes;
      });
    }
  }
  std::atomic_thread_fence(std::memory_order_release);
  if (request.header.kind == RequestKind::kSignal) node::apply(signal_of(request.header));
}

char* collect(const Request& request, char* to) {
  std::atomic_thread_fence(std::memory_order_acquire);
  const std::size_t bytes = request.header.bytes;
  for_runs(request, [&](const char* from, std::ptrdiff_t stride, std::size_t segments) {
    copy_run(to, static_cast<std::ptrdiff_t>(bytes), from, stride, segments, bytes);
    to += segments * bytes;
  });
  return to;
}

Status execute_batch(const Request& batch, const IsInside& inside, char* to) {
  std::span<const char> rest = batch.data;
  const char* const end = to + batch.header.bytes;
  for (std::size_t i = 0; i < batch.header.count; ++i) {
    Request entry;
    ARMCI_RETURN_IF_ERROR(next_entry(batch.header, inside, static_cast<std::size_t>(end - to), &rest, &entry));
    if (entry.is_store()) {
      store(entry, entry.data.data());
    } else if (entry.header.kind == RequestKind::kAtomic) {
      prefetch_atomic(rest);
      const std::uint64_t before = execute_atomic(entry.header);
      std::memcpy(to, &before, entry.header.bytes);
      to += entry.header.bytes;
    } else {
      to = collect(entry, to);
    }
  }
  return end_of_batch(batch.header, rest);
}

std::uint64_t execute_atomic(const RequestHeader& header) {
  return header.bytes == sizeof(std::int32_t) ? rmw<std::int32_t>(header) : rmw<std::int64_t>(header);
}

}  // namespace armci::engine
