#include "impl/mpi-rma/datatypes.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

namespace armci::rma {
namespace {
using runtime::Strided;

// A datatype under construction: predefined, or derived and freed in the end, which those built from it do not mind.
class Part {
 public:
  Part() = default;
  explicit Part(MPI_Datatype predefined) : type_(predefined) {}
  Part(Part&& other) noexcept : type_(other.type_), derived_(std::exchange(other.derived_, false)) {}
  Part& operator=(Part&& other) noexcept {
    std::swap(type_, other.type_);
    std::swap(derived_, other.derived_);
    return *this;
  }
  ~Part() {
    if (derived_) MPI_Type_free(&type_);
  }
  void take(MPI_Datatype derived) { *this = Part(derived, true); }

  MPI_Datatype type() const { return type_; }
  bool derived() const { return derived_; }
  Status commit(Datatype* datatype) {
    ARMCI_MPI(MPI_Type_commit(&type_));
    derived_ = false;
    *datatype = Datatype::owning(type_);
    return kSuccess;
  }

 private:
  Part(MPI_Datatype type, bool derived) : type_(type), derived_(derived) {}

  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  bool derived_ = false;
};

// Elements without a gap: `length` of `part`.
struct Block {
  Part part;
  int length;
};

Status element_bytes(MPI_Datatype element, std::size_t bytes, std::size_t* element_bytes) {
  int size = 0;
  ARMCI_MPI(MPI_Type_size(element, &size));
  *element_bytes = static_cast<std::size_t>(size);
  if (bytes % *element_bytes != 0) {
    return fail(Code::kLength, nullptr,
                "a segment of %zu bytes is not a whole number of elements of %d bytes; pass whole elements", bytes,
                size);
  }
  return kSuccess;
}

// Builds the parts of one datatype. Every int argument of MPI is int_max at most.
class Builder {
 public:
  explicit Builder(const DatatypeOptions& options) : int_max_(static_cast<std::size_t>(options.int_max)) {}

  Status block(MPI_Datatype element, std::size_t element_bytes, std::size_t elements, Block* out) const;
  Status repeat(const Part& unit, int length, std::size_t count, std::ptrdiff_t stride, Part* out) const;
  Status nest(const Layout& layout, MPI_Datatype element, std::size_t element_bytes, Part* out) const;
  bool is_subarray(const Layout& layout, std::size_t element_bytes) const;
  Status subarray(const Layout& layout, MPI_Datatype element, std::size_t element_bytes, Part* out) const;
  Status pieces(const std::vector<MPI_Aint>& displacements, const std::vector<int>& lengths, MPI_Datatype unit,
                std::vector<Part>* out) const;
  Status join(std::vector<Part> parts, Part* out) const;

