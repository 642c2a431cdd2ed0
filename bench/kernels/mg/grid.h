// Distribution of the grids of the NAS multigrid benchmark (MG) over processes, and layout of a part in memory.
//
// Level l is a periodic cube of 2^l points a side. It is cut into equal boxes, the last axis first, so that each
// process has a box of each level; the coarsest has 2 points a side, and so at most 2 processes share an axis.
//
// A box is stored with one ghost point on each side: index 0 and n + 1 of an axis; axis 0 is contiguous.
//
// Thread safety: values.
#ifndef ARMCI_BENCH_KERNELS_MG_GRID_H_
#define ARMCI_BENCH_KERNELS_MG_GRID_H_

#include <array>
#include <cstddef>
#include <vector>

namespace armci::bench::mg {

inline constexpr int kProcessesMax = 8;

struct Extent {
  std::array<int, 3> n;  // points of the box, without ghosts

  size_t row() const { return static_cast<size_t>(n[0]) + 2; }
  size_t plane() const { return row() * (static_cast<size_t>(n[1]) + 2); }
  size_t points() const { return plane() * (static_cast<size_t>(n[2]) + 2); }
  size_t step(int axis) const { return axis == 0 ? 1 : axis == 1 ? row() : plane(); }
};

// The points of a box with one index along an axis. Along the axes before it ghosts are included, since they have come;
// along those after it they are not.
struct Face {
  size_t begin;  // where the first run of points begins
  size_t run;    // points that lie together
  std::array<int, 2> counts;
  std::array<size_t, 2> steps;

  size_t points() const { return run * static_cast<size_t>(counts[0]) * static_cast<size_t>(counts[1]); }
};

Face FaceOf(const Extent& box, int axis, int index);
// Both by Face::points() of doubles.
void Pack(const double* field, const Face& face, double* packed);
void Unpack(const double* packed, const Face& face, double* field);
// Between two of the same axis.
void CopyFace(double* field, const Face& from, const Face& to);

class Decomposition {
 public:
  // Whether so many processes can share the grids.
  static bool Fits(int processes);

  Decomposition(int rank, int processes);

  int share(int axis) const { return share_[Index(axis)]; }
  // The process with the box next to ours; the process itself where its box has the whole axis.
  int Below(int axis) const { return Neighbour(axis, -1); }
  int Above(int axis) const { return Neighbour(axis, +1); }
  Extent Box(int level) const;
  // Of the first point of our box.
  std::array<int, 3> Origin(int level) const;

 private:
  static size_t Index(int axis) { return static_cast<size_t>(axis); }
  int Neighbour(int axis, int step) const;

  std::array<int, 3> share_ = {1, 1, 1};
  std::array<int, 3> at_ = {0, 0, 0};
};

// Where the levels of one field lie in its memory, in doubles.
class Levels {
 public:
  Levels(const Decomposition& parts, int finest);

  int finest() const { return static_cast<int>(boxes_.size()); }
  const Extent& box(int level) const { return boxes_[static_cast<size_t>(level) - 1]; }
  size_t begin(int level) const { return begins_[static_cast<size_t>(level) - 1]; }
  size_t points() const { return points_; }

 private:
  std::vector<Extent> boxes_;
  std::vector<size_t> begins_;
  size_t points_ = 0;
};

}  // namespace armci::bench::mg

#endif  // ARMCI_BENCH_KERNELS_MG_GRID_H_
