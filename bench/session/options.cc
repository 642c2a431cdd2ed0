#include "bench/session/options.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/common/environment.h"
#include "bench/common/report.h"

namespace armci::bench {

std::optional<int> ReadOptions(int argc, char** argv, const char* name, const std::string& text, bool speak,
                               Options* options) {
  CLI::App app(text, name);
  app.add_option("--seconds", options->seconds, "time for all cases together; what is slow gets three rounds anyway")
      ->capture_default_str();
  app.add_flag("--quick", options->quick, "fewer cases, and 3 seconds unless --seconds says otherwise");
  app.add_flag("--strict", options->strict, "exit with a failure when a target is missed");
  app.add_flag("--progress", options->progress, "one line per case on the error stream");
  app.add_flag("--target-sleeps", options->target_sleeps, "no process helps the library by being inside MPI meanwhile");
  app.add_option("--seed", options->seed, "of the order of the samples within a round")->capture_default_str();
  app.add_option("--json", options->json_path, "file for the results with their raw samples");
  app.add_option("--filter", options->filter, "only cases whose name or size contains this");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return speak ? app.exit(error) : error.get_exit_code();
  }
  if (options->quick && app.count("--seconds") == 0) options->seconds = 3;
  return std::nullopt;
}

SamplingPlan PlanOf(const Options& options, size_t cases) {
  SamplingPlan plan;
  plan.budget_s = options.seconds / static_cast<double>(cases);
  plan.rounds_min = options.quick ? 5 : 11;
  plan.seed = options.seed;
  return plan;
}

bool IsChosen(const Options& options, const CaseLabel& label) {
  return (label.name + " " + label.size).find(options.filter) != std::string::npos;
}

bool WriteResults(const Options& options, const Origin& origin, const std::map<std::string, std::string>& notes,
                  const std::vector<CaseResult>& results) {
  nlohmann::json cases = nlohmann::json::array();
  for (const CaseResult& result : results) cases.push_back(CaseToJson(result));
  const nlohmann::json document = {
      {"schema", "armci-bench-1"},
      {"benchmark", origin.benchmark},
      {"question", origin.question},
      {"implementation", origin.implementation},
      {"mpi", origin.layer_below},
      {"ranks", origin.ranks},
      {"options", {{"seconds", options.seconds}, {"quick", options.quick}, {"seed", options.seed}}},
      {"notes", notes},
      {"environment", DescribeEnvironment()},
      {"cases", cases}};
  std::ofstream file(options.json_path);
  file << document.dump(1) << "\n";
  file.flush();
  if (!file) std::fprintf(stderr, "bench: cannot write %s\n", options.json_path.c_str());
  return static_cast<bool>(file);
}

}  // namespace armci::bench