 private:
  std::size_t int_max_;
};

Status Builder::block(MPI_Datatype element, std::size_t element_bytes, std::size_t elements, Block* out) const {
  out->part = Part(element);
  out->length = static_cast<int>(elements);
  if (elements <= int_max_) return kSuccess;
  out->length = 1;
  return repeat(Part(element), 1, elements, static_cast<std::ptrdiff_t>(element_bytes), &out->part);
}

// `count` times `length` of `unit`, each `stride` bytes behind the one before.
Status Builder::repeat(const Part& unit, int length, std::size_t count, std::ptrdiff_t stride, Part* out) const {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  // Open MPI 4.1 reads a stride of -1 as "without a gap": such steps are taken by two.
  const bool by_pairs = stride == -1 && count > 1;
  if (count <= int_max_ && !by_pairs) {
    ARMCI_MPI(MPI_Type_create_hvector(static_cast<int>(count), length, stride, unit.type(), &type));
    out->take(type);
    return kSuccess;
  }
  Part chunk;
  std::size_t chunk_count = 2;
  if (by_pairs) {
    const MPI_Aint pair[2] = {0, stride};
    ARMCI_MPI(MPI_Type_create_hindexed_block(2, length, pair, unit.type(), &type));
    chunk.take(type);
  } else {
    chunk_count = int_max_ / 2 + 1;  // a power of two where int_max is INT_MAX
    ARMCI_RETURN_IF_ERROR(repeat(unit, length, chunk_count, stride, &chunk));
  }
  Part whole;
  const std::size_t rest_count = count % chunk_count;
  const std::ptrdiff_t chunk_stride = stride * static_cast<std::ptrdiff_t>(chunk_count);
  ARMCI_RETURN_IF_ERROR(repeat(chunk, 1, count / chunk_count, chunk_stride, &whole));
  if (rest_count == 0) {
    *out = std::move(whole);
    return kSuccess;
  }
  Part rest;
  ARMCI_RETURN_IF_ERROR(repeat(unit, length, rest_count, stride, &rest));
  const int lengths[2] = {1, 1};
  const MPI_Aint displacements[2] = {0, stride * static_cast<MPI_Aint>(count - rest_count)};
  const MPI_Datatype types[2] = {whole.type(), rest.type()};
  ARMCI_MPI(MPI_Type_create_struct(2, lengths, displacements, types, &type));
  out->take(type);
  return kSuccess;
}

Status Builder::nest(const Layout& layout, MPI_Datatype element, std::size_t element_bytes, Part* out) const {
  Block inner;
  ARMCI_RETURN_IF_ERROR(block(element, element_bytes, layout.count[0] / element_bytes, &inner));
  for (int l = 0; l < layout.levels; ++l) {
    Part outer;
    ARMCI_RETURN_IF_ERROR(repeat(inner.part, inner.length, layout.count[l + 1], layout.stride[l], &outer));
    inner = Block{std::move(outer), 1};
  }
  *out = std::move(inner.part);
  return kSuccess;
}

// Level l repeats within one step of level l + 1, and steps are whole numbers of the steps below.
bool Builder::is_subarray(const Layout& layout, std::size_t element_bytes) const {
  std::size_t below = element_bytes;
  std::size_t part = layout.count[0] / element_bytes;
  for (int l = 0; l < layout.levels; ++l) {
    const auto stride = static_cast<std::size_t>(layout.stride[l]);
    if (layout.stride[l] <= 0 || stride % below != 0) return false;
    if (stride / below > int_max_ || part > stride / below) return false;
    below = stride;
    part = layout.count[l + 1];
  }
  return part <= int_max_;
}

Status Builder::subarray(const Layout& layout, MPI_Datatype element, std::size_t element_bytes, Part* out) const {
  const int last = layout.levels;
  int whole[runtime::kMaxStrideLevels + 1];
  int part[runtime::kMaxStrideLevels + 1];
  const int starts[runtime::kMaxStrideLevels + 1] = {};
  std::size_t below = element_bytes;
  part[last] = static_cast<int>(layout.count[0] / element_bytes);
  for (int l = 0; l < layout.levels; ++l) {
    const auto stride = static_cast<std::size_t>(layout.stride[l]);
    whole[last - l] = static_cast<int>(stride / below);
    part[last - l - 1] = static_cast<int>(layout.count[l + 1]);
    below = stride;
  }
  whole[0] = part[0];
  MPI_Datatype type = MPI_DATATYPE_NULL;
  ARMCI_MPI(MPI_Type_create_subarray(last + 1, whole, part, starts, MPI_ORDER_C, element, &type));
  out->take(type);
  return kSuccess;
}

// lengths[i] of `unit` at displacements[i], in as few datatypes as int_max allows.
Status Builder::pieces(const std::vector<MPI_Aint>& displacements, const std::vector<int>& lengths, MPI_Datatype unit,
                       std::vector<Part>* out) const {
  for (std::size_t begin = 0; begin < lengths.size(); begin += int_max_) {
    const std::size_t count = std::min(int_max_, lengths.size() - begin);
    const MPI_Aint* at = displacements.data() + begin;
    const int* length = lengths.data() + begin;
    const bool equal = std::all_of(length, length + count, [&](int other) { return other == *length; });
    MPI_Datatype type = MPI_DATATYPE_NULL;
    if (equal) {
      ARMCI_MPI(MPI_Type_create_hindexed_block(static_cast<int>(count), *length, at, unit, &type));
    } else {
      ARMCI_MPI(MPI_Type_create_hindexed(static_cast<int>(count), length, at, unit, &type));
    }
    out->emplace_back().take(type);
  }
  return kSuccess;
}

// All parts, one after the other, each at the displacements that it has already.
Status Builder::join(std::vector<Part> parts, Part* out) const {
  while (parts.size() > 1) {
    std::vector<Part> fewer;
    for (std::size_t begin = 0; begin < parts.size(); begin += int_max_) {
      const std::size_t count = std::min(int_max_, parts.size() - begin);
      std::vector<MPI_Datatype> types(count);
      for (std::size_t i = 0; i < count; ++i) types[i] = parts[begin + i].type();
      const std::vector<int> lengths(count, 1);
      const std::vector<MPI_Aint> displacements(count, 0);
      MPI_Datatype type = MPI_DATATYPE_NULL;
      ARMCI_MPI(
          MPI_Type_create_struct(static_cast<int>(count), lengths.data(), displacements.data(), types.data(), &type));
      fewer.emplace_back().take(type);
    }
    parts = std::move(fewer);
  }
  *out = std::move(parts.front());
  return kSuccess;
}

std::ptrdiff_t lowest_offset(const Layout& layout) {
  std::ptrdiff_t lowest = 0;
  for (int l = 0; l < layout.levels; ++l) {
    if (layout.stride[l] < 0) lowest += layout.stride[l] * static_cast<std::ptrdiff_t>(layout.count[l + 1] - 1);
  }
  return lowest;
}

Status datatype_of(const Layout& layout, MPI_Datatype element, std::size_t element_bytes,
                   const DatatypeOptions& options, Datatype* datatype) {
  const Builder builder(options);
  Part part;
  if (options.subarray && layout.levels > 0 && builder.is_subarray(layout, element_bytes)) {
    ARMCI_RETURN_IF_ERROR(builder.subarray(layout, element, element_bytes, &part));
  } else {
    ARMCI_RETURN_IF_ERROR(builder.nest(layout, element, element_bytes, &part));
  }
  const MPI_Aint begin = -lowest_offset(layout);
  if (begin != 0) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    ARMCI_MPI(MPI_Type_create_hindexed_block(1, 1, &begin, part.type(), &type));
    part.take(type);
  }
  return part.commit(datatype);
}

bool is_plain(const Layout& layout, std::size_t element_bytes, const DatatypeOptions& options) {
  return layout.levels == 0 && layout.count[0] / element_bytes <= static_cast<std::size_t>(options.int_max);
}

Datatype plain(const Layout& layout, MPI_Datatype element, std::size_t element_bytes) {
  return Datatype(element, static_cast<int>(layout.count[0] / element_bytes));
}

std::uint64_t hash_of(const Layout& layout, MPI_Datatype element) {
  std::uint64_t hash = 0;
  const auto mix = [&](std::uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  };
  std::uint64_t handle = 0;
  std::memcpy(&handle, &element, sizeof element);
  mix(handle);
  mix(layout.count[0]);
  for (int l = 0; l < layout.levels; ++l) {
    mix(layout.count[l + 1]);
    mix(static_cast<std::uint64_t>(layout.stride[l]));
  }
  return hash;
}
static_assert(sizeof(MPI_Datatype) <= sizeof(std::uint64_t));

}  // namespace

