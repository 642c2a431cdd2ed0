#include <algorithm>
#include <memory>

#include "bench/kernels/mg/ghosts.h"

namespace armci::bench::mg {
namespace {

class MessageGhosts : public Ghosts {
 public:
  MessageGhosts(MPI_Comm comm, const Decomposition& parts, size_t doubles, const Extent& finest)
      : comm_(comm), parts_(parts), memory_(doubles) {
    size_t largest = 0;
    for (int axis = 0; axis < 3; ++axis) largest = std::max(largest, FaceOf(finest, axis, 1).points());
    for (std::vector<double>* buffer : {&out_[0], &out_[1], &in_[0], &in_[1]}) buffer->resize(largest);
  }

  double* memory() override { return memory_.data(); }

  void Exchange(size_t at, const Extent& box) override {
    for (int axis = 0; axis < 3; ++axis) ExchangeAlong(axis, memory_.data() + at, box);
  }

 private:
  // Tags: which way it goes.
  static constexpr int kDown = 0;
  static constexpr int kUp = 1;

  void ExchangeAlong(int axis, double* field, const Extent& box) {
    const int n = box.n[static_cast<size_t>(axis)];
    const Face first = FaceOf(box, axis, 1);
    const int count = static_cast<int>(first.points());
    if (parts_.share(axis) == 1) {
      CopyFace(field, first, FaceOf(box, axis, n + 1));
      CopyFace(field, FaceOf(box, axis, n), FaceOf(box, axis, 0));
      return;
    }
    const int below = parts_.Below(axis);
    const int above = parts_.Above(axis);
    std::array<MPI_Request, 4> requests;
    MPI_Irecv(in_[kDown].data(), count, MPI_DOUBLE, above, kDown, comm_, &requests[0]);
    MPI_Irecv(in_[kUp].data(), count, MPI_DOUBLE, below, kUp, comm_, &requests[1]);
    Pack(field, first, out_[kDown].data());
    MPI_Isend(out_[kDown].data(), count, MPI_DOUBLE, below, kDown, comm_, &requests[2]);
    Pack(field, FaceOf(box, axis, n), out_[kUp].data());
    MPI_Isend(out_[kUp].data(), count, MPI_DOUBLE, above, kUp, comm_, &requests[3]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    Unpack(in_[kDown].data(), FaceOf(box, axis, n + 1), field);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    Unpack(in_[kUp].data(), FaceOf(box, axis, 0), field);
    MPI_Waitall(2, &requests[2], MPI_STATUSES_IGNORE);
  }

  MPI_Comm comm_;
  Decomposition parts_;
  std::vector<double> memory_;
  std::array<std::vector<double>, 2> out_;
  std::array<std::vector<double>, 2> in_;
};

}  // namespace

std::unique_ptr<Ghosts> MakeMessageGhosts(MPI_Comm comm, const Decomposition& parts, size_t doubles,
                                          const Extent& finest) {
  return std::make_unique<MessageGhosts>(comm, parts, doubles, finest);
}

}  // namespace armci::bench::mg
