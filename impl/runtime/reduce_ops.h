// Reductions: the operators and types of armci_msg_*gop, mapped to MPI operations that give what a serial loop gives.
//
// absmax and absmin need no operation of their own: each process takes magnitudes first, then the greatest or least
// wins. So do the logical ones: each process takes truth values, 0 or 1, first. Magnitudes of integers are kept as
// unsigned numbers, so that the one value whose magnitude its signed type cannot hold still compares as the largest;
// the result wraps back to it.
//
// Thread safety: everything here may be called by any thread.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "impl/base/status.h"

namespace armci::runtime {

enum class Operator : int { kSum, kProduct, kMax, kMin, kAbsMax, kAbsMin, kBitAnd, kBitOr, kAnd, kOr };

// The types of spec/message.h, in its numbering.
enum class Element : int { kInt = 0, kLong = 1, kLongLong = 2, kFloat = 3, kDouble = 4 };

// Reads the name of an operator; anything may follow, as in Fortran strings. [MSG-1, MSG-2]
Status parse_operator(const char* text, Operator* out);
Status parse_element(int type, Element* out);
size_t element_bytes(Element element);

// Its name, for messages.
const char* operator_name(Operator op);

// Fails for a logical or bit operator on floating-point elements. [MSG-1]
Status check_reduction(Operator op, Element element);

constexpr bool takes_magnitudes(Operator op) { return op == Operator::kAbsMax || op == Operator::kAbsMin; }
constexpr bool is_logical(Operator op) { return op == Operator::kAnd || op == Operator::kOr; }
// Whether a process changes its elements before they are combined.
constexpr bool needs_preparation(Operator op) { return takes_magnitudes(op) || is_logical(op); }

// to[i] = |from[i]| for absmax and absmin, from[i] != 0 for logical operators; `to` may be `from`.
void prepare_operands(Operator op, Element element, const void* from, void* to, size_t count);

// The operation and type for MPI, after prepare_operands() where needs_preparation() is true.
MPI_Op mpi_operation(Operator op);
MPI_Datatype mpi_element(Operator op, Element element);

// One process's offer in armci_msg_sel: the first element of its x.
struct Candidate {
  int32_t rank = -1;  // -1: takes no part
  int32_t element = 0;
  int32_t op = 0;
  int32_t unused = 0;
  unsigned char key[8] = {};
};
static_assert(sizeof(Candidate) == 24, "travels between processes as bytes");

Candidate make_candidate(Operator op, Element element, int rank, const void* key);

// Whether `left` wins over `right`. A total order of all keys, NaN included (NaN loses against every number;
// equal keys go to the lower rank): all processes must find the same winner in any order of comparison.
bool wins(const Candidate& left, const Candidate& right);

}  // namespace armci::runtime
