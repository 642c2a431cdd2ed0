#include "conformance/mutants/pieces.h"

#include <numeric>

namespace conformance::mutants {
namespace {

int (*put_route)(const Move& move) = nullptr;
int (*get_route)(const Move& move) = nullptr;
int (*accumulate_route)(const Move& move) = nullptr;

Move Contiguous(void* src, void* dst, int bytes, int proc, armci_hdl_t* handle, bool blocking) {
  return {Form::kContiguous,
          blocking,
          proc,
          {{static_cast<char*>(src), static_cast<char*>(dst), static_cast<std::size_t>(bytes)}},
          handle};
}

template <typename T>
int PutValue(T value, void* dst, int proc, armci_hdl_t* handle, bool blocking) {
  Move move = Contiguous(&value, dst, sizeof value, proc, handle, blocking);
  move.form = Form::kValue;
  return put_route(move);
}

Move WithScale(Move move, int datatype, void* scale) {
  move.datatype = datatype;
  move.scale = scale;
  return move;
}

void RouteBlockingPuts(Calls* calls) {
  calls->ARMCI_Put = [](void* src, void* dst, int bytes, int proc) {
    return put_route(Contiguous(src, dst, bytes, proc, nullptr, true));
  };
  calls->ARMCI_PutS = [](void* src, int* src_stride, void* dst, int* dst_stride, int* count, int levels, int proc) {
    return put_route({Form::kStrided, true, proc, StridedPieces(src, src_stride, dst, dst_stride, count, levels)});
  };
  calls->ARMCI_PutV = [](armci_giov_t* iov, int len, int proc) {
    return put_route({Form::kVector, true, proc, VectorPieces(iov, len)});
  };
  calls->ARMCI_PutValueInt = [](int value, void* dst, int proc) { return PutValue(value, dst, proc, nullptr, true); };
  calls->ARMCI_PutValueLong = [](long value, void* dst, int proc) { return PutValue(value, dst, proc, nullptr, true); };
  calls->ARMCI_PutValueFloat = [](float value, void* dst, int proc) {
    return PutValue(value, dst, proc, nullptr, true);
  };
  calls->ARMCI_PutValueDouble = [](double value, void* dst, int proc) {
    return PutValue(value, dst, proc, nullptr, true);
  };
}

void RouteNonblockingPuts(Calls* calls) {
  calls->ARMCI_NbPut = [](void* src, void* dst, int bytes, int proc, armci_hdl_t* hdl) {
    return put_route(Contiguous(src, dst, bytes, proc, hdl, false));
  };
  calls->ARMCI_NbPutS = [](void* src, int* src_stride, void* dst, int* dst_stride, int* count, int levels, int proc,
                           armci_hdl_t* hdl) {
    return put_route(
        {Form::kStrided, false, proc, StridedPieces(src, src_stride, dst, dst_stride, count, levels), hdl});
  };
  calls->ARMCI_NbPutV = [](armci_giov_t* iov, int len, int proc, armci_hdl_t* hdl) {
    return put_route({Form::kVector, false, proc, VectorPieces(iov, len), hdl});
  };
  calls->ARMCI_NbPutValueInt = [](int value, void* dst, int proc, armci_hdl_t* hdl) {
    return PutValue(value, dst, proc, hdl, false);
  };
  calls->ARMCI_NbPutValueLong = [](long value, void* dst, int proc, armci_hdl_t* hdl) {
    return PutValue(value, dst, proc, hdl, false);
  };
  calls->ARMCI_NbPutValueFloat = [](float value, void* dst, int proc, armci_hdl_t* hdl) {
    return PutValue(value, dst, proc, hdl, false);
  };
  calls->ARMCI_NbPutValueDouble = [](double value, void* dst, int proc, armci_hdl_t* hdl) {
    return PutValue(value, dst, proc, hdl, false);
  };
}

// One piece at a time: what a piece is made of does not matter to the right library.
template <typename Function>
int ForEachPiece(const Move& move, Function function) {
  for (const Piece& piece : move.pieces) {
    if (const int code = function(piece); code != 0) return code;
  }
  return 0;
}

}  // namespace

std::size_t Move::TotalBytes() const {
  return std::accumulate(pieces.begin(), pieces.end(), std::size_t{0},
                         [](std::size_t sum, const Piece& piece) { return sum + piece.bytes; });
}

void RoutePuts(Calls* calls, int (*put)(const Move& move)) {
  put_route = put;
  RouteBlockingPuts(calls);
  RouteNonblockingPuts(calls);
}

void RouteGets(Calls* calls, int (*get)(const Move& move)) {
  get_route = get;
  calls->ARMCI_Get = [](void* src, void* dst, int bytes, int proc) {
    return get_route(Contiguous(src, dst, bytes, proc, nullptr, true));
  };
  calls->ARMCI_GetS = [](void* src, int* src_stride, void* dst, int* dst_stride, int* count, int levels, int proc) {
    return get_route({Form::kStrided, true, proc, StridedPieces(src, src_stride, dst, dst_stride, count, levels)});
  };
  calls->ARMCI_GetV = [](armci_giov_t* iov, int len, int proc) {
    return get_route({Form::kVector, true, proc, VectorPieces(iov, len)});
  };
  calls->ARMCI_NbGet = [](void* src, void* dst, int bytes, int proc, armci_hdl_t* hdl) {
    return get_route(Contiguous(src, dst, bytes, proc, hdl, false));
  };
  calls->ARMCI_NbGetS = [](void* src, int* src_stride, void* dst, int* dst_stride, int* count, int levels, int proc,
                           armci_hdl_t* hdl) {
    return get_route(
        {Form::kStrided, false, proc, StridedPieces(src, src_stride, dst, dst_stride, count, levels), hdl});
  };
  calls->ARMCI_NbGetV = [](armci_giov_t* iov, int len, int proc, armci_hdl_t* hdl) {
    return get_route({Form::kVector, false, proc, VectorPieces(iov, len), hdl});
  };
}

void RouteAccumulates(Calls* calls, int (*accumulate)(const Move& move)) {
  accumulate_route = accumulate;
  calls->ARMCI_Acc = [](int type, void* scale, void* src, void* dst, int bytes, int proc) {
    return accumulate_route(WithScale(Contiguous(src, dst, bytes, proc, nullptr, true), type, scale));
  };
  calls->ARMCI_AccS = [](int type, void* scale, void* src, int* src_stride, void* dst, int* dst_stride, int* count,
                         int levels, int proc) {
    return accumulate_route(WithScale(
        {Form::kStrided, true, proc, StridedPieces(src, src_stride, dst, dst_stride, count, levels)}, type, scale));
  };
  calls->ARMCI_AccV = [](int type, void* scale, armci_giov_t* iov, int len, int proc) {
    return accumulate_route(WithScale({Form::kVector, true, proc, VectorPieces(iov, len)}, type, scale));
  };
  calls->ARMCI_NbAcc = [](int type, void* scale, void* src, void* dst, int bytes, int proc, armci_hdl_t* hdl) {
    return accumulate_route(WithScale(Contiguous(src, dst, bytes, proc, hdl, false), type, scale));
  };
  calls->ARMCI_NbAccS = [](int type, void* scale, void* src, int* src_stride, void* dst, int* dst_stride, int* count,
                           int levels, int proc, armci_hdl_t* hdl) {
    return accumulate_route(
        WithScale({Form::kStrided, false, proc, StridedPieces(src, src_stride, dst, dst_stride, count, levels), hdl},
                  type, scale));
  };
  calls->ARMCI_NbAccV = [](int type, void* scale, armci_giov_t* iov, int len, int proc, armci_hdl_t* hdl) {
    return accumulate_route(WithScale({Form::kVector, false, proc, VectorPieces(iov, len), hdl}, type, scale));
  };
}

int RightPut(const Move& move) {
  return ForEachPiece(move, [&](const Piece& piece) {
    return PARMCI_Put(piece.src, piece.dst, static_cast<int>(piece.bytes), move.proc);
  });
}

int RightGet(const Move& move) {
  return ForEachPiece(move, [&](const Piece& piece) {
    return PARMCI_Get(piece.src, piece.dst, static_cast<int>(piece.bytes), move.proc);
  });
}

int RightAccumulate(const Move& move) {
  return ForEachPiece(move, [&](const Piece& piece) {
    return PARMCI_Acc(move.datatype, move.scale, piece.src, piece.dst, static_cast<int>(piece.bytes), move.proc);
  });
}

std::vector<Piece> StridedPieces(void* src, const int* src_stride, void* dst, const int* dst_stride, const int* count,
                                 int stride_levels) {
  std::vector<Piece> pieces{{static_cast<char*>(src), static_cast<char*>(dst), static_cast<std::size_t>(count[0])}};
  for (int level = 1; level <= stride_levels; ++level) {
    const std::vector<Piece> inner = std::move(pieces);
    pieces.clear();
    for (int i = 0; i < count[level]; ++i) {
      for (const Piece& piece : inner) {
        pieces.push_back({piece.src + std::ptrdiff_t{i} * src_stride[level - 1],
                          piece.dst + std::ptrdiff_t{i} * dst_stride[level - 1], piece.bytes});
      }
    }
  }
  return pieces;
}

std::vector<Piece> VectorPieces(const armci_giov_t* iov, int len) {
  std::vector<Piece> pieces;
  for (int i = 0; i < len; ++i) {
    for (int k = 0; k < iov[i].ptr_array_len; ++k) {
      pieces.push_back({static_cast<char*>(iov[i].src_ptr_array[k]), static_cast<char*>(iov[i].dst_ptr_array[k]),
                        static_cast<std::size_t>(iov[i].bytes)});
    }
  }
  return pieces;
}

}  // namespace conformance::mutants
