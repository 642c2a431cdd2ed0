// source_lines: the source lines of code addresses of this process, by addr2line, which compilers bring along.
#pragma once

#include <string>
#include <vector>

namespace armci::race {

// For each address behind a call: "function at file.c:12", or "program+0x1234" where nothing more is known. Starts one
// process for each module, and waits for it.
std::vector<std::string> source_lines(const std::vector<const void*>& addresses);

}  // namespace armci::race
