// Litmus programs by the thousand, as spec/model/shapes.py enumerates them.
#ifndef CONFORMANCE_LITMUS_SHAPES_H_
#define CONFORMANCE_LITMUS_SHAPES_H_

#include <vector>

#include "conformance/litmus/program.h"

namespace conformance::litmus {

// A line each: places | threads... | registers | allowed outcomes, marked by `i` where they are interesting.
const char* ShapeTexts();
// The programs, parsed once.
const std::vector<Litmus>& Shapes();

}  // namespace conformance::litmus

#endif  // CONFORMANCE_LITMUS_SHAPES_H_
