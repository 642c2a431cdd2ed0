#include "bench/kernels/mg/grid.h"

#include <algorithm>

namespace armci::bench::mg {
namespace {

template <typename Body>
void ForEachRun(const Face& face, Body body) {
  for (int k = 0; k < face.counts[1]; ++k) {
    for (int j = 0; j < face.counts[0]; ++j) {
      body(face.begin + static_cast<size_t>(k) * face.steps[1] + static_cast<size_t>(j) * face.steps[0]);
    }
  }
}

}  // namespace

Face FaceOf(const Extent& box, int axis, int index) {
  const size_t at = static_cast<size_t>(index) * box.step(axis);
  switch (axis) {
    case 0:
      return {at + box.row() + box.plane(), 1, {box.n[1], box.n[2]}, {box.row(), box.plane()}};
    case 1:
      return {at + box.plane(), box.row(), {1, box.n[2]}, {0, box.plane()}};
    default:
      return {at, box.plane(), {1, 1}, {0, 0}};
  }
}

void Pack(const double* field, const Face& face, double* packed) {
  ForEachRun(face, [&](size_t at) { packed = std::copy_n(field + at, face.run, packed); });
}

void Unpack(const double* packed, const Face& face, double* field) {
  ForEachRun(face, [&](size_t at) {
    std::copy_n(packed, face.run, field + at);
    packed += face.run;
  });
}

void CopyFace(double* field, const Face& from, const Face& to) {
  ForEachRun(from, [&](size_t at) { std::copy_n(field + at, from.run, field + (at - from.begin + to.begin)); });
}

bool Decomposition::Fits(int processes) {
  return processes >= 1 && processes <= kProcessesMax && (processes & (processes - 1)) == 0;
}

Decomposition::Decomposition(int rank, int processes) {
  int axis = 2;
  for (int parts = processes; parts > 1; parts /= 2) share_[Index(axis--)] = 2;
  for (size_t i = 0; i < 3; ++i) {
    at_[i] = rank % share_[i];
    rank /= share_[i];
  }
}

int Decomposition::Neighbour(int axis, int step) const {
  std::array<int, 3> at = at_;
  at[Index(axis)] = (at[Index(axis)] + step + share(axis)) % share(axis);
  return at[0] + share_[0] * (at[1] + share_[1] * at[2]);
}

Extent Decomposition::Box(int level) const {
  Extent box = {};
  for (size_t i = 0; i < 3; ++i) box.n[i] = (1 << level) / share_[i];
  return box;
}

std::array<int, 3> Decomposition::Origin(int level) const {
  const Extent box = Box(level);
  std::array<int, 3> origin = {};
  for (size_t i = 0; i < 3; ++i) origin[i] = at_[i] * box.n[i];
  return origin;
}

Levels::Levels(const Decomposition& parts, int finest) {
  constexpr size_t kAlignment = 8;  // a cache line
  for (int level = 1; level <= finest; ++level) {
    boxes_.push_back(parts.Box(level));
    begins_.push_back(points_);
    points_ += (boxes_.back().points() + kAlignment - 1) / kAlignment * kAlignment;
  }
}

}  // namespace armci::bench::mg
