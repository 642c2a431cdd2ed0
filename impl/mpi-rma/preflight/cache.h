// Findings kept from one run to the next: one small text file for each MPI library, setting and reach.
//
//   armci preflight 1                    the form of the file
//   version: Open MPI v4.1.4 ...         the key, several lines: all of it must be the same
//   ...
//   reach: one node
//   table: 31 8c2f...                    the faults this library knows; another table, another file
//   findings: 0000000000000a01
//   end
//
// The file lies in $XDG_CACHE_HOME/armci or ~/.cache/armci, and is written under another name and renamed. The library
// reads it only if it belongs to this user and no other user can write it. A faulty file counts as none.
//
// Thread safety: any thread, and several processes at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace armci::rma {

class FindingsCache {
 public:
  // `key`: lines, each ended. Touches no file.
  explicit FindingsCache(std::string key);

  std::optional<std::uint64_t> read() const;
  // Does what it can.
  void write(std::uint64_t bits) const;
  // Empty where there is no home.
  const std::string& path() const { return path_; }

 private:
  std::string text(std::uint64_t bits) const;

  std::string key_;
  std::string folder_;
  std::string path_;
};

// A number that follows from the text, the same in every run.
std::uint64_t fingerprint(const std::string& text);

}  // namespace armci::rma
