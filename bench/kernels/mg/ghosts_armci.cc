// No process writes ghosts that their owner still needs: before it writes those of a field, it has had the owner's
// faces of the field exchanged in between, which the owner sent after its last use of the ghosts. Packed faces come
// into one of two buffers by turns for the same reason.
#include <algorithm>
#include <memory>

#include "armci.h"
#include "bench/kernels/mg/ghosts.h"
#include "bench/session/session.h"

namespace armci::bench::mg {
namespace {

class ArmciGhosts : public Ghosts {
 public:
  ArmciGhosts(const Session& session, const Decomposition& parts, size_t doubles, const Extent& finest)
      : parts_(parts),
        rank_(session.rank()),
        doubles_(doubles),
        packed_max_(FaceOf(finest, 0, 1).points()),
        region_(session, (doubles + kPackedFaces * packed_max_) * sizeof(double)) {
    std::fill_n(memory(), doubles + kPackedFaces * packed_max_, 0.0);
    for (std::vector<double>& buffer : out_) buffer.resize(packed_max_);
    ARMCI_Barrier();
  }
  ~ArmciGhosts() override { ARMCI_Barrier(); }

  double* memory() override { return On(rank_); }

  void Exchange(size_t at, const Extent& box) override {
    for (int axis = 0; axis < 3; ++axis) ExchangeAlong(axis, at, box);
    ARMCI_WaitAll();
    turn_ = 1 - turn_;
  }

 private:
  static constexpr size_t kPackedFaces = 4;  // one for each way and turn
  enum Way : size_t { kDown = 0, kUp = 1 };

  double* On(int process) const { return reinterpret_cast<double*>(region_.on(process)); }
  // Where packed faces that go that way come to, in memory().
  size_t Packed(Way way) const { return doubles_ + (2 * turn_ + way) * packed_max_; }

  void ExchangeAlong(int axis, size_t at, const Extent& box) {
    const int n = box.n[static_cast<size_t>(axis)];
    const Face first = FaceOf(box, axis, 1);
    const Face last = FaceOf(box, axis, n);
    const Face ghost_below = FaceOf(box, axis, 0);
    const Face ghost_above = FaceOf(box, axis, n + 1);
    if (parts_.share(axis) == 1) {
      CopyFace(memory() + at, first, ghost_above);
      CopyFace(memory() + at, last, ghost_below);
      return;
    }
    const int below = parts_.Below(axis);
    const int above = parts_.Above(axis);
    Send(kDown, at, first, ghost_above, below);
    Send(kUp, at, last, ghost_below, above);
    Await(above);
    Await(below);
    if (axis > 0) return;
    Unpack(memory() + Packed(kDown), ghost_above, memory() + at);
    Unpack(memory() + Packed(kUp), ghost_below, memory() + at);
  }

  // After the wait for the notification the process sees the data that were put before it [ORD-6].
  void Send(Way way, size_t at, const Face& from, const Face& to, int process) {
    double* const here = memory() + at;
    double* const there = On(process) + at;
    if (from.run == 1) {
      Pack(here, from, out_[way].data());
      ARMCI_NbPut(out_[way].data(), On(process) + Packed(way), Bytes(from.points()), process, nullptr);
    } else if (from.counts[1] == 1) {
      ARMCI_NbPut(here + from.begin, there + to.begin, Bytes(from.run), process, nullptr);
    } else {
      int stride[] = {Bytes(from.steps[1])};
      int count[] = {Bytes(from.run), from.counts[1]};
      ARMCI_NbPutS(here + from.begin, stride, there + to.begin, stride, count, 1, process, nullptr);
    }
    armci_notify(process);
  }

  static void Await(int process) {
    int count = 0;
    armci_notify_wait(process, &count);
  }

  static int Bytes(size_t doubles) { return static_cast<int>(doubles * sizeof(double)); }

  Decomposition parts_;
  int rank_;
  size_t doubles_;
  size_t packed_max_;
  size_t turn_ = 0;
  Region region_;
  std::array<std::vector<double>, 2> out_;
};

}  // namespace

std::unique_ptr<Ghosts> MakeArmciGhosts(const Session& session, const Decomposition& parts, size_t doubles,
                                        const Extent& finest) {
  return std::make_unique<ArmciGhosts>(session, parts, doubles, finest);
}

}  // namespace armci::bench::mg
