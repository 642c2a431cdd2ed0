// A program that MPI_Comm_spawn starts with kServerMarker as its only argument is a server of a node, and never comes
// to its main(): a constructor of this library sees the marker, serves until it is dismissed, and ends the process.
//
// It runs when every library of the program is set up: MPI and the C++ library come before, since this one needs them.
// Where this library is part of the program itself, other objects of the program may not be constructed yet; what a
// server uses is constant-initialised or made at its first use.
#pragma once

#include <string>
#include <vector>

#include "impl/base/status.h"

namespace armci::twosided {

struct Command {
  std::string program;
  std::vector<std::string> arguments;
};

// What to start for a server: this program, where the library is linked into it; where it is a shared library, which
// the program may load only later (an interpreter), the dynamic loader, told to load it first.
Status server_command(Command* command);

}  // namespace armci::twosided