struct Datatype::Owned {
  explicit Owned(MPI_Datatype derived) : type(derived) {}
  Owned(const Owned&) = delete;
  ~Owned() { MPI_Type_free(&type); }
  MPI_Datatype type;
};

Datatype Datatype::owning(MPI_Datatype derived) {
  Datatype datatype(derived, 1);
  datatype.owned_ = std::make_shared<const Owned>(derived);
  return datatype;
}

bool operator==(const Layout& a, const Layout& b) {
  return a.levels == b.levels && std::equal(a.count, a.count + a.levels + 1, b.count) &&
         std::equal(a.stride, a.stride + a.levels, b.stride);
}

Layout layout_of(const Strided& shape, Side side) {
  if (shape.empty()) return {};
  const std::ptrdiff_t* stride = side == Side::kSource ? shape.src_stride : shape.dst_stride;
  Strided alone;
  alone.levels = shape.levels;
  std::copy_n(shape.count, shape.levels + 1, alone.count);
  std::copy_n(stride, shape.levels, alone.src_stride);
  std::copy_n(stride, shape.levels, alone.dst_stride);
  alone.collapse();
  Layout layout = {};
  layout.levels = alone.levels;
  std::copy_n(alone.count, alone.levels + 1, layout.count);
  std::copy_n(alone.src_stride, alone.levels, layout.stride);
  return layout;
}

std::ptrdiff_t lowest_offset(const Strided& shape, Side side) { return lowest_offset(layout_of(shape, side)); }

Status strided_datatype(const Strided& shape, Side side, MPI_Datatype element, const DatatypeOptions& options,
                        Datatype* datatype) {
  std::size_t bytes = 0;
  ARMCI_RETURN_IF_ERROR(element_bytes(element, shape.count[0], &bytes));
  const Layout layout = layout_of(shape, side);
  if (is_plain(layout, bytes, options)) {
    *datatype = plain(layout, element, bytes);
    return kSuccess;
  }
  return datatype_of(layout, element, bytes, options, datatype);
}

void* lowest_address(void* const* addresses, std::size_t count) {
  return *std::min_element(addresses, addresses + count, std::less<>());
}

