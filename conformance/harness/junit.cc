#include "conformance/harness/junit.h"

#include <fstream>

namespace conformance {
namespace {

std::string Escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\n':
        out += "&#10;";
        break;
      default:
        // XML 1.0 has no way to write other control characters.
        out += static_cast<unsigned char>(c) < 0x20 && c != '\t' ? '?' : c;
    }
  }
  return out;
}

void WriteProperty(std::ofstream& out, const char* indent, const std::string& name, const std::string& value) {
  out << indent << "<property name=\"" << Escaped(name) << "\" value=\"" << Escaped(value) << "\"/>\n";
}

void WriteCase(std::ofstream& out, const TestResult& result) {
  out << "  <testcase classname=\"" << result.suite << "\" name=\"" << result.name << "\" time=\"" << result.seconds
      << "\">\n    <properties>\n";
  for (const std::string& clause : result.clauses) WriteProperty(out, "      ", "clause", clause);
  for (const auto& [key, value] : result.facts) WriteProperty(out, "      ", key, value);
  out << "    </properties>\n";
  if (result.verdict == Verdict::kSkipped) out << "    <skipped message=\"" << Escaped(result.message) << "\"/>\n";
  if (result.verdict == Verdict::kFailed) {
    out << "    <failure message=\"" << Escaped(result.rerun) << "\">" << Escaped(result.message) << "</failure>\n";
  }
  out << "  </testcase>\n";
}

}  // namespace

bool WriteJUnit(const std::string& file, const RunFacts& facts, const std::vector<TestResult>& results) {
  std::ofstream out(file);
  int failed = 0;
  int skipped = 0;
  double seconds = 0;
  for (const TestResult& result : results) {
    failed += result.verdict == Verdict::kFailed;
    skipped += result.verdict == Verdict::kSkipped;
    seconds += result.seconds;
  }
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"conformance\" tests=\"" << results.size()
      << "\" failures=\"" << failed << "\" errors=\"0\" skipped=\"" << skipped << "\" time=\"" << seconds
      << "\">\n  <properties>\n";
  WriteProperty(out, "    ", "ranks", std::to_string(facts.ranks));
  WriteProperty(out, "    ", "seed", facts.seed);
  WriteProperty(out, "    ", "mpi", facts.mpi);
  WriteProperty(out, "    ", "thread_level", facts.thread_level);
  out << "  </properties>\n";
  for (const TestResult& result : results) WriteCase(out, result);
  out << "</testsuite>\n";
  out.flush();
  return out.good();
}

}  // namespace conformance
