// XFER: pieces that are left out, misplaced or a little too long.

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <set>
#include <vector>

#include "conformance/mutants/mutants.h"
#include "conformance/mutants/pieces.h"

namespace conformance::mutants {
namespace {

MUTANT(strided_put_loses_the_last_row, "XFER-5", "the outermost count of a strided put is one too small") {
  calls->ARMCI_PutS = [](void* src, int* src_stride, void* dst, int* dst_stride, int* count, int levels, int proc) {
    if (levels < 1) return PARMCI_PutS(src, src_stride, dst, dst_stride, count, levels, proc);
    std::vector<int> shorter(count, count + levels + 1);
    shorter.back() -= 1;
    return PARMCI_PutS(src, src_stride, dst, dst_stride, shorter.data(), levels, proc);
  };
}

MUTANT(strided_get_loses_the_eighth_level, "XFER-5", "a strided get goes through 7 of 8 levels") {
  calls->ARMCI_GetS = [](void* src, int* src_stride, void* dst, int* dst_stride, int* count, int levels, int proc) {
    return PARMCI_GetS(src, src_stride, dst, dst_stride, count, levels == 8 ? 7 : levels, proc);
  };
}

MUTANT(strided_put_turns_negative_strides, "XFER-5", "a negative stride is taken as a positive one") {
  calls->ARMCI_PutS = [](void* src, int* src_stride, void* dst, int* dst_stride, int* count, int levels, int proc) {
    std::vector<int> forward(src_stride, src_stride + levels);
    for (int& stride : forward) stride = std::abs(stride);
    return PARMCI_PutS(src, forward.data(), dst, dst_stride, count, levels, proc);
  };
}

MUTANT(strided_put_uses_one_stride_for_both_sides, "XFER-5", "the strides of the source are those of the destination") {
  calls->ARMCI_NbPutS = [](void* src, int*, void* dst, int* dst_stride, int* count, int levels, int proc,
                           armci_hdl_t* hdl) {
    return PARMCI_NbPutS(src, dst_stride, dst, dst_stride, count, levels, proc, hdl);
  };
}

// The put, with bytes of the target behind each piece stored once more as they are, or as zero.
int PutWithTail(const Move& move, std::size_t alignment) {
  for (const Piece& piece : move.pieces) {
    if (const int code = PARMCI_Put(piece.src, piece.dst, static_cast<int>(piece.bytes), move.proc); code != 0) {
      return code;
    }
    const std::size_t tail = (alignment - piece.bytes % alignment) % alignment;
    static char zeros[8] = {};
    if (tail > 0) PARMCI_Put(zeros, piece.dst + piece.bytes, static_cast<int>(tail), move.proc);
  }
  return 0;
}

MUTANT(put_writes_one_byte_too_many, "XFER-1", "an odd number of bytes is rounded up") {
  RoutePuts(calls, [](const Move& move) { return PutWithTail(move, 2); });
}

MUTANT(get_writes_one_byte_too_many, "XFER-1",
       "a get of an odd number of bytes writes one more into the local buffer") {
  RouteGets(calls, [](const Move& move) {
    const int code = RightGet(move);
    for (const Piece& piece : move.pieces) {
      if (code == 0 && piece.bytes % 2 != 0) piece.dst[piece.bytes] = 0;
    }
    return code;
  });
}

MUTANT(put_of_one_size_loses_a_byte, "XFER-2", "a put of 2049 bytes moves 2048") {
  RoutePuts(calls, [](const Move& move) {
    Move shortened = move;
    for (Piece& piece : shortened.pieces) piece.bytes -= piece.bytes == 2049;
    return RightPut(shortened);
  });
}

MUTANT(large_put_loses_the_seam, "XFER-2", "a put of more than 1 MiB goes in two parts and loses the byte between") {
  RoutePuts(calls, [](const Move& move) {
    constexpr std::size_t kPart = 1 << 20;
    Move parts = move;
    for (Piece& piece : parts.pieces) {
      if (piece.bytes <= kPart) continue;
      const Piece rest{piece.src + kPart + 1, piece.dst + kPart + 1, piece.bytes - kPart - 1};
      piece.bytes = kPart;
      parts.pieces.push_back(rest);
      break;
    }
    return RightPut(parts);
  });
}

MUTANT(zero_count_moves_a_row, "XFER-3", "a count of 0 in an outer dimension is taken as 1") {
  calls->ARMCI_PutS = [](void* src, int* src_stride, void* dst, int* dst_stride, int* count, int levels, int proc) {
    std::vector<int> some(count, count + levels + 1);
    for (int& n : some) n += n == 0;
    return PARMCI_PutS(src, src_stride, dst, dst_stride, some.data(), levels, proc);
  };
}

MUTANT(zero_bytes_are_an_error, "XFER-3", "a put of nothing is refused") {
  calls->ARMCI_Put = [](void* src, void* dst, int bytes, int proc) -> int {
    return bytes == 0 ? ARMCI_ERR_LENGTH : PARMCI_Put(src, dst, bytes, proc);
  };
}

MUTANT(put_to_oneself_is_left_out, "XFER-4", "a strided put whose target is the origin does nothing") {
  calls->ARMCI_PutS = [](void* src, int* src_stride, void* dst, int* dst_stride, int* count, int levels, int proc) {
    return proc == parmci_msg_me() ? 0 : PARMCI_PutS(src, src_stride, dst, dst_stride, count, levels, proc);
  };
}

// First addresses of the regions of each process, as this process knows them.
std::vector<std::set<char*>> bases;

char* BaseOf(int proc, char* address) {
  if (static_cast<std::size_t>(proc) >= bases.size()) return address;
  const std::set<char*>& known = bases[static_cast<std::size_t>(proc)];
  const auto next = known.upper_bound(address);
  return next == known.begin() ? address : *std::prev(next);
}

MUTANT(vector_mixes_regions_up, "XFER-6", "all segments of a vector put go to the region of the first one") {
  calls->ARMCI_Malloc = [](void* ptr[], armci_size_t bytes) {
    const int code = PARMCI_Malloc(ptr, bytes);
    bases.resize(static_cast<std::size_t>(parmci_msg_nproc()));
    for (std::size_t p = 0; code == 0 && p < bases.size(); ++p) {
      if (ptr[p] != nullptr) bases[p].insert(static_cast<char*>(ptr[p]));
    }
    return code;
  };
  calls->ARMCI_PutV = [](armci_giov_t* iov, int len, int proc) {
    Move move{Form::kVector, true, proc, VectorPieces(iov, len)};
    for (Piece& piece : move.pieces) {
      char* first = BaseOf(proc, move.pieces[0].dst);
      piece.dst = first + (piece.dst - BaseOf(proc, piece.dst));
    }
    return RightPut(move);
  };
}

MUTANT(vector_uses_one_segment_size, "XFER-6", "the descriptors of a vector all have the segment size of the first") {
  calls->ARMCI_GetV = [](armci_giov_t* iov, int len, int proc) {
    std::vector<armci_giov_t> alike(iov, iov + len);
    for (armci_giov_t& one : alike) one.bytes = std::min(one.bytes, iov[0].bytes);
    return PARMCI_GetV(alike.data(), len, proc);
  };
}

// The total as a 32-bit program would have it.
bool TotalOverflows(const Move& move) { return move.TotalBytes() > static_cast<std::size_t>(INT_MAX); }

MUTANT(strided_put_is_cut_at_2_gib, "XFER-8", "the total of a strided put is computed in 32 bits") {
  calls->ARMCI_PutS = [](void* src, int* src_stride, void* dst, int* dst_stride, int* count, int levels, int proc) {
    const Move move{Form::kStrided, true, proc, StridedPieces(src, src_stride, dst, dst_stride, count, levels)};
    return TotalOverflows(move) ? 0 : PARMCI_PutS(src, src_stride, dst, dst_stride, count, levels, proc);
  };
}

MUTANT(strided_accumulate_is_cut_at_2_gib, "XFER-8", "the rows of an accumulate beyond 2 GiB are not added") {
  calls->ARMCI_AccS = [](int type, void* scale, void* src, int* src_stride, void* dst, int* dst_stride, int* count,
                         int levels, int proc) {
    std::vector<int> cut(count, count + levels + 1);
    if (levels == 1) cut[1] = std::min(cut[1], INT_MAX / std::max(cut[0], 1));
    return PARMCI_AccS(type, scale, src, src_stride, dst, dst_stride, cut.data(), levels, proc);
  };
}

MUTANT(value_put_of_int_writes_a_long, "XFER-9", "a value put of an int writes 8 bytes") {
  calls->ARMCI_PutValueInt = [](int value, void* dst, int proc) {
    const long wide = value;
    return reinterpret_cast<std::uintptr_t>(dst) % 8 != 0 ? PARMCI_PutValueInt(value, dst, proc)
                                                          : PARMCI_PutValueLong(wide, dst, proc);
  };
}

MUTANT(value_get_of_double_in_single, "XFER-9", "a value get of a double goes through a float") {
  calls->ARMCI_GetValueDouble = [](void* src, int proc) -> double {
    return static_cast<float>(PARMCI_GetValueDouble(src, proc));
  };
}

MUTANT(packing_and_unpacking_are_swapped, "XFER-10", "write_strided unpacks and read_strided packs") {
  calls->armci_write_strided = parmci_read_strided;
  calls->armci_read_strided = parmci_write_strided;
}

// As the 32-bit type of the classic calls would hold it.
constexpr std::size_t kClassicMask = 0x7FFFFFFF;

MUTANT(extension_put_cuts_lengths, "EXT-1", "lengths of the 64-bit calls are taken modulo 2^31") {
  calls->ARMCIX_Put = [](const void* src, void* dst, std::size_t bytes, int proc) {
    return PARMCIX_Put(src, dst, bytes & kClassicMask, proc);
  };
}

MUTANT(extension_put_cuts_strides, "EXT-1", "strides of the 64-bit calls are taken modulo 2^31") {
  calls->ARMCIX_PutS = [](const void* src, const std::ptrdiff_t* src_stride, void* dst,
                          const std::ptrdiff_t* dst_stride, const std::size_t* count, int levels, int proc) {
    std::vector<std::ptrdiff_t> cut(dst_stride, dst_stride + levels);
    for (std::ptrdiff_t& stride : cut) {
      if (stride > 0) stride &= static_cast<std::ptrdiff_t>(kClassicMask);
    }
    return PARMCIX_PutS(src, src_stride, dst, cut.data(), count, levels, proc);
  };
}

}  // namespace
}  // namespace conformance::mutants
