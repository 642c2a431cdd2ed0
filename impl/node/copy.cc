// Long copies: the choice of kernels for this CPU, and the copies that copy() does not do inline.

#include "impl/node/copy.h"

#include <cpuid.h>
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <iterator>

#include "impl/node/copy_table.h"

namespace armci::node {

using internal::BodyKernel;
using internal::CopyLevel;
using internal::CopyTable;
using internal::SegmentTables;

namespace {

// How source and destination lie relative to each other, within lines and modulo a page. The speed of a kernel depends
// on both, because the CPU matches loads with earlier stores by the low 12 bits of the address.
enum Relation : int { kSameInLine = 0, kDestinationAhead = 1, kSourceAhead = 2 };
constexpr int kRelations = 3;

Relation relation(const char* dst, const char* src) noexcept {
  const size_t ahead = (reinterpret_cast<uintptr_t>(dst) - reinterpret_cast<uintptr_t>(src)) & 4095;
  return static_cast<Relation>(ahead % 64 == 0 ? 0 : 1 + ahead / 2048);
}

// Kernels are measured at one size of each band of sizes, given by the bits that the largest of the band takes.
struct Band {
  int bits_max;
  size_t sample_bytes;
};
constexpr Band kBands[] = {{11, 1 << 10},  {13, 4 << 10},   {14, 8 << 10},   {15, 16 << 10}, {16, 32 << 10},
                           {17, 64 << 10}, {18, 128 << 10}, {19, 256 << 10}, {64, 1 << 20}};
constexpr int kBriefBits = std::bit_width(internal::kBriefBytesMax);  // below the bands
static_assert(kBriefBits < kBands[0].bits_max && internal::kBriefBytesMax == (1 << kBriefBits) - 1);
constexpr size_t kSampleBytesMax = std::end(kBands)[-1].sample_bytes;

// The choice, by relation and by the bits that the size takes.  Memory ordering: relaxed throughout, each value is
// complete in itself and any mixture of old and new ones is a working choice.
constexpr int kSizes = 65;
struct Choice {
  BodyKernel body[kRelations][kSizes];
  BodyKernel streaming;
  size_t streaming_bytes_min[kRelations];
  SegmentTables segments[kSizes];  // by the bits that the size of a segment takes
};

constexpr Choice baseline() {
  Choice choice{{}, &internal::sse2_body, {SIZE_MAX, SIZE_MAX, SIZE_MAX}, {}};
  for (auto& relation : choice.body) std::fill(std::begin(relation), std::end(relation), &internal::sse2_body);
  std::fill(std::begin(choice.segments), std::end(choice.segments),
            SegmentTables{&internal::kCopySse2, &internal::kCopySse2});
  return choice;
}

constinit Choice choice = baseline();

template <typename T>
T read(T& value) noexcept {
  return std::atomic_ref(value).load(std::memory_order_relaxed);
}

template <typename T>
void write(T& value, T next) noexcept {
  std::atomic_ref(value).store(next, std::memory_order_relaxed);
}

BodyKernel chosen_body(const char* dst, const char* src, size_t bytes) noexcept {
  const Relation r = relation(dst, src);
  if (bytes >= read(choice.streaming_bytes_min[r])) [[unlikely]] {
    return read(choice.streaming);
  }
  return read(choice.body[r][std::bit_width(bytes)]);
}

SegmentTables chosen_tables(size_t segment_bytes) noexcept {
  SegmentTables& tables = choice.segments[std::bit_width(segment_bytes)];
  return {read(tables.near), read(tables.far)};
}

// The microcoded copy, in 8-byte elements: the architecture promises those whole, which it does not for rep movsb.
void body_string(char* dst, const char* src, size_t bytes) noexcept {
  size_t words = bytes / 8;
  __asm__ volatile("rep movsq" : "+D"(dst), "+S"(src), "+c"(words) : : "memory");
}

// ---- What the CPU is

// Bytes of the last-level cache by one of the two cpuid leaves that describe caches, 0 if it does not say.
size_t cache_bytes(unsigned leaf) noexcept {
  size_t bytes = 0;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  for (unsigned index = 0; index < 8 && __get_cpuid_count(leaf, index, &eax, &ebx, &ecx, &edx) != 0; ++index) {
    if ((eax & 31) == 0) break;
    const bool third_level = ((eax >> 5) & 7) == 3;
    if (third_level) bytes = size_t{(ebx >> 22) + 1} * (((ebx >> 12) & 1023) + 1) * ((ebx & 4095) + 1) * (ecx + 1);
  }
  return bytes;
}

// From here on going around the cache is faster than going through it by the kernel that is best below. The microcoded
// copy does not read the lines that it overwrites either; unless the destination lies just ahead, it stays the best
// until source and destination do not fit the cache.
size_t streaming_bytes_min(Relation r, BodyKernel below) noexcept {
  constexpr unsigned kIntelLeaf = 4, kAmdLeaf = 0x8000001d;
  size_t cache = cache_bytes(kIntelLeaf);
  if (cache == 0) cache = cache_bytes(kAmdLeaf);
  if (cache == 0) cache = 32 << 20;
  return below == &body_string && r != kDestinationAhead ? std::clamp<size_t>(cache / 2 + 1, 2 << 20, 32 << 20)
                                                         : std::clamp<size_t>(cache / 4, 2 << 20, 16 << 20);
}

// ---- The measurement

double now_ns() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

// Two buffers for the largest sample, or none if memory is short.
class SampleBuffers {
 public:
  static constexpr size_t kBytes = kSampleBytesMax + 4096;

