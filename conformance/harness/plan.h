// Transfers as data: which bytes move where, how to ask ARMCI for it, and what a serial program would do.
//
// A Plan is a list of segments (source offset, destination offset, length) together with the shape of call that
// expresses it. Tests build plans from tables or at random, start them through Transfer, and compare with the model.
#ifndef CONFORMANCE_HARNESS_PLAN_H_
#define CONFORMANCE_HARNESS_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "armci.h"
#include "conformance/harness/pending.h"
#include "conformance/harness/random.h"

namespace conformance {

enum class Shape { kContiguous, kStrided, kVector, kValue };
enum class Mode { kBlocking, kNonblocking, kImplicit, kAggregate };
enum class Op { kPut, kGet, kAcc };
// The classic calls have int lengths, counts and strides, their twins in armcix.h 64-bit ones.
enum class Width { kClassic, kWide };
// Whether there are calls of that width: the twins are left out where the library is not of this repository.
bool HasCalls(Width width);

inline constexpr Shape kShapes[] = {Shape::kContiguous, Shape::kStrided, Shape::kVector};
inline constexpr Mode kModes[] = {Mode::kBlocking, Mode::kNonblocking, Mode::kImplicit, Mode::kAggregate};

// The ways to store, as ordering tests tell them apart.
enum class StoreKind { kContiguous, kStrided, kVector, kValue, kAccumulate };
inline constexpr const char* kStoreKindNames[] = {"contiguous", "strided", "vector", "value", "accumulate"};
// kAccumulate is contiguous.
Shape ShapeOf(StoreKind kind);

const char* NameOf(Shape shape);
const char* NameOf(Mode mode);
const char* NameOf(Op op);

struct Segment {
  std::ptrdiff_t src;
  std::ptrdiff_t dst;
  std::size_t bytes;
};

struct Plan {
  Shape shape = Shape::kContiguous;
  std::vector<Segment> segments;
  // Strided calls: count in bytes for level 0, strides in bytes.
  std::vector<int> count;
  std::vector<int> src_stride;
  std::vector<int> dst_stride;
  // Vector calls: number of segments of each descriptor, in order.
  std::vector<int> descriptors;

  std::size_t TotalBytes() const;
  // Offsets of one past the last byte touched, and of the first (0 or negative).
  std::ptrdiff_t SrcEnd() const;
  std::ptrdiff_t DstEnd() const;
  std::ptrdiff_t SrcBegin() const;
  std::ptrdiff_t DstBegin() const;
  std::string Text() const;
};

Plan ContiguousPlan(std::size_t bytes);
// 4 (int) or 8 (long) bytes through the value calls.
Plan ValuePlan(std::size_t bytes);
// count.size() == strides.size() + 1.
Plan StridedPlan(std::vector<int> count, std::vector<int> src_stride, std::vector<int> dst_stride);
// One descriptor of equal segments for every inner list.
Plan VectorPlan(const std::vector<std::vector<Segment>>& descriptors);

// About `bytes` in the given shape, every length and offset a multiple of `unit`: strided and vector plans have holes
// on both sides. Deterministic.
Plan PlanOfSize(Shape shape, std::size_t bytes, std::size_t unit);
// Random plan with disjoint destination segments; extents stay below `extent` on both sides (>= 4096).
Plan RandomPlan(Rng* rng, Shape shape, std::size_t extent, std::size_t unit);

// The six accumulate types.
struct AccType {
  int code;
  const char* name;
  std::size_t bytes;
  std::size_t align;
};
inline constexpr AccType kAccTypes[] = {{ARMCI_ACC_INT, "int", 4, 4},     {ARMCI_ACC_LNG, "long", 8, 8},
                                        {ARMCI_ACC_FLT, "float", 4, 4},   {ARMCI_ACC_DBL, "double", 8, 8},
                                        {ARMCI_ACC_CPL, "complex", 8, 4}, {ARMCI_ACC_DCP, "dcomplex", 16, 8}};

// The effect of a serial program, on local images of the two memories.
void ModelCopy(const Plan& plan, const char* src, char* dst);
void ModelAcc(const Plan& plan, const AccType& type, const void* scale, const char* src, char* dst);
// Fills with elements of the type, small whole numbers: sums and products of a few stay exact.
void FillElements(Rng* rng, const AccType& type, char* to, std::size_t bytes);
// A small whole non-zero scale (complex: both parts) in 16 bytes.
struct Scale {
  alignas(16) char bytes[16];
};
Scale SmallScale(Rng* rng, const AccType& type);
Scale UnitScale(const AccType& type);

class TransferCalls;

// One call in flight, and noted as such while it is (see pending.h). Owns the pointer arrays, which stay in place until
// the object dies.
class Transfer {
 public:
  // Value calls are classic.
  Transfer(const Plan& plan, Op op, Mode mode, Width width = Width::kClassic);
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  // Only for Op::kAcc.
  void SetAcc(const AccType& type, const Scale& scale);
  // For put and acc: src is local and dst remote; for get the other way round. Returns the call's result.
  int Start(char* src, char* dst, int proc);
  // With the handle of the caller, for several transfers on one handle.
  int StartOn(armci_hdl_t* handle, char* src, char* dst, int proc);
  // Local completion; a no-op for blocking calls.
  int Wait();

 private:
  int Call(armci_hdl_t* handle, char* src, char* dst);
  int Value(char* src, char* dst, armci_hdl_t* handle);

  const Plan& plan_;
  const Op op_;
  const Mode mode_;
  const Width width_;
  const std::size_t total_bytes_;
  const std::unique_ptr<TransferCalls> calls_;
  int type_ = 0;
  Scale scale_{};
  int proc_ = 0;
  armci_hdl_t handle_{};
  PendingNote note_;
};

// Start and Wait in one.
int Move(const Plan& plan, Op op, Mode mode, char* src, char* dst, int proc, Width width = Width::kClassic);

}  // namespace conformance

#endif  // CONFORMANCE_HARNESS_PLAN_H_
