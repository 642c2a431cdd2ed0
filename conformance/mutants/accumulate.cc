// ACC: sums that lose updates, and arithmetic that is slightly wrong.

#include <climits>
#include <complex>
#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

#include "conformance/mutants/mutants.h"
#include "conformance/mutants/pause.h"
#include "conformance/mutants/pieces.h"

namespace conformance::mutants {
namespace {

constexpr std::size_t kElementBytes[] = {4, 8, 4, 8, 8, 16};

std::size_t ElementBytes(const Move& move) {
  return move.datatype < 0 || move.datatype > ARMCI_ACC_DCP ? 1 : kElementBytes[move.datatype];
}

template <typename T>
void AddScaled(const Move& move, const Piece& piece, void* sum) {
  T scale;
  std::memcpy(&scale, move.scale, sizeof scale);
  for (std::size_t at = 0; at + sizeof(T) <= piece.bytes; at += sizeof(T)) {
    T left;
    T right;
    std::memcpy(&left, static_cast<char*>(sum) + at, sizeof left);
    std::memcpy(&right, piece.src + at, sizeof right);
    left = static_cast<T>(left + scale * right);
    std::memcpy(static_cast<char*>(sum) + at, &left, sizeof left);
  }
}

// Read, add, write: right by itself, not atomic.
int AddApart(const Move& move) {
  for (const Piece& piece : move.pieces) {
    std::vector<char> sum(piece.bytes);
    const int bytes = static_cast<int>(piece.bytes);
    if (const int code = PARMCI_Get(piece.dst, sum.data(), bytes, move.proc); code != 0) return code;
    switch (move.datatype) {
      case ARMCI_ACC_INT:
        AddScaled<std::uint32_t>(move, piece, sum.data());
        break;
      case ARMCI_ACC_LNG:
        AddScaled<std::uint64_t>(move, piece, sum.data());
        break;
      case ARMCI_ACC_FLT:
        AddScaled<float>(move, piece, sum.data());
        break;
      case ARMCI_ACC_DBL:
        AddScaled<double>(move, piece, sum.data());
        break;
      case ARMCI_ACC_CPL:
        AddScaled<std::complex<float>>(move, piece, sum.data());
        break;
      default:
        AddScaled<std::complex<double>>(move, piece, sum.data());
    }
    LetOthersLook();
    if (const int code = PARMCI_Put(sum.data(), piece.dst, bytes, move.proc); code != 0) return code;
  }
  return 0;
}

MUTANT(accumulate_is_not_atomic, "ACC-2", "read, add and write without excluding others") {
  RouteAccumulates(calls, AddApart);
}

MUTANT(accumulate_by_shapes_is_not_atomic, "ACC-2", "strided and vector accumulates take no lock") {
  RouteAccumulates(
      calls, [](const Move& move) { return move.form == Form::kContiguous ? RightAccumulate(move) : AddApart(move); });
}

MUTANT(accumulate_at_home_is_not_atomic, "ACC-2", "accumulates to the origin's own memory take no lock") {
  RouteAccumulates(
      calls, [](const Move& move) { return move.proc != parmci_msg_me() ? RightAccumulate(move) : AddApart(move); });
}

MUTANT(accumulate_of_complex_is_not_atomic, "ACC-2", "accumulates of one type, double complex, take no lock") {
  RouteAccumulates(
      calls, [](const Move& move) { return move.datatype != ARMCI_ACC_DCP ? RightAccumulate(move) : AddApart(move); });
}

MUTANT(accumulate_ignores_the_scale, "ACC-1", "the source is added unscaled") {
  RouteAccumulates(calls, [](const Move& move) {
    union {
      int i;
      long l;
      float f;
      double d;
      float c[2];
      double z[2];
    } one{};
    switch (move.datatype) {
      case ARMCI_ACC_INT:
        one.i = 1;
        break;
      case ARMCI_ACC_LNG:
        one.l = 1;
        break;
      case ARMCI_ACC_FLT:
      case ARMCI_ACC_CPL:
        one.f = 1;
        break;
      default:
        one.d = 1;
    }
    Move unscaled = move;
    unscaled.scale = &one;
    return RightAccumulate(unscaled);
  });
}

// The accumulate with its source changed by `change` (element bytes, in place).
int WithChangedSource(const Move& move, void (*change)(char* element)) {
  Move changed = move;
  for (const Piece& piece : move.pieces) {
    std::vector<char> copy(piece.src, piece.src + piece.bytes);
    for (std::size_t at = 0; at + ElementBytes(move) <= copy.size(); at += ElementBytes(move)) change(&copy[at]);
    changed.pieces = {{copy.data(), piece.dst, piece.bytes}};
    if (const int code = RightAccumulate(changed); code != 0) return code;
  }
  return 0;
}

MUTANT(accumulate_of_long_in_32_bits, "ACC-1", "the upper half of long sources is lost") {
  RouteAccumulates(calls, [](const Move& move) {
    if (move.datatype != ARMCI_ACC_LNG) return RightAccumulate(move);
    return WithChangedSource(move, [](char* element) {
      std::int32_t low;
      std::memcpy(&low, element, sizeof low);
      const long whole = low;
      std::memcpy(element, &whole, sizeof whole);
    });
  });
}

MUTANT(accumulate_of_double_in_single, "ACC-4", "double sources are rounded to float") {
  RouteAccumulates(calls, [](const Move& move) {
    if (move.datatype != ARMCI_ACC_DBL) return RightAccumulate(move);
    return WithChangedSource(move, [](char* element) {
      double value;
      std::memcpy(&value, element, sizeof value);
      value = static_cast<float>(value);
      std::memcpy(element, &value, sizeof value);
    });
  });
}

template <typename T>
int WithRealScale(const Move& move) {
  T scale[2];
  std::memcpy(scale, move.scale, sizeof scale);
  scale[1] = 0;
  Move real = move;
  real.scale = scale;
  return RightAccumulate(real);
}

MUTANT(accumulate_takes_complex_scale_as_real, "ACC-1", "the imaginary part of the scale of float complex is ignored") {
  RouteAccumulates(calls, [](const Move& move) {
    return move.datatype == ARMCI_ACC_CPL ? WithRealScale<float>(move) : RightAccumulate(move);
  });
}

MUTANT(accumulate_takes_double_complex_scale_as_real, "ACC-1",
       "the imaginary part of the scale of double complex is ignored") {
  RouteAccumulates(calls, [](const Move& move) {
    return move.datatype == ARMCI_ACC_DCP ? WithRealScale<double>(move) : RightAccumulate(move);
  });
}

MUTANT(accumulate_of_int_saturates, "ACC-1", "integer sums stop at the type's limit instead of wrapping around") {
  RouteAccumulates(calls, [](const Move& move) {
    if (move.datatype != ARMCI_ACC_INT) return RightAccumulate(move);
    for (const Piece& piece : move.pieces) {
      for (std::size_t at = 0; at < piece.bytes; at += 4) {
        const long scale = *static_cast<int*>(move.scale);
        int source;
        std::memcpy(&source, piece.src + at, sizeof source);
        const long sum = PARMCI_GetValueInt(piece.dst + at, move.proc) + scale * source;
        if (sum > INT_MAX || sum < INT_MIN) {
          PARMCI_PutValueInt(sum > 0 ? INT_MAX : INT_MIN, piece.dst + at, move.proc);
        } else {
          PARMCI_Acc(move.datatype, move.scale, piece.src + at, piece.dst + at, 4, move.proc);
        }
      }
    }
    return 0;
  });
}

MUTANT(accumulate_loses_the_tail, "ACC-1", "of 8 k + 7 elements the last one is not added") {
  RouteAccumulates(calls, [](const Move& move) {
    Move shortened = move;
    for (Piece& piece : shortened.pieces) {
      if (piece.bytes / ElementBytes(move) % 8 == 7) piece.bytes -= ElementBytes(move);
    }
    return RightAccumulate(shortened);
  });
}

MUTANT(accumulate_loses_single_segments, "ACC-3", "a vector accumulate of one segment adds nothing") {
  RouteAccumulates(calls, [](const Move& move) {
    return move.form == Form::kVector && move.pieces.size() == 1 ? 0 : RightAccumulate(move);
  });
}

MUTANT(accumulate_loses_one_element_vectors, "ACC-3", "segments of one element of a vector accumulate are not added") {
  RouteAccumulates(calls, [](const Move& move) {
    Move without = move;
    if (move.form == Form::kVector) {
      std::erase_if(without.pieces, [&](const Piece& piece) { return piece.bytes == ElementBytes(move); });
    }
    return RightAccumulate(without);
  });
}

MUTANT(accumulate_adds_repeated_segments_once, "XFER-7", "a destination named twice in one accumulate is added once") {
  RouteAccumulates(calls, [](const Move& move) {
    Move without = move;
    std::set<char*> seen;
    std::erase_if(without.pieces, [&](const Piece& piece) { return !seen.insert(piece.dst).second; });
    return RightAccumulate(without);
  });
}

MUTANT(accumulate_accepts_partial_elements, "ACC-5", "a length that is no multiple of the element size is rounded") {
  calls->ARMCI_Acc = [](int type, void* scale, void* src, void* dst, int bytes, int proc) {
    const int element = type < 0 || type > ARMCI_ACC_DCP ? 1 : static_cast<int>(kElementBytes[type]);
    return PARMCI_Acc(type, scale, src, dst, bytes - bytes % element, proc);
  };
}

}  // namespace
}  // namespace conformance::mutants
