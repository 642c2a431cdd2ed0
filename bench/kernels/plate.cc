#include "bench/kernels/plate.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "bench/kernels/blocks.h"
#include "bench/kernels/draw.h"

namespace armci::bench {
namespace {

constexpr int kThickness = 3;
constexpr int kPerNode = 2;
constexpr double kMass = 0.5;
constexpr double kCoupling[kPerNode][kPerNode] = {{2, 0.5}, {0.5, 1}};

// Stiffness and mass of linear elements along one axis, assembled.
struct Axis {
  long nodes;
  double length;  // of an element

  double Stiffness(long node, long other) const { return node == other ? Elements(node) / length : -1 / length; }
  double Mass(long node, long other) const { return node == other ? Elements(node) * length / 3 : length / 6; }

 private:
  double Elements(long node) const { return (node > 0 ? 1 : 0) + (node + 1 < nodes ? 1 : 0); }
};

using Place = std::array<long, 3>;

class Grid {
 public:
  explicit Grid(const Plate& plate)
      : nodes_((plate.unknowns + kPerNode - 1) / kPerNode),
        width_(plate.width),
        // The plate goes on for a slice of fixed nodes, so that even one node is part of an element. Lengths that
        // differ, so that no two contributions to an entry cancel.
        axes_{Axis{nodes_ / (kThickness * width_) + 2, 1}, Axis{width_, 0.75}, Axis{kThickness, 0.5}} {}

  long nodes() const { return nodes_; }
  long Number(const Place& at) const { return (at[0] * width_ + at[1]) * kThickness + at[2]; }
  Place At(long number) const {
    const long column = number / kThickness;
    return {column / width_, column % width_, number % kThickness};
  }

  // Calls with every node that shares an element with `node`, itself too.
  template <typename Body>
  void ForNeighbours(long node, Body body) const {
    const Place at = At(node);
    for (int step = 0; step < 27; ++step) {
      const Place other = {at[0] + step / 9 - 1, at[1] + step / 3 % 3 - 1, at[2] + step % 3 - 1};
      bool exists = true;
      for (size_t d = 0; d < 3; ++d) exists = exists && other[d] >= 0 && other[d] < axes_[d].nodes;
      if (exists && Number(other) < nodes_) body(Number(other), Entry(at, other));
    }
  }

 private:
  double Entry(const Place& at, const Place& other) const {
    double k[3];
    double m[3];
    for (size_t d = 0; d < 3; ++d) {
      k[d] = axes_[d].Stiffness(at[d], other[d]);
      m[d] = axes_[d].Mass(at[d], other[d]);
    }
    return k[0] * m[1] * m[2] + m[0] * k[1] * m[2] + m[0] * m[1] * k[2] + kMass * m[0] * m[1] * m[2];
  }

  long nodes_;
  long width_;
  std::array<Axis, 3> axes_;
};

// old number of each new one
std::vector<long> ShuffledInSlabs(const Plate& plate, long nodes) {
  std::vector<long> old_of_new(static_cast<size_t>(nodes));
  std::iota(old_of_new.begin(), old_of_new.end(), 0);
  Draw draw(plate.seed);
  const Blocks slabs = {nodes, plate.slabs};
  for (int slab = 0; slab < plate.slabs; ++slab) {
    draw.Shuffle(old_of_new, static_cast<size_t>(slabs.begin(slab)), static_cast<size_t>(slabs.begin(slab + 1)));
  }
  return old_of_new;
}

}  // namespace

SparseMatrix MakePlate(const Plate& plate) {
  const Grid grid(plate);
  const std::vector<long> old_of_new = ShuffledInSlabs(plate, grid.nodes());
  std::vector<long> new_of_old(old_of_new.size());
  for (size_t i = 0; i < old_of_new.size(); ++i) new_of_old[static_cast<size_t>(old_of_new[i])] = static_cast<long>(i);
  SparseMatrix matrix;
  matrix.columns = plate.unknowns;
  std::vector<std::pair<long, double>> neighbours;
  for (long row = 0; row < plate.unknowns; ++row) {
    neighbours.clear();
    grid.ForNeighbours(old_of_new[static_cast<size_t>(row / kPerNode)], [&](long node, double entry) {
      neighbours.emplace_back(new_of_old[static_cast<size_t>(node)], entry);
    });
    std::sort(neighbours.begin(), neighbours.end());
    for (const auto& [node, entry] : neighbours) {
      for (int unknown = 0; unknown < kPerNode; ++unknown) {
        if (kPerNode * node + unknown >= plate.unknowns) continue;
        matrix.column.push_back(static_cast<int>(kPerNode * node + unknown));
        matrix.value.push_back(kCoupling[row % kPerNode][unknown] * entry);
      }
    }
    matrix.row_begin.push_back(static_cast<long>(matrix.column.size()));
  }
  return matrix;
}

}  // namespace armci::bench
