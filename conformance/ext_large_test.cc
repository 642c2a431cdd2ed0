// EXT-1 beyond 2^31: segments and strides that only the 64-bit calls can name. Run at length only: the region takes 2.2
// GB.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "armcix.h"
#include "conformance/harness/table.h"
#include "conformance/harness/test.h"

namespace conformance {
namespace {

constexpr std::size_t kFold = 1 << 20;
constexpr std::size_t kLong = (std::size_t{1} << 31) + 65536;
constexpr std::size_t kChunks = kLong / kFold + 1;
// Chunks of a folded buffer with memory of their own: the first, one in the middle, and the last, where the long
// segment ends.
constexpr std::size_t kOwnChunks[] = {0, kChunks / 2, kChunks - 1};

// A local buffer of kChunks MiB over 4 MiB of memory: all chunks but three are the same memory. Its content has the
// period kFold, so that it does not matter which of the equal bytes of a get is written last.
class FoldedBuffer {
 public:
  FoldedBuffer() : file_(memfd_create("folded", 0)) {
    constexpr std::size_t kPieces = std::size(kOwnChunks) + 1;
    EXPECT_EQ(ftruncate(file_, kPieces * kFold), 0);
    base_ = static_cast<char*>(
        mmap(nullptr, kChunks * kFold, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    EXPECT_NE(base_, MAP_FAILED);
    for (std::size_t chunk = 0; chunk < kChunks; ++chunk) {
      const auto own = std::find(std::begin(kOwnChunks), std::end(kOwnChunks), chunk);
      // Behind the own ones lies the piece of all others.
      const auto piece = static_cast<off_t>(own - std::begin(kOwnChunks));
      const void* at = mmap(base_ + chunk * kFold, kFold, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_,
                            piece * static_cast<off_t>(kFold));
      EXPECT_NE(at, MAP_FAILED) << "chunk " << chunk;
    }
  }
  ~FoldedBuffer() {
    munmap(base_, kChunks * kFold);
    close(file_);
  }
  FoldedBuffer(const FoldedBuffer&) = delete;
  FoldedBuffer& operator=(const FoldedBuffer&) = delete;

  char* data() const { return base_; }
  // Offsets of chunks that are memory of their own, and of one that is that of all others.
  static std::vector<std::size_t> Places() {
    std::vector<std::size_t> places{kFold};
    for (std::size_t chunk : kOwnChunks) places.push_back(chunk * kFold);
    return places;
  }
  void Fill(const Bytes& period) const {
    for (std::size_t place : Places()) std::copy(period.begin(), period.end(), base_ + place);
  }

 private:
  const int file_;
  char* base_ = nullptr;
};

// The region of one process, and what is known of its content: kLong bytes with the period kFold, and 64 behind them.
struct LongPart {
  char* base;
  int owner;
  Bytes period;
  Bytes behind;
};

void ExpectContent(const LongPart& part, const std::string& text) {
  Bytes seen(64);
  for (std::size_t at : {std::size_t{0}, kLong / 2, std::size_t{1} << 31, kLong - 64}) {
    EXPECT_EQ(ARMCI_Get(part.base + at, seen.data(), 64, part.owner), 0);
    EXPECT_TRUE(SameBytes(part.period.data() + at % kFold, seen.data(), 64)) << text << ", offset " << at;
  }
  EXPECT_EQ(ARMCI_Get(part.base + kLong, seen.data(), 64, part.owner), 0);
  EXPECT_TRUE(SameBytes(part.behind.data(), seen.data(), 64)) << "behind the segment: " << text;
}

void LongSegment(const Way& way, const FoldedBuffer& buffer, LongPart* part) {
  const std::string text = NameOf(way) + SeedText();
  const Plan plan = way.shape == Shape::kVector ? VectorPlan({{{0, 0, kLong}}}) : ContiguousPlan(kLong);
  Bytes period(kFold);
  FillElements(&MyRng(), kTableType, period.data(), kFold);
  buffer.Fill(period);
  Transfer transfer(plan, way.op, way.mode, way.width);
  transfer.SetAcc(kTableType, UnitScale(kTableType));
  const bool get = way.op == Op::kGet;
  EXPECT_EQ(transfer.Start(get ? part->base : buffer.data(), get ? buffer.data() : part->base, part->owner), 0) << text;
  EXPECT_EQ(transfer.Wait(), 0) << text;
  ARMCI_Fence(part->owner);
  if (get) {
    for (std::size_t place : FoldedBuffer::Places()) {
      const std::size_t covered = std::min(kFold, kLong - place);
      EXPECT_TRUE(SameBytes(part->period.data(), buffer.data() + place, covered)) << text << ", offset " << place;
      EXPECT_TRUE(SameBytes(period.data() + covered, buffer.data() + place + covered, kFold - covered))
          << "behind the segment: " << text;
    }
    return;
  }
  const Plan one = ContiguousPlan(kFold);
  if (way.op == Op::kAcc) {
    ModelAcc(one, kTableType, UnitScale(kTableType).bytes, period.data(), part->period.data());
  } else {
    part->period = period;
  }
  ExpectContent(*part, text);
}

// Two rows, the second one behind the first kLong bytes.
void FarRows(LongPart* part) {
  const std::size_t count[] = {64, 2};
  const std::ptrdiff_t near_stride[] = {64};
  const std::ptrdiff_t far_stride[] = {static_cast<std::ptrdiff_t>(kLong)};
  Bytes rows(128);
  FillElements(&MyRng(), kTableType, rows.data(), rows.size());
  EXPECT_EQ(ARMCIX_PutS(rows.data(), near_stride, part->base, far_stride, count, 1, part->owner), 0);
  Bytes back(128, 0);
  EXPECT_EQ(ARMCIX_GetS(part->base, far_stride, back.data(), near_stride, count, 1, part->owner), 0);
  EXPECT_EQ(rows, back);
  EXPECT_EQ(ARMCI_Get(part->base + kLong, back.data(), 64, part->owner), 0);
  EXPECT_TRUE(SameBytes(rows.data() + 64, back.data(), 64)) << "the second row is 2 GiB away";

  const Scale scale = UnitScale(kTableType);
  back = rows;
  EXPECT_EQ(ARMCIX_AccS(kTableType.code, scale.bytes, rows.data(), near_stride, part->base, far_stride, count, 1,
                        part->owner),
            0);
  ModelAcc(ContiguousPlan(128), kTableType, scale.bytes, rows.data(), back.data());
  Bytes sum(128, 0);
  EXPECT_EQ(ARMCIX_GetS(part->base, far_stride, sum.data(), near_stride, count, 1, part->owner), 0);
  EXPECT_EQ(sum, back) << "accumulated rows";
  part->behind.assign(sum.begin() + 64, sum.end());
}

CLAUSE_TEST(EXT, EXT1_lengths_and_strides_beyond_2_to_the_31, "EXT-1", "XFER-8", "MEM-12", DeadlineSeconds(240)) {
  if (Quick()) SkipTest("left out by --quick");
  std::vector<void*> ptr(static_cast<std::size_t>(Np()), nullptr);
  const int owner = Np() - 1;
  Agree();
  const int code = ARMCI_Malloc(ptr.data(), Me() == owner ? static_cast<armci_size_t>(kLong + 64) : 0);
  if (!AllAgreeOn(code == 0)) SkipTest("needs 2.2 GB of memory for one region");
  if (Me() == 0) {
    LongPart part{static_cast<char*>(ptr[static_cast<std::size_t>(owner)]), owner, Bytes(kFold, 0), Bytes(64, 0)};
    const FoldedBuffer buffer;
    FarRows(&part);
    for (Op op : {Op::kPut, Op::kGet, Op::kAcc}) {
      LongSegment({op, Shape::kContiguous, Mode::kBlocking, Width::kWide}, buffer, &part);
      LongSegment({op, Shape::kVector, Mode::kNonblocking, Width::kWide}, buffer, &part);
    }
  }
  Agree();
  EXPECT_EQ(ARMCI_Free(ptr[static_cast<std::size_t>(Me())]), 0);
}

}  // namespace
}  // namespace conformance
