// Prints the C file of a random program: BUILD compiles and runs it, so that emitted files are known to work.

#include <cstdio>
#include <cstdlib>

#include "conformance/history/emit_c.h"
#include "conformance/history/generate.h"

int main(int argc, char** argv) {
  using namespace conformance::history;
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s SEED RANKS STEPS\n", argv[0]);
    return 2;
  }
  Recipe recipe;
  recipe.steps = std::atoi(argv[3]);
  const Program program = Generate(std::strtoull(argv[1], nullptr, 10), std::atoi(argv[2]), recipe);
  std::fputs(EmitC(program, "An example, not a failure.").c_str(), stdout);
  return 0;
}
