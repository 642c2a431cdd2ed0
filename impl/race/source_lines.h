// source_lines: the source lines of code addresses of this process, by addr2line, which compilers bring along.
#pragma once

#include <string>
#include <vector>

namespace armci::race {

// For each address behind a call: "file.c:12 in function"; "program+0x1234" stands for an unknown line. Starts one
// process for each module, and waits for it.
std::vector<std::string> source_lines(const std::vector<const void*>& addresses);

}  // namespace armci::race
