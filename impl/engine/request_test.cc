#include "impl/engine/request.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "impl/engine/batch.h"

namespace armci::engine {
namespace {

constexpr std::uintptr_t kMemory = 0x100000;
constexpr std::size_t kMemoryBytes = 65536;
constexpr std::size_t kBytesMax = 8192;
constexpr Bounds kBounds{kBytesMax, kBytesMax / 2};

bool inside(std::uintptr_t address, std::size_t bytes) {
  return address >= kMemory && bytes <= kMemoryBytes && address - kMemory <= kMemoryBytes - bytes;
}

// A message, in memory that is aligned as a server's buffers are.
class Message {
 public:
  explicit Message(const RequestHeader& header) { append(&header, sizeof header); }

  Message& level(std::uint64_t count, std::int64_t stride) {
    const WireLevel level{count, stride};
    return append(&level, sizeof level);
  }
  Message& address(std::uint64_t address) { return append(&address, sizeof address); }
  Message& data(std::size_t bytes) { return append(std::vector<char>(bytes, 1).data(), bytes); }

  std::span<const char> bytes() const { return {reinterpret_cast<const char*>(words_.data()), length_}; }
  std::span<char> bytes() { return {reinterpret_cast<char*>(words_.data()), length_}; }
  Message& append(const void* from, std::size_t bytes) {
    std::memcpy(reinterpret_cast<char*>(words_.data()) + length_, from, bytes);
    length_ += bytes;
    return *this;
  }