Status list_datatype(void* const* addresses, std::size_t count, std::size_t bytes, const void* base,
                     MPI_Datatype element, const DatatypeOptions& options, Datatype* datatype) {
  std::size_t element_size = 0;
  ARMCI_RETURN_IF_ERROR(element_bytes(element, bytes, &element_size));
  if (count == 0 || bytes == 0) {
    *datatype = Datatype(element, 0);
    return kSuccess;
  }
  const Builder builder(options);
  Block segment;
  ARMCI_RETURN_IF_ERROR(builder.block(element, element_size, bytes / element_size, &segment));
  std::vector<MPI_Aint> displacements;
  std::vector<int> lengths;
  const auto origin = reinterpret_cast<std::uintptr_t>(base);
  std::uintptr_t end = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto begin = reinterpret_cast<std::uintptr_t>(addresses[i]);
    if (i > 0 && begin == end && lengths.back() <= options.int_max - segment.length) {
      lengths.back() += segment.length;
    } else {
      displacements.push_back(static_cast<MPI_Aint>(begin - origin));
      lengths.push_back(segment.length);
    }
    end = begin + bytes;
  }
  if (lengths.size() == 1 && displacements[0] == 0 && !segment.part.derived()) {
    *datatype = Datatype(element, lengths[0]);
    return kSuccess;
  }
  std::vector<Part> pieces;
  Part whole;
  ARMCI_RETURN_IF_ERROR(builder.pieces(displacements, lengths, segment.part.type(), &pieces));
  ARMCI_RETURN_IF_ERROR(builder.join(std::move(pieces), &whole));
  return whole.commit(datatype);
}

DatatypeCache::DatatypeCache(std::size_t entries_max, const DatatypeOptions& options)
    : entries_max_(entries_max), options_(options) {
  hashes_.reserve(entries_max);
  entries_.reserve(entries_max);
}

std::size_t DatatypeCache::find(std::uint64_t hash, const Entry& entry) const {
  for (std::size_t i = 0; i < hashes_.size(); ++i) {
    if (hashes_[i] == hash && entries_[i].element == entry.element && entries_[i].layout == entry.layout) return i;
  }
  return hashes_.size();
}

// Datatypes are built and freed outside the lock: MPI takes its time for both.
Status DatatypeCache::get(const Strided& shape, Side side, MPI_Datatype element, Datatype* datatype) {
  std::size_t bytes = 0;
  ARMCI_RETURN_IF_ERROR(element_bytes(element, shape.count[0], &bytes));
  const Layout layout = layout_of(shape, side);
  if (is_plain(layout, bytes, options_)) {
    *datatype = plain(layout, element, bytes);
    return kSuccess;
  }
  const std::uint64_t hash = hash_of(layout, element);
  Entry entry{layout, element, {}, 0};
  if (look_up(hash, &entry)) {
    *datatype = std::move(entry.datatype);
    return kSuccess;
  }
  ARMCI_RETURN_IF_ERROR(datatype_of(layout, element, bytes, options_, &entry.datatype));
  *datatype = entry.datatype;
  if (entries_max_ > 0) store(hash, &entry);
  return kSuccess;
}

bool DatatypeCache::look_up(std::uint64_t hash, Entry* entry) {
  const std::lock_guard lock(mutex_);
  const std::size_t index = find(hash, *entry);
  if (index == entries_.size()) {
    ++misses_;
    return false;
  }
  ++hits_;
  entries_[index].used = ++clock_;
  entry->datatype = entries_[index].datatype;
  return true;
}

// Returns the evicted entry in *entry, for the caller to free.
void DatatypeCache::store(std::uint64_t hash, Entry* entry) {
  const std::lock_guard lock(mutex_);
  entry->used = ++clock_;
  // Another thread may have built the same meanwhile; one of the two replaces the other.
  std::size_t index = find(hash, *entry);
  if (index == entries_.size() && index == entries_max_) {
    const auto oldest = std::min_element(entries_.begin(), entries_.end(),
                                         [](const Entry& a, const Entry& b) { return a.used < b.used; });
    index = static_cast<std::size_t>(oldest - entries_.begin());
  }
  if (index == entries_.size()) {
    hashes_.push_back(hash);
    entries_.push_back(std::move(*entry));
  } else {
    hashes_[index] = hash;
    std::swap(entries_[index], *entry);
  }
}

void DatatypeCache::clear() {
  std::vector<Entry> gone;
  const std::lock_guard lock(mutex_);
  hashes_.clear();
  gone.swap(entries_);
}

DatatypeCache::Counters DatatypeCache::counters() const {
  const std::lock_guard lock(mutex_);
  return {entries_.size(), hits_, misses_};
}

}  // namespace armci::rma
