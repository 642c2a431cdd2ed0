#include "conformance/harness/options.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fstream>
#include <regex>

namespace conformance {
namespace {

std::string CheckRegex(const std::string& text) {
  try {
    std::regex compiled(text);
  } catch (const std::regex_error& error) {
    return std::string("not a regular expression: ") + error.what();
  }
  return "";
}

}  // namespace

bool ParseOptions(int argc, char** argv, Options* options, int* exit_code) {
  CLI::App app{"ARMCI conformance tests. Start it with the MPI launcher, any number of processes."};
  app.add_option("--filter", options->filter, "run tests whose name contains, or one of whose clauses equals, REGEX")
      ->check(CheckRegex);
  app.add_option("--exclude", options->exclude, "leave out tests chosen by REGEX, as --filter does")->check(CheckRegex);
  std::string finished_file;
  app.add_option("--exclude-listed", finished_file, "leave out the tests whose names FILE lists, one a line")
      ->check(CLI::ExistingFile);
  CLI::Option* seed =
      app.add_option("--seed", options->seed, "seed of the random choices (drawn and printed if absent)");
  app.add_option("--deadline", options->deadline_s,
                 "seconds a test may take; tests with their own deadline scale along")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--junit", options->junit, "write the results as JUnit XML to FILE");
  app.add_option("--artifacts", options->artifacts,
                 "write programs that show a failure to DIR, made when there are any (default: print them)");
  app.add_option("--repeat", options->repeat, "run everything R times, with seeds S, S+1, ...")
      ->check(CLI::PositiveNumber);
  app.add_flag("--quick", options->quick, "fewer iterations and sizes, every clause still once");
  app.add_flag("--no-child-jobs{false}", options->child_jobs,
               "skip tests that start child jobs: their outcome does not depend on the number of processes");
  app.add_flag("--fail-fast", options->fail_fast, "run no further tests after one that failed");
  app.add_flag("--list-clauses", options->list_clauses, "print each test with its clauses and end");
  app.add_option("--thread-level", options->thread_level, "what to ask of MPI_Init_thread")
      ->check(CLI::IsMember({"single", "funneled", "serialized", "multiple"}))
      ->capture_default_str();
  app.add_option("--child", options->child, "what tests start in jobs of their own (internal)")->group("");
  app.add_option("--child-argument", options->child_argument, "argument of --child (internal)")->group("");
  app.footer("Example: mpirun -n 4 conformance --filter ORD-1 --seed 7 --junit ord.xml");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    *exit_code = app.exit(error);
    return false;
  }
  std::ifstream finished(finished_file);
  for (std::string name; std::getline(finished, name);) options->finished.insert(name);
  options->seed_given = seed->count() > 0;
  options->program = argc > 0 ? argv[0] : "conformance";
  // The build tool names the place of its own report this way.
  if (const char* file = std::getenv("XML_OUTPUT_FILE"); options->junit.empty() && file != nullptr) {
    options->junit = file;
  }
  return true;
}

}  // namespace conformance
