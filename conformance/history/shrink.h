// Makes a failing program small: leaves out what it fails without (delta debugging over units of steps), then makes
// what remains simple, one change at a time.
//
// Whether a program fails is the caller's to say. In a job every rank shrinks along: they stay together because the
// same answers lead to the same next question, so the answer must be the same on all ranks.
#ifndef CONFORMANCE_HISTORY_SHRINK_H_
#define CONFORMANCE_HISTORY_SHRINK_H_

#include <functional>

#include "conformance/history/program.h"

namespace conformance::history {

enum class Trial {
  kFails,   // still: the change is kept
  kPasses,  // the change is taken back
  kStop,    // no more time: the smallest program so far is the result
};
using TryProgram = std::function<Trial(const Program&)>;

// Asks at most about as often as the program has steps, squared; usually a small multiple of them.
Program Shrink(Program program, const TryProgram& attempt);

}  // namespace conformance::history

#endif  // CONFORMANCE_HISTORY_SHRINK_H_
