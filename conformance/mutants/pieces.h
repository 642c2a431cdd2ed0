// Transfers of any shape as lists of contiguous pieces, so that a defect is written once for all shapes.
#ifndef CONFORMANCE_MUTANTS_PIECES_H_
#define CONFORMANCE_MUTANTS_PIECES_H_

#include <cstddef>
#include <vector>

#include "conformance/mutants/calls.h"

namespace conformance::mutants {

struct Piece {
  char* src;
  char* dst;
  std::size_t bytes;
};

enum class Form { kContiguous, kStrided, kVector, kValue };

// A put, get or accumulate. The memory at src of a value put ends with the call.
struct Move {
  Form form;
  bool blocking;
  int proc;
  std::vector<Piece> pieces = {};
  armci_hdl_t* handle = nullptr;
  // Accumulates only.
  int datatype = -1;
  void* scale = nullptr;

  std::size_t TotalBytes() const;
};

// Has every put (of any shape, blocking or not) of the classic interface done by `put`, which returns its result. A
// call that is done at once needs nothing of its handle.
void RoutePuts(Calls* calls, int (*put)(const Move& move));
// The same for gets, except the value ones, and for accumulates.
void RouteGets(Calls* calls, int (*get)(const Move& move));
void RouteAccumulates(Calls* calls, int (*accumulate)(const Move& move));

// The right library's transfers, piece by piece; the first result that is not 0.
int RightPut(const Move& move);
int RightGet(const Move& move);
int RightAccumulate(const Move& move);

std::vector<Piece> StridedPieces(void* src, const int* src_stride, void* dst, const int* dst_stride, const int* count,
                                 int stride_levels);
std::vector<Piece> VectorPieces(const armci_giov_t* iov, int len);

}  // namespace conformance::mutants

#endif  // CONFORMANCE_MUTANTS_PIECES_H_