  SampleBuffers() noexcept
      : memory_(mmap(nullptr, 2 * kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0)) {}
  ~SampleBuffers() {
    if (ready()) munmap(memory_, 2 * kBytes);
  }
  SampleBuffers(const SampleBuffers&) = delete;
  SampleBuffers& operator=(const SampleBuffers&) = delete;

  [[nodiscard]] bool ready() const noexcept { return memory_ != MAP_FAILED; }
  [[nodiscard]] char* first() const noexcept { return static_cast<char*>(memory_); }
  [[nodiscard]] char* second() const noexcept { return first() + kBytes; }

 private:
  void* memory_;
};
static_assert(SampleBuffers::kBytes % 4096 == 0, "the buffers begin on pages, so offsets alone make the relation");

double sample_ns(BodyKernel body, char* dst, const char* src, size_t bytes) noexcept {
  const size_t times = std::max<size_t>(1, (512 << 10) / bytes);
  body(dst, src, bytes);  // so that the caches hold what this kernel leaves, not what another kernel left
  const double begin = now_ns();
  for (size_t i = 0; i < times; ++i) body(dst, src, bytes);
  return now_ns() - begin;
}

// The two best instruction sets, and the microcoded copy.
bool worth_measuring(int candidate) noexcept {
  if (candidate == internal::kStringCandidate) return true;
  const int level = candidate / 3, best = static_cast<int>(internal::best_copy_level());
  return !internal::is_streaming(candidate) && level <= best && level >= best - 1;
}

// The best kernel for one size and relation. The smallest of several times counts, since noise only ever adds. The
// present choice stays unless another is clearly better.
BodyKernel fastest(BodyKernel present, char* dst, const char* src, size_t bytes) noexcept {
  constexpr int kRounds = 7;
  constexpr double kClearly = 0.97, kHopeless = 1.25;
  double best[internal::kBodyCandidates];
  std::fill(std::begin(best), std::end(best), 1e18);
  double lowest = 1e18, lowest_present = 1e18;
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < internal::kBodyCandidates; ++i) {
      const BodyKernel body = internal::body_candidate(i);
      if (body == nullptr || !worth_measuring(i)) continue;
      if (round > 0 && best[i] > kHopeless * lowest) continue;
      best[i] = std::min(best[i], sample_ns(body, dst, src, bytes));
      lowest = std::min(lowest, best[i]);
      if (body == present) lowest_present = best[i];
    }
  }
  if (lowest >= kClearly * lowest_present) return present;
  return internal::body_candidate(static_cast<int>(std::min_element(std::begin(best), std::end(best)) - best));
}

