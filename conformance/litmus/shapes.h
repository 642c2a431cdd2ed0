// Litmus programs by the thousand, as spec/model/shapes.py enumerates them.
#ifndef CONFORMANCE_LITMUS_SHAPES_H_
#define CONFORMANCE_LITMUS_SHAPES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "conformance/harness/test.h"
#include "conformance/litmus/program.h"

namespace conformance::litmus {

// A line each: places | threads... | registers | allowed outcomes, marked by `i` where they are interesting. Those of
// the extension need the calls of armcix.h.
const char* ShapeTexts();
const char* ExtensionShapeTexts();

// Programs that are run together, in tests of which each takes one of so many parts.
struct ShapeTests {
  std::string chapter;
  std::string name;  // of the tests, without the number of the part
  TestSpec spec;
  std::size_t parts;
  const char* texts;
  // The calls of programs that put with a flag, and of those that compare and swap.
  SpecialCalls calls;
  Stores flags;                    // how a put with a flag may be made
  std::vector<std::string> needs;  // of puts with a flag
};

// Adds the tests. Returns true.
bool AddShapeTests(const ShapeTests& tests);

}  // namespace conformance::litmus

#endif  // CONFORMANCE_LITMUS_SHAPES_H_