 private:
  std::array<std::uint64_t, 4096> words_{};
  std::size_t length_ = 0;
};

RequestHeader header_of(RequestKind kind, Form form, std::uint64_t address, std::uint64_t bytes) {
  RequestHeader header;
  header.kind = kind;
  header.form = form;
  header.address = address;
  header.bytes = bytes;
  return header;
}

Message contiguous_put() {
  return Message(header_of(RequestKind::kPut, Form::kContiguous, kMemory + 5, 100)).data(100);
}

// Rows 1 to 3 of 2 x 2, the first column backwards.
Message strided_put() {
  RequestHeader header = header_of(RequestKind::kPut, Form::kStrided, kMemory + 1000, 24);
  header.levels = 2;
  header.first = 1;
  header.count = 3;
  return Message(header).level(2, -48).level(2, 200).data(3 * 24);
}

Message list_accumulate() {
  RequestHeader header = header_of(RequestKind::kAccumulate, Form::kList, 0, 32);
  header.type = static_cast<std::uint8_t>(node::AccType::kDouble);
  header.count = 2;
  return Message(header).address(kMemory + 8).address(kMemory + kMemoryBytes - 32).data(64);
}

Message strided_get() {
  RequestHeader header = header_of(RequestKind::kGet, Form::kStrided, kMemory, 8);
  header.tag = kLastTag;
  header.levels = 1;
  header.count = 10;
  return Message(header).level(10, 16);
}

RequestHeader accumulate_of(std::size_t bytes) {
  RequestHeader header = header_of(RequestKind::kAccumulate, Form::kContiguous, kMemory + 8, bytes);
  header.type = static_cast<std::uint8_t>(node::AccType::kDouble);
  return header;
}

RequestHeader signal_header_of(std::uint64_t bytes) {
  RequestHeader header = header_of(RequestKind::kSignal, Form::kContiguous, kMemory, bytes);
  header.type = static_cast<std::uint8_t>(node::SignalOp::kAdd);
  header.first = kMemory + 40;
  header.operand[0] = kMemory + kMemoryBytes - 8;
  return header;
}

RequestHeader atomic_header_of(std::uint64_t bytes) {
  RequestHeader header = header_of(RequestKind::kAtomic, Form::kContiguous, kMemory + 16, bytes);
  header.type = static_cast<std::uint8_t>(node::RmwOp::kSwap);
  return header;
}

// A put of 5 bytes, an accumulate of 16, a strided get of 20, a list of puts, a signal behind 3 bytes, and an atomic of
// 4 bytes.
Message batch_of(std::initializer_list<int> entries) {
  Batch<std::unique_ptr<char[]>> batch;
  batch.message = std::make_unique<char[]>(4096);
  const auto add = [&](const RequestHeader& header, const std::vector<std::uint64_t>& iov, std::size_t data) {
    batch.add(header, iov.size() * 8 + data, [&](char* at) {
      if (!iov.empty()) std::memcpy(at, iov.data(), iov.size() * 8);
      std::memset(at + iov.size() * 8, 1, data);
    });
  };
  for (const int entry : entries) {
    RequestHeader get = header_of(RequestKind::kGet, Form::kStrided, kMemory + 100, 10);
    get.levels = 1;
    get.first = 1;
    get.count = 2;
    RequestHeader list = header_of(RequestKind::kPut, Form::kList, 0, 3);
    list.count = 2;
    if (entry == 0) add(header_of(RequestKind::kPut, Form::kContiguous, kMemory + 3, 5), {}, 5);
    if (entry == 1) add(accumulate_of(16), {}, 16);
    if (entry == 2) add(get, {3, 64}, 0);
    if (entry == 3) add(list, {kMemory, kMemory + 50}, 6);
    if (entry == 4) add(signal_header_of(3), {}, 3);
    if (entry == 5) add(atomic_header_of(4), {}, 0);
  }
  RequestHeader header;
  header.tag = batch.reply_bytes() > 0 ? kFirstTag : 0;
  const std::size_t length = batch.complete(header);
  RequestHeader complete;
  std::memcpy(&complete, batch.message.get(), sizeof complete);
  Message message(complete);
  return message.append(batch.message.get() + sizeof complete, length - sizeof complete);
}

Message batch() { return batch_of({0, 1, 2, 3, 4, 5}); }

// Its data are to come.
Message long_put() {
  RequestHeader header = header_of(RequestKind::kPut, Form::kContiguous, kMemory, kBounds.follows);
  header.tag = kFirstTag;
  return Message(header);
}

Message atomic() {
  RequestHeader header = atomic_header_of(8);
  header.tag = kFirstTag;
  return Message(header);
}

Message signal() { return Message(signal_header_of(0)); }
Message put_with_signal() { return Message(signal_header_of(24)).data(24); }

std::vector<Message> valid_messages() {
  return {contiguous_put(),
          strided_put(),
          list_accumulate(),
          strided_get(),
          atomic(),
          batch(),
          long_put(),
          signal(),
          put_with_signal(),
          batch_of({0}),
          Message(header_of(RequestKind::kGetCount, Form::kContiguous, 0, 0)),
          Message(header_of(RequestKind::kDisconnect, Form::kContiguous, 0, 0))};
}

// As a server takes it: a batch with all of its entries.
bool accepted(std::span<const char> message, std::vector<Request>* entries = nullptr) {
  Request request;
  if (!decode(message, inside, kBounds, &request).ok()) return false;
  if (request.header.kind != RequestKind::kBatch) return true;
  std::span<const char> rest = request.data;
  std::size_t left = request.header.bytes;
  for (std::uint64_t i = 0; i < request.header.count; ++i) {
    Request entry;
    if (!next_entry(request.header, inside, left, &rest, &entry).ok()) return false;
    if (entry.header.kind == RequestKind::kGet) left -= entry.total_bytes();
    if (entries != nullptr) entries->push_back(entry);
  }
  return end_of_batch(request.header, rest).ok();
}

bool accepted(const Message& message) { return accepted(message.bytes()); }

// A valid message with some fields of its header changed.
template <class Change>
bool accepted_with(Message message, Change change) {
  RequestHeader header;
  std::memcpy(&header, message.bytes().data(), sizeof header);
  change(header);
  std::memcpy(message.bytes().data(), &header, sizeof header);
  return accepted(message);
}

TEST(Decode, AcceptsWhatIsRight) {
  for (const Message& message : valid_messages()) EXPECT_TRUE(accepted(message));
}

TEST(Decode, FindsPlacesAndData) {
  const Message message = strided_put();
  Request request;
  ASSERT_TRUE(decode(message.bytes(), inside, kBounds, &request).ok());
  EXPECT_EQ(request.data.size(), 72u);
  EXPECT_EQ(request.data.data(), message.bytes().data() + sizeof(RequestHeader) + 2 * sizeof(WireLevel));
  std::vector<std::ptrdiff_t> offsets;
  for_segment_range(request.shape, request.header.first, request.header.count,
                    [&](std::ptrdiff_t, std::ptrdiff_t to) { offsets.push_back(to); });
  EXPECT_EQ(offsets, (std::vector<std::ptrdiff_t>{-48, 200, 152}));
}

TEST(Decode, RefusesEveryOtherLength) {
  for (const Message& message :
       {contiguous_put(), strided_put(), list_accumulate(), batch(), signal(), put_with_signal()}) {
    for (std::size_t length = 0; length < message.bytes().size(); ++length) {
      EXPECT_FALSE(accepted(message.bytes().first(length))) << length;
    }
    EXPECT_FALSE(accepted(Message(message).data(1)));
  }
}

TEST(Decode, RefusesWrongFields) {
  EXPECT_FALSE(accepted_with(contiguous_put(), [](RequestHeader& h) { h.magic += 1 << 24; }));
  EXPECT_FALSE(accepted_with(contiguous_put(), [](RequestHeader& h) { h.kind = static_cast<RequestKind>(0); }));
  EXPECT_FALSE(accepted_with(contiguous_put(), [](RequestHeader& h) { h.kind = static_cast<RequestKind>(99); }));
  EXPECT_FALSE(accepted_with(contiguous_put(), [](RequestHeader& h) { h.form = static_cast<Form>(3); }));
  EXPECT_FALSE(accepted_with(contiguous_put(), [](RequestHeader& h) { h.bytes = 0; }));
  EXPECT_FALSE(accepted_with(contiguous_put(), [](RequestHeader& h) { h.bytes = 99; }));
  EXPECT_FALSE(accepted_with(contiguous_put(), [](RequestHeader& h) { h.address = kMemory - 1; }));
  EXPECT_FALSE(accepted_with(contiguous_put(), [](RequestHeader& h) { h.address = kMemory + kMemoryBytes - 99; }));
  EXPECT_FALSE(accepted_with(contiguous_put(), [](RequestHeader& h) { h.address = ~std::uint64_t{0}; }));
  EXPECT_FALSE(accepted_with(strided_put(), [](RequestHeader& h) { h.levels = 0; }));
  EXPECT_FALSE(accepted_with(strided_put(), [](RequestHeader& h) { h.levels = 200; }));
  EXPECT_FALSE(accepted_with(strided_put(), [](RequestHeader& h) { h.first = 2; }));
  EXPECT_FALSE(accepted_with(strided_put(), [](RequestHeader& h) { h.first = ~std::uint64_t{0}; }));
  EXPECT_FALSE(accepted_with(strided_put(), [](RequestHeader& h) { h.address = kMemory + 47; }));
  EXPECT_FALSE(accepted_with(list_accumulate(), [](RequestHeader& h) { h.type = 6; }));
  EXPECT_FALSE(accepted_with(list_accumulate(), [](RequestHeader& h) { h.count = std::uint64_t{1} << 61; }));
  EXPECT_FALSE(accepted_with(list_accumulate(), [](RequestHeader& h) { h.bytes = 28; }));
  EXPECT_FALSE(accepted_with(batch(), [](RequestHeader& h) { h.count = 5; }));
  EXPECT_FALSE(accepted_with(batch(), [](RequestHeader& h) { h.count = 7; }));
  EXPECT_FALSE(accepted_with(batch(), [](RequestHeader& h) { h.bytes = 23; }));
  EXPECT_FALSE(accepted_with(batch(), [](RequestHeader& h) { h.bytes = kBounds.reply + 1; }));
  EXPECT_FALSE(accepted_with(batch(), [](RequestHeader& h) { h.tag = 0; }));
  EXPECT_FALSE(accepted_with(batch_of({0}), [](RequestHeader& h) { h.tag = kFirstTag; }));
  EXPECT_FALSE(accepted_with(batch(), [](RequestHeader& h) { h.form = Form::kList; }));
  EXPECT_FALSE(accepted_with(batch(), [](RequestHeader& h) { h.kind = RequestKind::kGet; }));
  EXPECT_FALSE(accepted_with(long_put(), [](RequestHeader& h) { h.tag = 0; }));
  EXPECT_FALSE(accepted_with(long_put(), [](RequestHeader& h) { h.tag = kLastTag + 1; }));
  EXPECT_FALSE(accepted_with(long_put(), [](RequestHeader& h) { h.bytes = kBounds.follows + 1; }));
  EXPECT_FALSE(accepted_with(strided_get(), [](RequestHeader& h) { h.tag = kFirstTag - 1; }));
  EXPECT_TRUE(accepted_with(strided_get(), [](RequestHeader& h) { h.type = kDataAlone; }));
  EXPECT_FALSE(accepted_with(strided_get(), [](RequestHeader& h) { h.type = kDataAlone + 1; }));
  EXPECT_FALSE(accepted_with(atomic(), [](RequestHeader& h) { h.tag = 0; }));
  EXPECT_FALSE(accepted_with(atomic(), [](RequestHeader& h) { h.bytes = 2; }));
  EXPECT_FALSE(
      accepted_with(atomic(), [](RequestHeader& h) { h.type = static_cast<std::uint8_t>(node::kLastRmwOp) + 1; }));
  EXPECT_FALSE(accepted_with(atomic(), [](RequestHeader& h) { h.address += 4; }));
}

TEST(Decode, RefusesWrongFieldsOfASignal) {
  for (const Message& message : {signal(), put_with_signal()}) {
    EXPECT_TRUE(accepted_with(message, [](RequestHeader& h) { h.first = 0; })) << "no wake-up";
    EXPECT_FALSE(accepted_with(message, [](RequestHeader& h) { h.first += 4; }));
    EXPECT_FALSE(accepted_with(message, [](RequestHeader& h) { h.first = kMemory + kMemoryBytes; }));
    EXPECT_FALSE(accepted_with(message, [](RequestHeader& h) { h.operand[0] = 0; }));
    EXPECT_FALSE(accepted_with(message, [](RequestHeader& h) { h.operand[0] = h.first = 0; }));
    EXPECT_FALSE(accepted_with(message, [](RequestHeader& h) { h.operand[0] += 8; }));
    EXPECT_FALSE(accepted_with(message, [](RequestHeader& h) { h.operand[0] -= 4; }));
    EXPECT_FALSE(accepted_with(message, [](RequestHeader& h) { h.type = 3; }));
    EXPECT_FALSE(accepted_with(message, [](RequestHeader& h) { h.tag = kFirstTag; }));
  }
  EXPECT_FALSE(accepted_with(signal(), [](RequestHeader& h) { h.form = Form::kList; }));
  EXPECT_FALSE(accepted_with(put_with_signal(), [](RequestHeader& h) { h.address = kMemory - 1; }));
}

TEST(Decode, OnlyStoresAndBatchesHaveTheirCountOnDemand) {
  const auto with_levels = [](RequestHeader header, std::uint8_t levels) {
    header.levels = levels;
    return Message(header);
  };
  RequestHeader batch;
  batch.kind = RequestKind::kBatch;
  EXPECT_TRUE(accepted(with_levels(batch, kCountOnDemand)));
  EXPECT_FALSE(accepted(with_levels(batch, kCountOnDemand + 1)));
  EXPECT_TRUE(accepted(with_levels(signal_header_of(8), kCountOnDemand).data(8)));
  EXPECT_FALSE(accepted(with_levels(signal_header_of(8), kCountOnDemand + 1).data(8)));
  const RequestHeader put = header_of(RequestKind::kPut, Form::kContiguous, kMemory, 8);
  EXPECT_TRUE(accepted(with_levels(put, 0).data(8)));
  EXPECT_TRUE(accepted(with_levels(put, kCountOnDemand).data(8)));
  EXPECT_FALSE(accepted(with_levels(put, kCountOnDemand + 1).data(8)));
  EXPECT_FALSE(accepted(with_levels(header_of(RequestKind::kGet, Form::kContiguous, kMemory, 8), kCountOnDemand)));
  EXPECT_FALSE(accepted(with_levels(header_of(RequestKind::kGetCount, Form::kContiguous, 0, 0), kCountOnDemand)));
}

TEST(Batch, HasItsEntriesInTheirOrder) {
  const Message message = batch();
  std::vector<Request> entries;
  ASSERT_TRUE(accepted(message.bytes(), &entries));
  ASSERT_EQ(entries.size(), 6u);
  EXPECT_EQ(entries[0].header.kind, RequestKind::kPut);
  EXPECT_EQ(entries[0].data.size(), 5u);
  EXPECT_EQ(entries[1].header.kind, RequestKind::kAccumulate);
  EXPECT_EQ(entries[1].data.size(), 16u);
  EXPECT_EQ(entries[2].total_bytes(), 20u);
  std::vector<std::ptrdiff_t> offsets;
  for_segment_range(entries[2].shape, entries[2].header.first, entries[2].header.count,
                    [&](std::ptrdiff_t, std::ptrdiff_t to) { offsets.push_back(to); });
  EXPECT_EQ(offsets, (std::vector<std::ptrdiff_t>{64, 128}));
  EXPECT_EQ(entries[3].addresses[1], kMemory + 50);
  EXPECT_EQ(entries[3].data.size(), 6u);
  EXPECT_EQ(entries[4].header.first, kMemory + 40) << "the wake-up";
  EXPECT_EQ(entries[4].header.operand[0], kMemory + kMemoryBytes - 8);
  EXPECT_EQ(entries[5].header.kind, RequestKind::kAtomic);
  EXPECT_EQ(entries[5].header.address, kMemory + 16);
  EXPECT_EQ(entries[5].header.bytes, 4u);
}

TEST(Batch, IsFullAtItsLimitAndThenBeginsAnew) {
  Batch<std::unique_ptr<char[]>> batch;
  EXPECT_TRUE(batch.empty());
  const RequestHeader put = header_of(RequestKind::kPut, Form::kContiguous, kMemory, 3);
  constexpr std::size_t kLimit = sizeof(RequestHeader) + 2 * sizeof(EntryHeader) + 8 + 16;
  batch.message = std::make_unique<char[]>(kLimit);
  const auto write = [](char* at) { std::memset(at, 1, 3); };
  ASSERT_TRUE(batch.fits(put, 3, kLimit));
  batch.add(put, 3, write);
  EXPECT_TRUE(batch.fits(put, 9, kLimit));
  EXPECT_FALSE(batch.fits(put, 17, kLimit));
  EXPECT_FALSE(batch.fits(accumulate_of(8), 8, kLimit)) << "the scale needs space too";
  batch.is_unchanged = true;
  batch.add(put, 9, write);
  EXPECT_FALSE(batch.is_unchanged);
  EXPECT_FALSE(batch.fits(put, 1, kLimit));
  EXPECT_EQ(batch.complete(RequestHeader()), kLimit);
  EXPECT_TRUE(batch.empty());
  batch.add(put, 3, write);
  EXPECT_EQ(batch.complete(RequestHeader()), sizeof(RequestHeader) + sizeof(EntryHeader) + 8);
}

// An entry of 24 bytes at `address`, which says it has `bytes`, in a batch whose reply has `reply` bytes.
Message entry_of(RequestKind kind, std::uint64_t address, std::uint32_t bytes, std::uint64_t reply = 0) {
  RequestHeader header;
  header.kind = RequestKind::kBatch;
  header.count = 1;
  header.bytes = reply;
  header.tag = reply > 0 ? kFirstTag : 0;
  const EntryHeader entry{address, bytes, kind, Form::kContiguous, 0, 0};
  return Message(header).append(&entry, sizeof entry).data(8);
}

TEST(Decode, RefusesWrongEntriesOfABatch) {
  EXPECT_TRUE(accepted(entry_of(RequestKind::kPut, kMemory, 8)));
  EXPECT_FALSE(accepted(entry_of(RequestKind::kPut, kMemory - 1, 8)));
  EXPECT_FALSE(accepted(entry_of(RequestKind::kPut, kMemory, 0)));
  EXPECT_FALSE(accepted(entry_of(RequestKind::kPut, kMemory, 9)));
  EXPECT_FALSE(accepted(entry_of(RequestKind::kPut, kMemory, ~std::uint32_t{0})));
  EXPECT_FALSE(accepted(entry_of(RequestKind::kGet, kMemory, 8))) << "no reply has been announced";
  EXPECT_FALSE(accepted(entry_of(RequestKind::kAtomic, kMemory, 8, 8))) << "an operand is missing";
  EXPECT_FALSE(accepted(entry_of(RequestKind::kBatch, kMemory, 8)));
  EXPECT_FALSE(accepted(entry_of(RequestKind::kDisconnect, kMemory, 8)));
}

TEST(Decode, RefusesWrongAtomicsOfABatch) {
  const auto atomic_with = [](auto change, std::uint64_t reply = 8) {
    EntryHeader entry{kMemory + 16, 8, RequestKind::kAtomic, Form::kContiguous, 0, 0};
    change(entry);
    RequestHeader header;
    header.kind = RequestKind::kBatch;
    header.count = 1;
    header.bytes = reply;
    header.tag = reply > 0 ? kFirstTag : 0;
    return Message(header).append(&entry, sizeof entry).data(16);
  };
  EXPECT_TRUE(accepted(atomic_with([](EntryHeader&) {})));
  EXPECT_TRUE(accepted(atomic_with([](EntryHeader& e) { e.type = static_cast<std::uint8_t>(node::kLastRmwOp); })));
  EXPECT_FALSE(accepted(atomic_with([](EntryHeader& e) { e.type = static_cast<std::uint8_t>(node::kLastRmwOp) + 1; })));
  EXPECT_FALSE(accepted(atomic_with([](EntryHeader& e) { e.bytes = 2; })));
  EXPECT_FALSE(accepted(atomic_with([](EntryHeader& e) { e.address += 4; })));
  EXPECT_FALSE(accepted(atomic_with([](EntryHeader& e) { e.address = kMemory + kMemoryBytes; })));
  EXPECT_FALSE(accepted(atomic_with([](EntryHeader& e) { e.form = Form::kList; })));
  EXPECT_FALSE(accepted(atomic_with([](EntryHeader& e) { e.levels = 1; })));
  EXPECT_FALSE(accepted(atomic_with([](EntryHeader&) {}, 0))) << "no reply has been announced";
  EXPECT_FALSE(accepted(atomic_with([](EntryHeader&) {}, 7)));
}

TEST(Decode, RefusesWrongPlaces) {
  RequestHeader header = header_of(RequestKind::kGet, Form::kStrided, kMemory, 8);
  header.tag = kFirstTag;
  header.levels = 2;
  header.count = 1;
  EXPECT_TRUE(accepted(Message(header).level(2, 16).level(2, 64)));
  EXPECT_FALSE(accepted(Message(header).level(0, 16).level(2, 64)));
  EXPECT_FALSE(accepted(Message(header).level(std::uint64_t{1} << 40, 16).level(std::uint64_t{1} << 40, 64)));
  EXPECT_FALSE(accepted(Message(header).level(2, INT64_MIN).level(2, 64)));
  EXPECT_FALSE(accepted(Message(header).level(2, kMemoryBytes).level(2, 64)));
  header = header_of(RequestKind::kAccumulate, Form::kList, 0, 8);
  header.type = static_cast<std::uint8_t>(node::AccType::kLong);
  header.count = 1;
  EXPECT_TRUE(accepted(Message(header).address(kMemory).data(8)));
  EXPECT_FALSE(accepted(Message(header).address(kMemory + 4).data(8))) << "not aligned";
  EXPECT_FALSE(accepted(Message(header).address(0).data(8)));
}

// Nothing of it is signed overflow, which the sanitizer of undefined behaviour sees.
TEST(Decode, StridesOfAnySizeAreHarmless) {
  RequestHeader header = header_of(RequestKind::kGet, Form::kStrided, kMemory, 8);
  header.tag = kFirstTag;
  header.levels = 2;
  header.count = 2;
  EXPECT_FALSE(accepted(Message(header).level(3, INT64_MIN / 2).level(2, INT64_MAX / 2)));
  const Message message = Message(header).level(1, INT64_MAX).level(2, 64);
  Request request;
  ASSERT_TRUE(decode(message.bytes(), inside, kBounds, &request).ok()) << "a level that repeats once";
  std::vector<std::ptrdiff_t> offsets;
  for_segment_range(request.shape, 0, 2, [&](std::ptrdiff_t, std::ptrdiff_t to) { offsets.push_back(to); });
  EXPECT_EQ(offsets, (std::vector<std::ptrdiff_t>{0, 64}));
}

TEST(Decode, RefusesAReplyThatIsTooLong) {
  RequestHeader header = header_of(RequestKind::kGet, Form::kStrided, kMemory, 1024);
  header.tag = kFirstTag;
  header.levels = 1;
  header.count = kBytesMax / 1024;
  EXPECT_TRUE(accepted(Message(header).level(100, 0)));
  ++header.count;
  EXPECT_FALSE(accepted(Message(header).level(100, 0)));
  header = header_of(RequestKind::kGet, Form::kContiguous, kMemory, kBytesMax + 1);
  header.tag = kFirstTag;
  EXPECT_FALSE(accepted(Message(header)));
  header.type = kDataAlone;
  EXPECT_TRUE(accepted(Message(header))) << "in place";
}

// An accepted request, of any bytes, names no memory outside the regions, and no data outside the message.
void expect_harmless(const Request& request, std::span<const char> message) {
  const RequestHeader& header = request.header;
  if (header.kind == RequestKind::kGetCount || header.kind == RequestKind::kDisconnect) return;
  if (request.is_store()) {
    EXPECT_EQ(request.data.size(), request.data_follow() ? 0 : request.total_bytes());
    EXPECT_LE(request.data.data() + request.data.size(), message.data() + message.size());
  }
  if (header.kind == RequestKind::kSignal) {
    EXPECT_TRUE(inside(header.operand[0], 8));
    EXPECT_TRUE(header.first == 0 || inside(header.first, 8));
  }
  if (header.kind == RequestKind::kAtomic || header.form == Form::kContiguous) {
    EXPECT_TRUE(header.bytes == 0 || inside(header.address, header.bytes));
    return;
  }
  for (std::size_t i = 0; header.form == Form::kList && i < header.count; ++i) {
    EXPECT_TRUE(inside(request.addresses[i], header.bytes));
  }
  if (header.form != Form::kStrided) return;
  for_segment_range(request.shape, header.first, header.count, [&](std::ptrdiff_t, std::ptrdiff_t to) {
    EXPECT_TRUE(inside(header.address + static_cast<std::uint64_t>(to), header.bytes));
  });
}

TEST(Decode, WhatPassesIsHarmless) {
  std::mt19937_64 random(1);
  const std::vector<Message> valid = valid_messages();
  constexpr std::array<std::uint64_t, 8> kEdgeWords = {0,          1,    8, 255, kMemory, kMemory + kMemoryBytes,
                                                       1ULL << 63, ~0ULL};
  int passed = 0;
  for (int round = 0; round < 300000 && !::testing::Test::HasFailure(); ++round) {
    Message message = valid[random() % valid.size()];
    const std::span<char> bytes = message.bytes();
    for (std::uint64_t changes = random() % 3 + 1; changes > 0; --changes) {
      const std::size_t at = random() % (bytes.size() / 8) * 8;
      if (random() % 2 == 0) {
        bytes[at + random() % 8] = static_cast<char>(random());
      } else {
        std::memcpy(&bytes[at], &kEdgeWords[random() % kEdgeWords.size()], 8);
      }
    }
    const std::span<const char> sent = bytes.first(random() % 4 == 0 ? random() % (bytes.size() + 1) : bytes.size());
    std::vector<Request> entries;
    if (!accepted(sent, &entries)) continue;
    ++passed;
    Request request;
    ASSERT_TRUE(decode(sent, inside, kBounds, &request).ok());
    if (request.header.kind != RequestKind::kBatch) entries = {request};
    for (const Request& one : entries) expect_harmless(one, sent);
  }
  EXPECT_GT(passed, 10000) << "too few got through to say anything";
}

}  // namespace
}  // namespace armci::engine