void measure_bodies(const SampleBuffers& buffers) noexcept {
  constexpr ptrdiff_t kDestinationOffset[kRelations] = {0, 8, 0};
  constexpr ptrdiff_t kSourceOffset[kRelations] = {0, 0, 8};
  for (int r = 0; r < kRelations; ++r) {
    char* dst = buffers.first() + kDestinationOffset[r];
    const char* src = buffers.second() + kSourceOffset[r];
    int bits = kBriefBits + 1;
    for (const Band& band : kBands) {
      const BodyKernel body = fastest(read(choice.body[r][bits]), dst, src, band.sample_bytes);
      for (; bits <= band.bits_max; ++bits) write(choice.body[r][bits], body);
    }
  }
}

// The best kernels for rows of one size, judged like bodies. A third of the destination's memory is written.
const CopyTable* fastest_rows(const CopyTable* present, const SampleBuffers& buffers, size_t rows,
                              size_t bytes) noexcept {
  constexpr int kRounds = 4, kRowsPerSample = 1024;
  constexpr double kClearly = 0.97;
  const auto dense = static_cast<ptrdiff_t>(bytes);
  double best[internal::kCopyLevels];
  std::fill(std::begin(best), std::end(best), 1e18);
  double lowest = 1e18, lowest_present = 1e18;
  const CopyTable* choice_now = present;
  for (int round = 0; round < kRounds; ++round) {
    for (int level = 0; level <= static_cast<int>(internal::best_copy_level()); ++level) {
      const CopyTable* table = internal::copy_table(static_cast<CopyLevel>(level));
      const double begin = now_ns();
      for (size_t done = 0; done < kRowsPerSample; done += rows) {
        table->rows(bytes)(buffers.first(), 3 * dense, buffers.second(), dense, rows, bytes);
      }
      best[level] = std::min(best[level], now_ns() - begin);
      if (table == present) lowest_present = best[level];
      if (best[level] < lowest) {
        lowest = best[level];
        choice_now = table;
      }
    }
  }
  return lowest >= kClearly * lowest_present ? present : choice_now;
}

void measure_rows(const SampleBuffers& buffers) noexcept {
  constexpr size_t kNearRows = 32, kFarBytes = 64 << 10, kLineBytes = 64;
  static_assert(3 * kFarBytes / kLineBytes * kLineBytes + 3 * internal::kCopiedSegmentBytesMax * kNearRows <=
                SampleBuffers::kBytes);
  for (size_t bytes = 8; bytes <= internal::kCopiedSegmentBytesMax; bytes *= 2) {
    SegmentTables& tables = choice.segments[std::bit_width(bytes)];
    write(tables.near, fastest_rows(read(tables.near), buffers, kNearRows, bytes));
    write(tables.far, fastest_rows(read(tables.far), buffers, kFarBytes / std::max(bytes, kLineBytes), bytes));
  }
}

}  // namespace

void copy_initialise() noexcept {
  // Without measurement AVX2 is the safer choice for all but the shortest: its loads cross half as many lines.
  const CopyLevel level = internal::best_copy_level();
  const CopyTable& table = *internal::copy_table(std::min(level, CopyLevel::kAvx2));
  for (int bits = 0; bits < kSizes; ++bits) {
    const CopyTable* near = bits <= kBriefBits ? internal::copy_table(level) : &table;
    write(choice.segments[bits].near, near);
    write(choice.segments[bits].far, near);
  }
  for (int r = 0; r < kRelations; ++r) {
    for (int bits = 0; bits < kSizes; ++bits) {
      const BodyKernel body = r == kDestinationAhead ? table.backward : table.forward;
      write(choice.body[r][bits], bits <= kBriefBits ? table.brief : body);
    }
  }
  write(choice.streaming, table.streaming);
  if (const SampleBuffers buffers; buffers.ready()) {
    measure_bodies(buffers);
    measure_rows(buffers);
  }
  for (int r = 0; r < kRelations; ++r) {
    write(choice.streaming_bytes_min[r],
          streaming_bytes_min(static_cast<Relation>(r), read(choice.body[r][kSizes - 1])));
  }
}

