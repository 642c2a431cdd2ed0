#include "impl/runtime/reduce_ops.h"

#include <cmath>
#include <cstring>
#include <iterator>
#include <type_traits>

#include "message.h"

namespace armci::runtime {
namespace {

static_assert(static_cast<int>(Element::kInt) == ARMCI_INT && static_cast<int>(Element::kLong) == ARMCI_LONG &&
              static_cast<int>(Element::kLongLong) == ARMCI_LONG_LONG &&
              static_cast<int>(Element::kFloat) == ARMCI_FLOAT && static_cast<int>(Element::kDouble) == ARMCI_DOUBLE);

template <class T>
struct Type {
  using type = T;
};

// Calls function(Type<T>{}) for the C type of `element`.
template <class Function>
auto with_type(Element element, Function function) {
  switch (element) {
    case Element::kInt:
      return function(Type<int>{});
    case Element::kLong:
      return function(Type<long>{});
    case Element::kLongLong:
      return function(Type<armci_long_long_t>{});
    case Element::kFloat:
      return function(Type<float>{});
    case Element::kDouble:
      break;
  }
  return function(Type<double>{});
}

template <class T>
auto magnitude(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fabs(value);
  } else {
    using U = std::make_unsigned_t<T>;
    return value < 0 ? U{0} - static_cast<U>(value) : static_cast<U>(value);
  }
}

template <class T>
bool is_nan(T value) {
  return value != value;
}

template <class T>
bool key_wins(bool greatest, T left, T right) {
  if (is_nan(left) || is_nan(right)) return !is_nan(left);
  return greatest ? left > right : left < right;
}

template <class T>
T key_of(const Candidate& candidate) {
  T value;
  std::memcpy(&value, candidate.key, sizeof value);
  return value;
}

struct Name {
  const char* text;
  Operator op;
};
// The first name of an operator is the one that messages have. A name that begins with another one comes before it.
constexpr Name kNames[] = {{"+", Operator::kSum},   {"*", Operator::kProduct},     {"max", Operator::kMax},
                           {"min", Operator::kMin}, {"absmax", Operator::kAbsMax}, {"absmin", Operator::kAbsMin},
                           {"&&", Operator::kAnd},  {"land", Operator::kAnd},      {"||", Operator::kOr},
                           {"lor", Operator::kOr},  {"&", Operator::kBitAnd},      {"band", Operator::kBitAnd},
                           {"|", Operator::kBitOr}, {"bor", Operator::kBitOr},     {"or", Operator::kBitOr}};

// -1: left wins, 1: right wins, 0: neither by its key alone.
template <class T>
int compare_keys(Operator op, T left, T right) {
  const bool greatest = op == Operator::kMax || op == Operator::kAbsMax;
  const auto decide = [greatest](auto a, auto b) {
    return static_cast<int>(key_wins(greatest, b, a)) - static_cast<int>(key_wins(greatest, a, b));
  };
  return takes_magnitudes(op) ? decide(magnitude(left), magnitude(right)) : decide(left, right);
}

}  // namespace

Status parse_operator(const char* text, Operator* out) {
  if (text == nullptr) return fail(Code::kNull, "ERR-1", "argument op is NULL; pass the name of an operation");
  // A Fortran program that passes its string along passes no end with it. A name that begins with another one comes
  // first.
  for (const Name& known : kNames) {
    if (std::strncmp(text, known.text, std::strlen(known.text)) == 0) {
      *out = known.op;
      return kSuccess;
    }
  }
  return fail(
      Code::kArgument, "MSG-1",
      "argument op = \"%.16s\" is none of + * max min absmax absmin && || & | land lor band bor or; pass one of them",
      text);
}

Status parse_element(int type, Element* out) {
  if (type < ARMCI_INT || type > ARMCI_DOUBLE) {
    return fail(Code::kType, "MSG-1",
                "argument type = %d is outside ARMCI_INT..ARMCI_DOUBLE (%d..%d); pass a constant of this range", type,
                ARMCI_INT, ARMCI_DOUBLE);
  }
  *out = static_cast<Element>(type);
  return kSuccess;
}

size_t element_bytes(Element element) {
  return with_type(element, [](auto type) { return sizeof(typename decltype(type)::type); });
}

const char* operator_name(Operator op) {
  for (const Name& known : kNames) {
    if (known.op == op) return known.text;
  }
  return "";
}

Status check_reduction(Operator op, Element element) {
  const bool is_for_integers = is_logical(op) || op == Operator::kBitAnd || op == Operator::kBitOr;
  if (is_for_integers && (element == Element::kFloat || element == Element::kDouble)) {
    return fail(Code::kType, "MSG-1",
                "argument op = \"%s\" is for integers, and argument type = %d is floating point; pass another "
                "operation or type",
                operator_name(op), static_cast<int>(element));
  }
  return kSuccess;
}

void prepare_operands(Operator op, Element element, const void* from, void* to, size_t count) {
  with_type(element, [&](auto type) {
    using T = typename decltype(type)::type;
    const T* source = static_cast<const T*>(from);
    T* target = static_cast<T*>(to);
    if (is_logical(op)) {
      for (size_t i = 0; i < count; ++i) target[i] = static_cast<T>(source[i] != 0);
    } else {
      for (size_t i = 0; i < count; ++i) target[i] = static_cast<T>(magnitude(source[i]));
    }
  });
}

MPI_Op mpi_operation(Operator op) {
  switch (op) {
    case Operator::kSum:
      return MPI_SUM;
    case Operator::kProduct:
      return MPI_PROD;
    case Operator::kMax:
    case Operator::kAbsMax:
      return MPI_MAX;
    case Operator::kMin:
    case Operator::kAbsMin:
      return MPI_MIN;
    case Operator::kBitAnd:
      return MPI_BAND;
    case Operator::kBitOr:
      return MPI_BOR;
    case Operator::kAnd:
      return MPI_LAND;
    case Operator::kOr:
      break;
  }
  return MPI_LOR;
}

// Sums and products go through unsigned types as well, where wrapping around is defined: same bits, no surprise.
MPI_Datatype mpi_element(Operator op, Element element) {
  const bool is_signed = op == Operator::kMax || op == Operator::kMin;
  switch (element) {
    case Element::kInt:
      return is_signed ? MPI_INT : MPI_UNSIGNED;
    case Element::kLong:
      return is_signed ? MPI_LONG : MPI_UNSIGNED_LONG;
    case Element::kLongLong:
      return is_signed ? MPI_LONG_LONG : MPI_UNSIGNED_LONG_LONG;
    case Element::kFloat:
      return MPI_FLOAT;
    case Element::kDouble:
      break;
  }
  return MPI_DOUBLE;
}

Candidate make_candidate(Operator op, Element element, int rank, const void* key) {
  Candidate candidate;
  candidate.rank = rank;
  candidate.op = static_cast<int32_t>(op);
  candidate.element = static_cast<int32_t>(element);
  std::memcpy(candidate.key, key, element_bytes(element));
  return candidate;
}

bool wins(const Candidate& left, const Candidate& right) {
  if (left.rank < 0 || right.rank < 0) return left.rank >= 0;
  const int order = with_type(static_cast<Element>(left.element), [&](auto type) {
    using T = typename decltype(type)::type;
    return compare_keys(static_cast<Operator>(left.op), key_of<T>(left), key_of<T>(right));
  });
  return order != 0 ? order < 0 : left.rank < right.rank;
}

}  // namespace armci::runtime
