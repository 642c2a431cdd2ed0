// The form in which a litmus program runs: by which calls its variables are stored and read.
#ifndef CONFORMANCE_LITMUS_FORM_H_
#define CONFORMANCE_LITMUS_FORM_H_

#include <cstddef>
#include <string>

#include "conformance/harness/plan.h"

namespace conformance::litmus {

using Kind = StoreKind;

struct Form {
  Kind kind;
  std::size_t bytes;
  bool nonblocking;
};

// A store moves the whole of a variable; the location that the outcome speaks of is one element of it, its first or its
// last. Later stores of a thread are brief now and then: that element alone, so that small ones follow large ones.
class Layout {
 public:
  explicit Layout(const Form& form);

  struct Element {
    std::ptrdiff_t src;  // in the local buffer
    std::ptrdiff_t dst;  // in the variable
  };
  Element First() const { return {whole_.segments.front().src, whole_.segments.front().dst}; }
  Element Last() const;

  // Brief plans are used at the address of the element.
  const Plan& StorePlan(bool brief) const { return brief ? brief_ : whole_; }
  const Plan& ReadPlan(bool brief) const { return brief ? brief_read_ : whole_read_; }
  Op StoreOp() const { return op_; }
  // Of a local buffer, and of a variable in a region: multiples of 64.
  std::size_t LocalBytes() const { return local_bytes_; }
  std::size_t RemoteBytes() const { return remote_bytes_; }

 private:
  const Op op_;
  const Plan whole_;
  const Plan brief_;
  const Plan whole_read_;
  const Plan brief_read_;
  const std::size_t local_bytes_;
  const std::size_t remote_bytes_;
};

}  // namespace conformance::litmus

#endif  // CONFORMANCE_LITMUS_FORM_H_
