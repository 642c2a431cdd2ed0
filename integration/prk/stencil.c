/* stencil - a star of radius 2 over a square grid that is cut into blocks in both directions.
 *
 * Each sweep adds the weighted neighbours of every inner point of `in` to `out`, and 1 to `in`. A process puts the
 * edges of its block into its neighbours by strided puts, and a notification behind them. There are two sets of edges:
 * a neighbour can be one sweep ahead, and no more, since it needs an edge of ours for each.
 *
 * Run: mpirun -n 4 ./stencil ITERATIONS ORDER
 */
#include "prk.h"

enum { kRadius = 2, kLeft = 0, kRight = 1, kBelow = 2, kAbove = 3, kSides = 4 };

typedef struct {
  long order, x0, y0, width, height, pitch;
  int neighbour[kSides]; /* -1: none */
} block;

static block block_of(long order, int rank) {
  int across = 1;
  for (int k = 1; k * k <= nproc; ++k) {
    if (nproc % k == 0) across = k;
  }
  const int up = nproc / across, x = rank % across, y = rank / across;
  block made = {order, begin_of(order, across, x), begin_of(order, up, y), 0, 0, 0, {-1, -1, -1, -1}};
  made.width = begin_of(order, across, x + 1) - made.x0;
  made.height = begin_of(order, up, y + 1) - made.y0;
  made.pitch = made.width + 2 * kRadius;
  if (x > 0) made.neighbour[kLeft] = rank - 1;
  if (x + 1 < across) made.neighbour[kRight] = rank + 1;
  if (y > 0) made.neighbour[kBelow] = rank - across;
  if (y + 1 < up) made.neighbour[kAbove] = rank + across;
  return made;
}

/* Where the edges that come from a side lie in the memory that others write, in doubles. */
static long edge_at(const block *of, int side, int set) {
  const long columns = kRadius * of->height, rows = kRadius * of->width;
  const long offset[kSides] = {0, columns, 2 * columns, 2 * columns + rows};
  return set * 2 * (columns + rows) + offset[side];
}

static void send_edges(const block *mine, double *in, void **part, int set) {
  for (int side = 0; side < kSides; ++side) {
    const int to = mine->neighbour[side];
    if (to < 0) continue;
    const block theirs = block_of(mine->order, to);
    const int upright = side == kLeft || side == kRight;
    const long x = side == kRight ? mine->width - kRadius : 0, y = side == kAbove ? mine->height - kRadius : 0;
    const long columns = upright ? kRadius : mine->width, rows = upright ? mine->height : kRadius;
    int src_stride = (int)((size_t)mine->pitch * sizeof(double)), dst_stride = (int)((size_t)columns * sizeof(double));
    int size[2] = {dst_stride, (int)rows};
    /* Our right neighbour receives at its left. */
    double *there = (double *)part[to] + edge_at(&theirs, side ^ 1, set);
    check(ARMCI_NbPutS(in + (y + kRadius) * mine->pitch + x + kRadius, &src_stride, there, &dst_stride, size, 1, to,
                       NULL),
          "ARMCI_NbPutS");
    armci_notify(to);
  }
}

static void receive_edges(const block *mine, double *in, const double *edges, int set) {
  for (int side = 0; side < kSides; ++side) {
    if (mine->neighbour[side] < 0) continue;
    int count = 0;
    armci_notify_wait(mine->neighbour[side], &count);
    const int upright = side == kLeft || side == kRight;
    const long columns = upright ? kRadius : mine->width, rows = upright ? mine->height : kRadius;
    const long x = side == kLeft ? 0 : side == kRight ? mine->width + kRadius : kRadius;
    const long y = side == kBelow ? 0 : side == kAbove ? mine->height + kRadius : kRadius;
    for (long row = 0; row < rows; ++row) {
      memcpy(in + (y + row) * mine->pitch + x, edges + edge_at(mine, side, set) + row * columns,
             (size_t)columns * sizeof(double));
    }
  }
}

static void sweep(const block *mine, const double *in, double *out) {
  for (long y = 0; y < mine->height; ++y) {
    if (mine->y0 + y < kRadius || mine->y0 + y >= mine->order - kRadius) continue;
    for (long x = 0; x < mine->width; ++x) {
      if (mine->x0 + x < kRadius || mine->x0 + x >= mine->order - kRadius) continue;
      const double *at = in + (y + kRadius) * mine->pitch + x + kRadius;
      double sum = 0.0;
      for (long k = 1; k <= kRadius; ++k) {
        sum += (at[k] - at[-k] + at[k * mine->pitch] - at[-k * mine->pitch]) / (double)(2 * k * kRadius);
      }
      out[y * mine->width + x] += sum;
    }
  }
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  const char *usage = "ITERATIONS ORDER";
  const long iterations = argument(argc, argv, 1, 1, LONG_MAX, usage);
  const long order = argument(argc, argv, 2, (long)kRadius * 2 * nproc + 1, INT_MAX, usage);
  const block mine = block_of(order, me);
  void **part = shared((size_t)(4 * kRadius * (mine.width + mine.height)) * sizeof(double));
  double *in = allocate((size_t)(mine.pitch * (mine.height + 2 * kRadius)) * sizeof(double));
  double *out = allocate((size_t)(mine.width * mine.height) * sizeof(double));
  for (long y = 0; y < mine.height; ++y) {
    for (long x = 0; x < mine.width; ++x) {
      in[(y + kRadius) * mine.pitch + x + kRadius] = (double)(mine.x0 + x + mine.y0 + y);
    }
  }
  double began = 0.0;
  for (long iteration = 0; iteration <= iterations; ++iteration) {
    begin_sweep(iteration, &began);
    send_edges(&mine, in, part, (int)(iteration % 2));
    receive_edges(&mine, in, part[me], (int)(iteration % 2));
    check(ARMCI_WaitAll(), "ARMCI_WaitAll"); /* the sweep changes what was sent */
    sweep(&mine, in, out);
    for (long y = 0; y < mine.height; ++y) {
      for (long x = 0; x < mine.width; ++x) in[(y + kRadius) * mine.pitch + x + kRadius] += 1.0;
    }
  }
  const double average = greatest(MPI_Wtime() - began) / (double)iterations;
  const double points = (double)(order - 2 * kRadius) * (double)(order - 2 * kRadius);
  double norm = 0.0;
  for (long k = 0; k < mine.width * mine.height; ++k) norm += fabs(out[k]);
  armci_msg_dgop(&norm, 1, "+");
  ARMCI_Barrier();
  check(ARMCI_Free(part[me]), "ARMCI_Free");
  free(in);
  free(out);
  free(part);
  const double flops = (double)(2 * (4 * kRadius + 1) + 1) * points;
  return finish(norm / points, 2.0 * (double)(iterations + 1), 1e-8, 1e-6 * flops / average, "MFlops/s", average);
}
