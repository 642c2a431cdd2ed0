// Whether a transfer moves what it should, all of it and to where it belongs.
//
// Values differ from those of neighbours, of pieces a power of two apart, and of the verification before. All are small
// whole numbers: accumulates that follow stay exact and as fast as with any others.
//
// Thread safety: one caller.
#ifndef ARMCI_BENCH_COMMON_VERIFICATION_H_
#define ARMCI_BENCH_COMMON_VERIFICATION_H_

#include <cstddef>
#include <functional>
#include <string>

namespace armci::bench {

// Doubles here and as many on another process, and plain transfers of all of them.
struct Mirror {
  double* local;
  size_t count;
  std::function<void()> store;  // from here to there; returns when they are there
  std::function<void()> load;   // from there to here, after everything before it is complete there
};

// Each runs the transfer once and says what is wrong with the data; empty when nothing is.
std::string VerifyPut(const Mirror& mirror, const std::function<void()>& put);
std::string VerifyGet(const Mirror& mirror, const std::function<void()>& get);
// Of doubles with a scale of 1.
std::string VerifyAccumulate(const Mirror& mirror, const std::function<void()>& accumulate);

}  // namespace armci::bench

#endif  // ARMCI_BENCH_COMMON_VERIFICATION_H_
