// A program that MPI_Comm_spawn starts with kServerMarker as its only argument is a server of a node. Its main() never
// runs: a constructor of this library sees the marker, serves until the stop request comes, and ends the process.
//
// The constructor runs after those of MPI and of the C++ library, since this library needs both. Where this library is
// linked into the program, other objects of the program may not be constructed yet. So a server uses only objects that
// are constant-initialised or created at their first use.
#pragma once

#include <string>
#include <vector>

#include "impl/base/status.h"

namespace armci::twosided {

struct Command {
  std::string program;
  std::vector<std::string> arguments;
};

// The command that starts a server. If the library is linked into this program, the command is the program. If the
// library is shared, the command is the dynamic loader with the library preloaded, since the program (an interpreter)
// may load the library only later.
Status server_command(Command* command);

}  // namespace armci::twosided