void copy_strided(char* dst, const ptrdiff_t* dst_stride, const char* src, const ptrdiff_t* src_stride,
                  const size_t* count, int levels) noexcept {
  internal::copy_strided_with(chosen_tables(count[0]), dst, dst_stride, src, src_stride, count, levels);
}

void copy_rows(char* dst, ptrdiff_t dst_stride, const char* src, ptrdiff_t src_stride, size_t rows,
               size_t bytes) noexcept {
  internal::copy_rows_with(chosen_tables(bytes), {dst, dst_stride, src, src_stride, rows, bytes});
}

void copy_vector(void* const* dst, const void* const* src, size_t segments, size_t bytes, uintptr_t dst_bits) noexcept {
  internal::copy_vector_with(chosen_tables(bytes), dst, src, segments, bytes, dst_bits);
}

namespace internal {

const CopyTable* copy_table(CopyLevel level) noexcept {
  __builtin_cpu_init();  // a caller may come before the constructors of the C run-time
  switch (level) {
    case CopyLevel::kAvx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") ? &kCopyAvx512 : nullptr;
    case CopyLevel::kAvx2:
      return __builtin_cpu_supports("avx2") ? &kCopyAvx2 : nullptr;
    default:
      return &kCopySse2;
  }
}

// The first CPUs with AVX-512 lower their clock for it, the generation that also has VBMI2 no longer does.
CopyLevel best_copy_level() noexcept {
  if (copy_table(CopyLevel::kAvx512) != nullptr && __builtin_cpu_supports("avx512vbmi2")) return CopyLevel::kAvx512;
  return copy_table(CopyLevel::kAvx2) != nullptr ? CopyLevel::kAvx2 : CopyLevel::kSse2;
}

BodyKernel body_candidate(int index) noexcept {
  if (index == kStringCandidate) return &body_string;
  const CopyTable* table = copy_table(static_cast<CopyLevel>(index / 3));
  if (table == nullptr) return nullptr;
  return is_streaming(index) ? table->streaming : index % 3 == 0 ? table->forward : table->backward;
}

const char* body_candidate_name(int index) noexcept {
  constexpr const char* kNames[kBodyCandidates] = {
      "SSE2 forward",   "SSE2 backward",   "SSE2 streaming",   "AVX2 forward",      "AVX2 backward",
      "AVX2 streaming", "AVX-512 forward", "AVX-512 backward", "AVX-512 streaming", "string"};
  return kNames[index];
}

BodyKernel chosen_copy_body(const char* dst, const char* src, size_t bytes) noexcept {
  return chosen_body(dst, src, bytes);
}

void copy_with(BodyKernel body, char* dst, const char* src, size_t bytes) noexcept {
  const size_t head = copy_head(dst, src, bytes);
  dst += head;
  src += head;
  bytes -= head;
  const size_t body_bytes = bytes & ~size_t{7};
  if (body_bytes < kBodyBytesMin) {
    copy_words(dst, src, body_bytes);
  } else {
    body(dst, src, body_bytes);
  }
  copy_tail(dst, src, bytes);
}

void copy_any(char* dst, const char* src, size_t bytes) noexcept {
  if (bytes <= kInlineBytes) {
    copy_short(dst, src, bytes);
    return;
  }
  const BodyKernel body = chosen_body(dst, src, bytes);
  if (((reinterpret_cast<uintptr_t>(dst) | bytes) & 7) == 0) {
    body(dst, src, bytes);
  } else {
    copy_with(body, dst, src, bytes);
  }
}

}  // namespace internal
}  // namespace armci::node
