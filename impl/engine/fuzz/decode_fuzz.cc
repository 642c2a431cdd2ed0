// A target of libFuzzer: a request that decode() accepts keeps every promise of request.h, for any bytes.
//
// The magic is written into each input, so that all of them get past the first check. An accepted request is walked as
// a server would: each place is compared with the pretended memory of seeds.h, each byte of its data is read (the
// address sanitizer sees one that did not come), and sums are taken in 128 bits. A promise that is broken ends the
// program.
//
//   decode_fuzz --write-seeds=FOLDER    writes what to start from
//   decode_fuzz FOLDER...               options and the rest: libFuzzer's
//
// Its last line counts the requests that were accepted, of each kind.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <span>
#include <string_view>

#include "impl/engine/fuzz/seeds.h"
#include "impl/engine/request.h"

namespace armci::engine::fuzz {

namespace {

// Wide enough that no sum or product wraps around.
__extension__ using Wide = unsigned __int128;

// More than a message of fuzzing can name, and more than a reply within the bounds has.
constexpr std::size_t kSegmentsMax = std::size_t{1} << 20;

std::array<std::uint64_t, 256> accepted{};  // by kind
std::uint64_t inputs = 0;

void promise(bool kept, const char* what) {
  if (kept) [[likely]]
    return;
  std::fprintf(stderr, "decode_fuzz: decode() accepted a request and does not keep this: %s\n", what);
  std::abort();
}

void check_atomic(const RequestHeader& header) {
  promise(header.bytes == 4 || header.bytes == 8, "an atomic is of a word");
  promise(is_inside(header.address, header.bytes), "the word of an atomic lies in memory");
  promise(header.address % header.bytes == 0, "the word of an atomic is aligned");
  promise(header.type <= static_cast<std::uint8_t>(node::kLastRmwOp), "the operation of an atomic exists");
}

void check_signal(const RequestHeader& header) {
  promise(is_inside(header.operand[0], 8) && header.operand[0] % 8 == 0, "the word of a signal is aligned in memory");
  promise(header.first == 0 || (is_inside(header.first, 8) && header.first % 8 == 0),
          "the wake-up of a signal is aligned in memory");
  promise(header.type <= static_cast<std::uint8_t>(node::kLastSignalOp), "the operation of a signal exists");
  promise(header.tag == 0, "a signal comes with its data");
  promise(header.form == Form::kContiguous, "the data of a signal have no gaps");
}

// Calls visit(address, bytes) for every segment, as the server does. To change when segments are described in other
// ways.
template <class Visit>
void for_places(const Request& request, Visit visit) {
  const RequestHeader& header = request.header;
  switch (header.form) {
    case Form::kContiguous:
      visit(header.address, header.bytes);
      break;
    case Form::kStrided:
      for_segment_range(request.shape, header.first, request.segments(), [&](std::ptrdiff_t, std::ptrdiff_t to) {
        visit(header.address + static_cast<std::uint64_t>(to), header.bytes);
      });
      break;
    case Form::kList:
      for (std::size_t i = 0; i < request.segments(); ++i) visit(request.addresses[i], header.bytes);
      break;
  }
}

void check_shape(const Request& request) {
  promise(request.shape.levels > 0 && request.shape.levels <= runtime::kMaxStrideLevels, "a shape has levels");
  Wide segments = 1;
  for (int l = 0; l < request.shape.levels; ++l) {
    segments *= request.shape.count[l + 1];
    promise(segments > 0 && segments <= ~std::uint64_t{0}, "the segments of a shape can be counted");
  }
  promise(Wide{request.header.first} + request.segments() <= segments, "the requested segments are in the shape");
}

// Walks all segments; returns the sum of their lengths.
Wide check_iov(const Request& request) {
  const RequestHeader& header = request.header;
  const bool accumulate = header.kind == RequestKind::kAccumulate;
  if (accumulate) promise(header.type < node::kAccTypes, "the type of an accumulate exists");
  const auto type = accumulate ? static_cast<node::AccType>(header.type) : node::AccType::kInt;
  promise(request.segments() <= kSegmentsMax, "there are no more segments than data or a reply");
  if (header.form == Form::kStrided) check_shape(request);
  std::size_t walked = 0;
  Wide total = 0;
  for_places(request, [&](std::uint64_t address, std::uint64_t bytes) {
    ++walked;
    if (header.kind == RequestKind::kSignal && bytes == 0) return;
    promise(bytes > 0 && bytes <= kSegmentBytesMax, "a segment has a length that MPI can count");
    promise(is_inside(address, bytes), "every segment lies in memory");
    if (accumulate) {
      promise(address % node::component_bytes(type) == 0, "what is added to is aligned");
      promise(bytes % node::element_bytes(type) == 0, "elements are added whole");
    }
    total += bytes;
  });
  promise(walked == request.segments(), "the walk has as many segments as the request says");
  promise(total == request.total_bytes(), "the lengths add up to total_bytes()");
  return total;
}

void check_data(const Request& request, std::span<const char> message, Wide total) {
  if (request.data_follow()) {
    promise(request.data.empty(), "a store whose data follow comes without");
    promise(total <= kBounds.follows, "data that follow fit into a chunk");
  } else {
    promise(request.data.size() == total, "a store comes with its data");
  }
  promise(request.data.data() >= message.data() + sizeof(RequestHeader) &&
              request.data.data() + request.data.size() <= message.data() + message.size(),
          "the data are in the message");
  volatile char seen = 0;
  for (const char byte : request.data) seen = byte;
  static_cast<void>(seen);
}

void check(const Request& request, std::span<const char> message);

// As far as its entries are accepted.
void check_batch(const Request& batch, std::span<const char> message) {
  promise(batch.header.bytes <= kBounds.reply, "the reply to a batch fits");
  promise(batch.data.data() + batch.data.size() == message.data() + message.size(), "the entries end the message");
  std::span<const char> rest = batch.data;
  std::size_t left = batch.header.bytes;
  for (std::uint64_t i = 0; i < batch.header.count; ++i) {
    Request entry;
    if (!next_entry(batch.header, is_inside, left, &rest, &entry).ok()) return;
    promise(entry.is_store() || entry.header.reply_bytes() > 0, "an entry is a store, a get or an atomic");
    promise(!entry.data_follow() && !entry.data_alone(), "an entry comes with its data, and its reply with a header");
    check(entry, message);
    if (entry.is_store()) continue;
    promise(entry.total_bytes() <= left, "the gets and atomics of a batch fit into its reply");
    left -= entry.total_bytes();
  }
}

void check(const Request& request, std::span<const char> message) {
  const RequestHeader& header = request.header;
  if (header.kind == RequestKind::kGetCount || header.kind == RequestKind::kDisconnect) return;
  if (header.kind == RequestKind::kAtomic) return check_atomic(header);
  if (header.kind == RequestKind::kBatch) return check_batch(request, message);
  if (header.kind == RequestKind::kSignal) check_signal(header);
  const Wide total = check_iov(request);
  if (request.is_store()) check_data(request, message, total);
  if (header.kind != RequestKind::kGet) return;
  promise(header.type <= kDataAlone, "the reply to a get has a header or none");
  if (!request.is_in_place()) promise(total <= kBounds.reply, "a copied reply fits");
}

void print_accepted() {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : accepted) sum += count;
  std::fprintf(stderr, "decode_fuzz: accepted %llu of %llu", static_cast<unsigned long long>(sum),
               static_cast<unsigned long long>(inputs));
  for (std::size_t kind = 0; kind < accepted.size(); ++kind) {
    if (accepted[kind] != 0) {
      std::fprintf(stderr, ", kind %zu: %llu", kind, static_cast<unsigned long long>(accepted[kind]));
    }
  }
  std::fputc('\n', stderr);
}

bool write_seeds(const char* folder) {
  bool written = true;
  for (const Seed& seed : seeds()) {
    std::ofstream file(std::string(folder) + "/" + seed.name, std::ios::binary);
    file << seed.message;
    file.close();
    written = written && file.good();
  }
  return written;
}

}  // namespace

}  // namespace armci::engine::fuzz

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  constexpr std::string_view kOption = "--write-seeds=";
  for (int i = 1; i < *count; ++i) {
    const char* argument = (*arguments)[i];
    if (std::string_view(argument).starts_with(kOption)) {
      std::exit(armci::engine::fuzz::write_seeds(argument + kOption.size()) ? 0 : 1);
    }
  }
  std::atexit(armci::engine::fuzz::print_accepted);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t length) {
  using namespace armci::engine;
  // Of its exact length, and aligned as the buffers of a server are.
  const std::unique_ptr<char[]> copy(new char[length]);
  std::copy_n(bytes, length, copy.get());
  std::memcpy(copy.get(), &kMagic, std::min(length, sizeof kMagic));
  const std::span<const char> message(copy.get(), length);
  ++fuzz::inputs;
  Request request;
  if (!decode(message, fuzz::is_inside, fuzz::kBounds, &request).ok()) return 0;
  ++fuzz::accepted[static_cast<std::uint8_t>(request.header.kind)];
  fuzz::check(request, message);
  return 0;
}
