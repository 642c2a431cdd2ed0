#include "bench/kernels/mg/stencil.h"

#include <vector>

namespace armci::bench::mg {
namespace {

constexpr double kCentre = -8.0 / 3;
constexpr double kEdge = 1.0 / 6;
constexpr double kCorner = 1.0 / 12;

// Sums over the 4 points beside a point and the 4 across an edge in the plane of axes 1 and 2, for a whole row: each is
// used three times along the row.
struct Ring {
  std::vector<double> beside;
  std::vector<double> across;

  explicit Ring(size_t row) : beside(row), across(row) {}

  void Sum(const double* centre, size_t row, size_t plane) {
    const double* const below = centre - row;
    const double* const above = centre + row;
    double* const sides = beside.data();
    double* const edges = across.data();
    for (size_t i = 0; i < beside.size(); ++i) {
      sides[i] = below[i] + above[i] + (centre - plane)[i] + (centre + plane)[i];
      edges[i] = (below - plane)[i] + (above - plane)[i] + (below + plane)[i] + (above + plane)[i];
    }
  }
};

template <typename Body>
void ForEachRow(const Extent& box, Body body) {
  for (int k = 1; k <= box.n[2]; ++k) {
    for (int j = 1; j <= box.n[1]; ++j) {
      body(static_cast<size_t>(k) * box.plane() + static_cast<size_t>(j) * box.row());
    }
  }
}

}  // namespace

void Residual(const Extent& box, const double* u, const double* v, double* r) {
  Ring ring(box.row());
  const int n = box.n[0];
  ForEachRow(box, [&](size_t at) {
    ring.Sum(u + at, box.row(), box.plane());
    const double* const beside = ring.beside.data();
    const double* const across = ring.across.data();
    for (int i = 1; i <= n; ++i) {
      r[at + i] = v[at + i] - kCentre * u[at + i] - kEdge * (across[i] + beside[i - 1] + beside[i + 1]) -
                  kCorner * (across[i - 1] + across[i + 1]);
    }
  });
}

void Smooth(const Extent& box, const Smoother& s, const double* r, Store store, double* u) {
  Ring ring(box.row());
  const int n = box.n[0];
  const double kept = store == Store::kAdd ? 1 : 0;
  ForEachRow(box, [&](size_t at) {
    ring.Sum(r + at, box.row(), box.plane());
    const double* const beside = ring.beside.data();
    const double* const across = ring.across.data();
    const double* const row = r + at;
    for (int i = 1; i <= n; ++i) {
      u[at + i] = kept * u[at + i] + s.centre * row[i] + s.side * (row[i - 1] + row[i + 1] + beside[i]) +
                  s.edge * (across[i] + beside[i - 1] + beside[i + 1]);
    }
  });
}

void Restrict(const Extent& coarse_box, const double* fine, const Extent& fine_box, double* coarse) {
  Ring ring(fine_box.row());
  for (int k = 1; k <= coarse_box.n[2]; ++k) {
    for (int j = 1; j <= coarse_box.n[1]; ++j) {
      const double* const row =
          fine + 2 * static_cast<size_t>(k) * fine_box.plane() + 2 * static_cast<size_t>(j) * fine_box.row();
      ring.Sum(row, fine_box.row(), fine_box.plane());
      const std::vector<double>& beside = ring.beside;
      const std::vector<double>& across = ring.across;
      double* const to =
          coarse + static_cast<size_t>(k) * coarse_box.plane() + static_cast<size_t>(j) * coarse_box.row();
      for (int i = 1; i <= coarse_box.n[0]; ++i) {
        const auto f = static_cast<size_t>(2 * i);
        to[i] = row[f] / 2 + (row[f - 1] + row[f + 1] + beside[f]) / 4 +
                (beside[f - 1] + beside[f + 1] + across[f]) / 8 + (across[f - 1] + across[f + 1]) / 16;
      }
    }
  }
}

void Prolong(const Extent& coarse_box, const double* coarse, const Extent& fine_box, Store store, double* fine) {
  const size_t row = coarse_box.row();
  const size_t plane = coarse_box.plane();
  const double kept = store == Store::kAdd ? 1 : 0;
  std::vector<double> mean(row);
  for (int k = 0; k <= fine_box.n[2] + 1; ++k) {
    for (int j = 0; j <= fine_box.n[1] + 1; ++j) {
      // A row of the fine grid lies on 1 row of the coarse one, or between 2 or 4.
      const double* const from = coarse + static_cast<size_t>(k / 2) * plane + static_cast<size_t>(j / 2) * row;
      const size_t up = k % 2 == 0 ? 0 : plane;
      const size_t over = j % 2 == 0 ? 0 : row;
      for (size_t i = 0; i < row; ++i) {
        mean[i] = (from[i] + from[i + over] + from[i + up] + from[i + up + over]) / 4;
      }
      double* const to = fine + static_cast<size_t>(k) * fine_box.plane() + static_cast<size_t>(j) * fine_box.row();
      for (size_t i = 0; i + 1 < row; ++i) {
        to[2 * i] = kept * to[2 * i] + mean[i];
        to[2 * i + 1] = kept * to[2 * i + 1] + (mean[i] + mean[i + 1]) / 2;
      }
    }
  }
}

double SumOfSquares(const Extent& box, const double* r) {
  double sum = 0;
  ForEachRow(box, [&](size_t at) {
    for (int i = 1; i <= box.n[0]; ++i) sum += r[at + i] * r[at + i];
  });
  return sum;
}

}  // namespace armci::bench::mg
