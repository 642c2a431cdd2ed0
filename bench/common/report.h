// Results as a text table for people and as JSON for scripts.
//
// Thread safety: pure functions.
#ifndef ARMCI_BENCH_COMMON_REPORT_H_
#define ARMCI_BENCH_COMMON_REPORT_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/common/comparison.h"

namespace armci::bench {

// "1.23 ns", "45.6 us", "7.89 ms": three significant digits, unit chosen by size.
std::string FormatSeconds(double seconds);

// "8 B", "4 KiB", "64 MiB"; a size that is no multiple of a larger unit stays in the smaller one.
std::string FormatBytes(size_t bytes);

// "<= 5.00x", "<= 6.00x + 4.1 ns", ">= 0.95", "<= 200 us".
std::string FormatTarget(const CaseResult& result);

// The table, header line included, columns aligned, one line per case.
std::string FormatTable(const std::vector<CaseResult>& results);

// One case with its raw samples, in nanoseconds per operation.
nlohmann::json CaseToJson(const CaseResult& result);

}  // namespace armci::bench

#endif  // ARMCI_BENCH_COMMON_REPORT_H_
