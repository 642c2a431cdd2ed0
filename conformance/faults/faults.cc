#include "conformance/faults/faults.h"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "armci.h"

namespace faults {

void Say(const char* format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  int length = std::vsnprintf(line, sizeof line - 1, format, arguments);
  va_end(arguments);
  length = std::min(length, static_cast<int>(sizeof line) - 2);
  line[length++] = '\n';
  if (write(STDOUT_FILENO, line, static_cast<size_t>(length)) != length) _exit(99);
}

void Check(int code, const char* call) {
  if (code == 0) return;
  Say("UNEXPECTED %s returned %d", call, code);
  _exit(99);
}

long Number(const World& world, size_t index, long missing) {
  return index < world.arguments.size() ? std::strtol(world.arguments[index].c_str(), nullptr, 10) : missing;
}

namespace {

const Case* Find(const char* name) {
  for (std::span<const Case> cases : {StateCases(), DeathCases(), MemoryCases()}) {
    for (const Case& one : cases) {
      if (std::strcmp(one.name, name) == 0) return &one;
    }
  }
  return nullptr;
}

int Usage() {
  std::fprintf(stderr, "usage: faults CASE [ARGUMENTS]\n");
  for (std::span<const Case> cases : {StateCases(), DeathCases(), MemoryCases()}) {
    for (const Case& one : cases) std::fprintf(stderr, "  %-12s %-24s %s\n", one.name, one.arguments, one.text);
  }
  return 2;
}

int Main(int argc, char** argv) {
  const Case* chosen = argc > 1 ? Find(argv[1]) : nullptr;
  if (chosen == nullptr) return Usage();
  World world;
  world.arguments.assign(argv + 2, argv + argc);
  if (!chosen->initialised) return chosen->run(world);

  MPI_Init(&argc, &argv);
  Check(ARMCI_Init(), "ARMCI_Init");
  MPI_Comm_rank(MPI_COMM_WORLD, &world.me);
  MPI_Comm_size(MPI_COMM_WORLD, &world.nproc);
  int status = chosen->run(world);
  Check(ARMCI_Finalize(), "ARMCI_Finalize");
  MPI_Finalize();
  return status;
}

}  // namespace
}  // namespace faults

int main(int argc, char** argv) { return faults::Main(argc, argv); }
