#include "impl/engine/fuzz/seeds.h"

#include <cstring>
#include <limits>
#include <memory>
#include <string_view>

#include "impl/engine/batch.h"
#include "impl/engine/request.h"

namespace armci::engine::fuzz {

namespace {

template <class Value>
std::string bytes_of(const Value& value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

RequestHeader header_of(RequestKind kind, std::uint8_t type) {
  RequestHeader header;
  header.kind = kind;
  header.type = type;
  const bool store = kind == RequestKind::kPut || kind == RequestKind::kAccumulate || kind == RequestKind::kSignal;
  header.tag = store ? 0 : kFirstTag;
  header.address = kMemory + 4096;
  header.bytes = 32;
  return header;
}

// The same transfer in the three forms, with `bytes_each` bytes of data for a segment.
void append_forms(const std::string& name, RequestHeader header, std::size_t bytes_each, std::vector<Seed>* seeds) {
  header.form = Form::kContiguous;
  seeds->push_back({name + "-contiguous", bytes_of(header) + std::string(bytes_each, 'c')});
  header.form = Form::kStrided;
  header.levels = 2;
  header.first = 1;
  header.count = 4;
  seeds->push_back({name + "-strided", bytes_of(header) + bytes_of(WireLevel{2, -64}) + bytes_of(WireLevel{3, 256}) +
                                           std::string(4 * bytes_each, 's')});
  header.form = Form::kList;
  header.levels = 0;
  header.count = 3;
  std::string iov;
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{64}, kMemoryBytes - header.bytes}) {
    iov += bytes_of(kMemory + offset);
  }
  seeds->push_back({name + "-list", bytes_of(header) + iov + std::string(3 * bytes_each, 'l')});
}

// Alone, and behind its data.
void append_signals(std::vector<Seed>* seeds) {
  RequestHeader header = header_of(RequestKind::kSignal, static_cast<std::uint8_t>(node::SignalOp::kAdd));
  header.operand[0] = kMemory + 64;
  header.operand[1] = 1;
  header.first = kMemory + kMemoryBytes - 8;
  seeds->push_back({"signal-put", bytes_of(header) + std::string(header.bytes, 'c')});
  header.bytes = 0;
  header.first = 0;
  seeds->push_back({"signal", bytes_of(header)});
}

// The other seeds as entries of batches, as far as they can be: each alone, and all of them together.
void append_batches(std::vector<Seed>* seeds) {
  constexpr std::size_t kBytes = 16384;
  Batch<std::unique_ptr<char[]>> all;
  all.message = std::make_unique<char[]>(kBytes);
  const auto complete = [&](const std::string& name, Batch<std::unique_ptr<char[]>>* batch) {
    RequestHeader header;
    header.tag = batch->reply_bytes() > 0 ? kFirstTag : 0;
    const std::size_t length = batch->complete(header);
    seeds->push_back({name, std::string(batch->message.get(), length)});
  };
  const std::vector<Seed> alone = *seeds;
  for (const Seed& seed : alone) {
    RequestHeader header;
    std::memcpy(&header, seed.message.data(), sizeof header);
    const bool is_get =
        header.kind == RequestKind::kGet && header.type == 0 && seed.name.find("deep") == seed.name.npos;
    const bool is_short = header.kind == RequestKind::kAtomic || (header.is_store() && header.tag == 0);
    if (!is_get && !is_short) continue;
    const std::string_view body = std::string_view(seed.message).substr(sizeof header);
    const auto write = [&](char* at) { body.copy(at, body.size()); };
    Batch<std::unique_ptr<char[]>> batch;
    batch.message = std::make_unique<char[]>(kBytes);
    batch.add(header, body.size(), write);
    if (batch.reply_bytes() <= kBounds.reply) complete("batch-" + seed.name, &batch);
    const bool fits =
        all.fits(header, body.size(), kBytes) && all.reply_bytes() + header.reply_bytes() <= kBounds.reply;
    if (fits) all.add(header, body.size(), write);
  }
  complete("batch", &all);
}

// Stores whose data come by themselves.
void append_forms_that_follow(std::vector<Seed>* seeds) {
  RequestHeader header = header_of(RequestKind::kPut, 0);
  header.tag = kFirstTag;
  append_forms("long", header, 0, seeds);
}

// Shapes next to the limits of what is accepted, which single changes of bytes take a long way to.
void append_odd_shapes(std::vector<Seed>* seeds) {
  RequestHeader header = header_of(RequestKind::kGet, 0);
  header.form = Form::kStrided;
  header.levels = 2;
  header.count = 2;
  constexpr std::int64_t kLongest = std::numeric_limits<std::int64_t>::max();
  seeds->push_back({"get-once", bytes_of(header) + bytes_of(WireLevel{1, kLongest}) + bytes_of(WireLevel{2, 64})});
  constexpr std::uint64_t kMany = (std::uint64_t{1} << 31) + 1;
  seeds->push_back(
      {"get-many", bytes_of(header) + bytes_of(WireLevel{2 * kMany - 1, 0}) + bytes_of(WireLevel{kMany, 0})});
  header.levels = runtime::kMaxStrideLevels;
  std::string levels;
  for (int l = 0; l < 2 * runtime::kMaxStrideLevels; ++l) levels += bytes_of(WireLevel{2, 64});
  seeds->push_back({"get-deep", bytes_of(header) + levels});
}

}  // namespace

std::vector<Seed> seeds() {
  std::vector<Seed> made;
  append_forms("put", header_of(RequestKind::kPut, 0), 32, &made);
  append_forms("get", header_of(RequestKind::kGet, 0), 0, &made);
  append_forms("get-alone", header_of(RequestKind::kGet, kDataAlone), 0, &made);
  for (std::uint8_t type = 0; type < node::kAccTypes; ++type) {
    // Three elements: too few or too many bytes for whole ones of another type.
    RequestHeader header = header_of(RequestKind::kAccumulate, type);
    header.bytes = 3 * node::element_bytes(static_cast<node::AccType>(type));
    append_forms("accumulate" + std::to_string(type), header, header.bytes, &made);
  }
  append_odd_shapes(&made);
  for (const std::uint64_t bytes : {4, 8}) {
    RequestHeader header = header_of(RequestKind::kAtomic, static_cast<std::uint8_t>(node::RmwOp::kSwap));
    header.bytes = bytes;
    made.push_back({"atomic" + std::to_string(bytes), bytes_of(header)});
  }
  append_signals(&made);
  append_forms_that_follow(&made);
  append_batches(&made);
  made.push_back({"disconnect", bytes_of(header_of(RequestKind::kDisconnect, 0))});
  return made;
}

}  // namespace armci::engine::fuzz
