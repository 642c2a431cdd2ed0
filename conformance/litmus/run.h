// Runs a litmus program many times and judges its outcomes.
#ifndef CONFORMANCE_LITMUS_RUN_H_
#define CONFORMANCE_LITMUS_RUN_H_

#include "conformance/litmus/form.h"
#include "conformance/litmus/program.h"

namespace conformance::litmus {

// Collective: the body of a test. Reports the count of every outcome; a forbidden one fails the test.
void RunLitmus(const Litmus& litmus, const Form& form);

}  // namespace conformance::litmus

#endif  // CONFORMANCE_LITMUS_RUN_H_
