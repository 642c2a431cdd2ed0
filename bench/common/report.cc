#include "bench/common/report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace armci::bench {
namespace {

constexpr double kNanoseconds = 1e9;

template <typename... Arguments>
std::string Print(const char* format, Arguments... arguments) {
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), format, arguments...);
  return text.data();
}

// Three significant digits, without an exponent.
std::string ThreeDigits(double value) {
  const double magnitude = std::fabs(value);
  return Print("%.*f", magnitude < 10 ? 2 : magnitude < 100 ? 1 : 0, value);
}

std::string FormatRate(double bytes_per_second) {
  return bytes_per_second < 1e9 ? ThreeDigits(bytes_per_second / 1e6) + " MB/s"
                                : ThreeDigits(bytes_per_second / 1e9) + " GB/s";
}

// Counts as they are, parts of something (of a core, of a transfer) with their digits.
std::string FormatCounted(double value) {
  const double magnitude = std::fabs(value);
  if (value == std::floor(value) || magnitude >= 100) return Print("%.0f", value);
  return magnitude >= 10 ? Print("%.1f", value) : Print("%.2g", value);
}

std::string FormatFigure(const CaseResult& result, double seconds) {
  if (result.counted) return FormatCounted(seconds);
  if (result.label.bytes > 0 && seconds > 0) return FormatRate(result.label.bytes / seconds);
  return FormatSeconds(seconds);
}

using Row = std::array<std::string, 7>;

Row RowOf(const CaseResult& result) {
  const bool compared = !result.baseline_name.empty();
  return {result.label.name,
          result.label.size,
          FormatFigure(result, result.subject.median),
          compared ? FormatFigure(result, result.baseline.median) + " " + result.baseline_name : "-",
          compared ? ThreeDigits(result.ratio) : "-",
          FormatTarget(result),
          VerdictName(result.verdict)};
}

const char* RoleName(Role role) {
  switch (role) {
    case Role::kSubject:
      return "subject";
    case Role::kBaseline:
      return "baseline";
    case Role::kAllowance:
      return "allowance";
    case Role::kContext:
      break;
  }
  return "context";
}

const char* LimitName(Limit limit) {
  switch (limit) {
    case Limit::kNone:
      break;
    case Limit::kTimeAtMost:
      return "time_at_most";
    case Limit::kRateAtLeast:
      return "rate_at_least";
    case Limit::kSecondsAtMost:
      return "seconds_at_most";
    case Limit::kValueAtMost:
      return "value_at_most";
  }
  return "none";
}

nlohmann::json SeriesToJson(const Series& series) {
  const Summary summary = Summarise(series.seconds);
  nlohmann::json samples = nlohmann::json::array();
  for (double seconds : series.seconds) samples.push_back(seconds * kNanoseconds);
  return {{"name", series.name},
          {"role", RoleName(series.role)},
          {"layer", series.layer == Layer::kLibrary ? "library" : "raw"},
          {"iterations", series.iterations},
          {"calibrated_ns", series.calibrated_s * kNanoseconds},
          {"dropped", series.dropped},
          {"median_ns", summary.median * kNanoseconds},
          {"p10_ns", summary.p10 * kNanoseconds},
          {"p90_ns", summary.p90 * kNanoseconds},
          {"samples_ns", samples}};
}

}  // namespace

std::string FormatSeconds(double seconds) {
  if (seconds < 1e-6) return ThreeDigits(seconds * 1e9) + " ns";
  if (seconds < 1e-3) return ThreeDigits(seconds * 1e6) + " us";
  if (seconds < 1) return ThreeDigits(seconds * 1e3) + " ms";
  return ThreeDigits(seconds) + " s";
}

std::string FormatBytes(size_t bytes) {
  constexpr size_t kKibi = 1024;
  if (bytes >= kKibi * kKibi && bytes % (kKibi * kKibi) == 0) return Print("%zu MiB", bytes / kKibi / kKibi);
  if (bytes >= kKibi && bytes % kKibi == 0) return Print("%zu KiB", bytes / kKibi);
  return Print("%zu B", bytes);
}

std::string FormatTarget(const CaseResult& result) {
  switch (result.target.limit) {
    case Limit::kNone:
      break;
    case Limit::kTimeAtMost:
      return "<= " + ThreeDigits(result.target.factor) + "x" +
             (result.allowance_s > 0 ? " + " + FormatSeconds(result.allowance_s) : "");
    case Limit::kRateAtLeast:
      return ">= " + ThreeDigits(result.target.factor);
    case Limit::kSecondsAtMost:
      return "<= " + FormatSeconds(result.target.factor);
    case Limit::kValueAtMost:
      return "<= " + FormatCounted(result.target.factor);
  }
  return "-";
}

std::string FormatTable(const std::vector<CaseResult>& results) {
  std::vector<Row> rows = {{"case", "size", "ARMCI", "baseline", "ratio", "target", ""}};
  for (const CaseResult& result : results) rows.push_back(RowOf(result));
  std::array<size_t, 7> widths{};
  for (const Row& row : rows) {
    for (size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], row[column].size());
    }
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (size_t column = 0; column < row.size(); ++column) {
      const std::string padding(widths[column] - row[column].size(), ' ');
      const bool number = column == 2 || column == 4;
      line += (column > 0 ? "  " : "") + (number ? padding + row[column] : row[column] + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

nlohmann::json CaseToJson(const CaseResult& result) {
  nlohmann::json series = nlohmann::json::array();
  for (const Series& one : result.series) series.push_back(SeriesToJson(one));
  nlohmann::json json = {{"name", result.label.name},
                         {"size", result.label.size},
                         {"target_key", result.label.target_key},
                         {"target", {{"limit", LimitName(result.target.limit)}, {"factor", result.target.factor}}},
                         {"target_text", FormatTarget(result)},
                         {"baseline", result.baseline_name},
                         {"ratio", result.ratio},
                         {"ratio_paired", result.ratio_paired},
                         {"verdict", VerdictName(result.verdict)},
                         {"core_wait_share", result.core_wait_share},
                         {"series", series}};
  if (result.label.is_repeated) json["is_repeated"] = true;
  if (result.counted) {
    json["value"] = result.subject.median;
  } else {
    json["allowance_ns"] = result.allowance_s * kNanoseconds;
    json["armci_ns"] = result.subject.median * kNanoseconds;
    json["baseline_ns"] = result.baseline.median * kNanoseconds;
    json["bytes"] = result.label.bytes;
  }
  return json;
}

}  // namespace armci::bench
