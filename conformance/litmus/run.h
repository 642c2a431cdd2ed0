// Runs a litmus program many times and judges its outcomes.
#ifndef CONFORMANCE_LITMUS_RUN_H_
#define CONFORMANCE_LITMUS_RUN_H_

#include <string>
#include <vector>

#include "conformance/litmus/form.h"
#include "conformance/litmus/program.h"

namespace conformance::litmus {

// Collective: the body of a test. Reports the count of every outcome; a forbidden one fails the test.
void RunLitmus(const Litmus& litmus, const Form& form);

// The result of many runs of one program.
struct Seen {
  long iterations = 0;
  // Allowed outcomes that never came: "r1=1 r2=0".
  std::vector<std::string> never;
  // Text about each forbidden outcome; on rank 0.
  std::vector<std::string> forbidden;
};

// How long a program runs: about so many seconds, and at least so many iterations, over so many places at most.
struct Extent {
  double seconds;
  std::size_t places;
  long iterations = 0;
};

// Collective, without reports and verdict.
Seen RunQuietly(const Litmus& litmus, const Form& form, const Extent& extent);

}  // namespace conformance::litmus

#endif  // CONFORMANCE_LITMUS_RUN_H_
