#include "impl/runtime/config.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <new>
#include <numeric>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "impl/base/thread_block.h"
#include "impl/runtime/tuning_file.h"

namespace armci::runtime {
namespace {

constexpr double kBytesMax = 4611686018427387904.0;  // 2^62: sums of two do not overflow
constexpr double kSecondsMax = 1e6;
constexpr double kMicrosecondsMax = 1e6;
constexpr double kIterationsMax = 1e9;
constexpr double kEventsMax = 1e9;

constexpr SettingRow kRows[] = {
    {"ARMCI_NODE_SIZE", "processes", "0", 0, INT_MAX,
     "Simulates nodes of this many consecutive processes; 0: real nodes.", &Config::node_size},
    {"ARMCI_TIMEOUT", "s", "0", 0, kSecondsMax,
     "Watchdog: a call in progress for longer is reported with all stacks and the job ends; 0: off.",
     &Config::timeout_seconds},
    {"ARMCI_STATS", "", "0", 0, 1, "Counts calls, bytes, sizes and time of every call and prints them at finalize.",
     &Config::stats},
    {"ARMCI_TRACE", "", "", 0, 0,
     "File for a timeline of all calls of all processes, as Chrome and Perfetto open it; written at finalize. %p in it "
     "is the process id of process 0, %n the number of its starts of the library.",
     &Config::trace},
    {"ARMCI_TRACE_EVENTS", "", "1000000", 1, kEventsMax, "Most calls of a process that a timeline takes.",
     &Config::trace_events},
    {"ARMCI_CHECK", "", "0", 0, 0,
     "1 switches the costly checks on (overlap, buffers changed before wait, access modes); race looks for data races "
     "between the calls of all processes and names both calls of each, race-stacks also their callers.",
     &Config::check},
    {"ARMCI_FREEZE_ON_ERROR", "", "0", 0, 1,
     "A process that would end the job by an error says where it is and waits for a debugger instead.",
     &Config::freeze_on_error},
    {"ARMCI_REPORT_SIGNAL", "", "10", 0, 64,
     "Signal (10: SIGUSR1, 12: SIGUSR2, or one that is as free) on which a process prints its pending operations and "
     "the mutexes that it holds and waits for, unless the program handles it; 0: none.",
     &Config::report_signal},
    {"ARMCI_VERBOSE", "", "0", 0, 3,
     "1 prints at init what was chosen: nodes, thread level, waiting, copy and accumulate kernels, the way between "
     "nodes; 2 also where each process is, and what is allocated, created and freed; 3 also every call as it begins "
     "and ends.",
     &Config::verbose},
    {"ARMCI_SHM_DIR", "", "/dev/shm", 0, 0, "Directory on a memory file system that backs the memory of a node.",
     &Config::shm_dir},
    {"ARMCI_SHM_RESERVE", "bytes", "0", 0, kBytesMax,
     "Range of addresses that a node reserves for global memory; 0: by the size of the physical memory.",
     &Config::shm_reserve_bytes},
    {"ARMCI_SHM_RETAIN", "bytes", "64M", 0, kBytesMax,
     "Freed global memory that a node keeps for the next allocations instead of returning it.",
     &Config::shm_retain_bytes},
    {"ARMCI_SPIN", "iterations", "-1", -1, kIterationsMax,
     "Busy waiting before a waiting process yields its core; -1: by the number of cores and processes.",
     &Config::spin_iterations},
    {"ARMCI_SERVER_CPUS", "", "", 0, 0,
     "CPUs on which threads and processes of the library may run that serve, as in 0-3,8; own: those that the launcher "
     "gave to the process; empty: all that the job may use. For server processes the value of process 0 holds.",
     &Config::server_cpus},
    {"ARMCI_GROUP_RECURSIVE", "", "0", 0, 1,
     "Groups are made by merging pairs of subgroups instead of by MPI_Comm_create_group.", &Config::group_recursive},
    {"ARMCI_MUTEX_HANDOFF", "us", "500", 0, kMicrosecondsMax,
     "Waiting time after which a released mutex is handed to the process that waits longest.",
     &Config::mutex_handoff_us},
    {"ARMCI_MAX_SHM", "bytes", "0", 0, kBytesMax, "Most global memory that a process may allocate; 0: no limit.",
     &Config::max_shm_bytes},
    {kTuningFileVariable, "", "", 0, 0,
     "File with values for settings that the environment leaves open, a line NAME=VALUE for each, as tools/armci tune "
     "--output writes it; for all processes.",
     &Config::tuning_file},
};

// The type of the value at a place, with the Config field and the free variable alike.
using Value = std::variant<bool, int, double, int64_t, std::string>;
template <class T>
struct PlaceType;
template <class T>
struct PlaceType<T Config::*> {
  using type = T;
};
template <class T>
struct PlaceType<T*> {
  using type = T;
};

std::vector<std::span<const SettingRow>>& tables() {
  static std::vector<std::span<const SettingRow>> all{std::span<const SettingRow>(kRows)};
  return all;
}

template <class Function>
void for_each_row(Function function) {
  for (const auto& table : tables()) {
    for (const SettingRow& row : table) function(row);
  }
}

const char* type_name(const SettingRow& row) {
  static constexpr const char* kNames[] = {"bool", "int", "real", "bytes", "text"};
  static_assert(std::variant_size_v<SettingPlace> == 2 * std::size(kNames));
  return kNames[row.place.index() % std::size(kNames)];
}

std::optional<Value> parse_bool(const char* text) {
  for (const char* yes : {"1", "yes", "on", "true", "y", "t"}) {
    if (strcasecmp(text, yes) == 0) return Value(true);
  }
  for (const char* no : {"0", "no", "off", "false", "n", "f"}) {
    if (strcasecmp(text, no) == 0) return Value(false);
  }
  return std::nullopt;
}

// ARMCI-MPI has a switch of this name, which here has levels: the words of a switch are levels 0 and 1. [COMPAT-13]
bool is_switch_elsewhere(const SettingRow& row) { return std::strcmp(row.name, "ARMCI_VERBOSE") == 0; }

// The whole of `text` as a decimal integer, then at most what `suffix` leaves.
std::optional<int64_t> parse_integer(const char* text, const char** rest) {
  char* end = nullptr;
  errno = 0;
  const long long number = std::strtoll(text, &end, 10);
  if (end == text || errno != 0) return std::nullopt;
  *rest = end;
  return number;
}

std::optional<int64_t> parse_bytes(const char* text) {
  const char* rest = nullptr;
  const std::optional<int64_t> number = parse_integer(text, &rest);
  if (!number) return std::nullopt;
  int shift = 0;
  if (*rest != '\0') {
    static constexpr char kSuffixes[] = "KMGT";
    const char* suffix = std::strchr(kSuffixes, std::toupper(static_cast<unsigned char>(*rest)));
    if (suffix == nullptr) return std::nullopt;
    shift = 10 * static_cast<int>(suffix - kSuffixes + 1);
    ++rest;
  }
  if (*rest != '\0' && strcasecmp(rest, "B") != 0 && strcasecmp(rest, "iB") != 0) return std::nullopt;
  int64_t bytes = 0;
  if (__builtin_mul_overflow(*number, int64_t{1} << shift, &bytes)) return std::nullopt;
  return bytes;
}

std::optional<Value> parse_number(const SettingRow& row, const char* text, bool is_bytes) {
  const char* rest = "";
  const std::optional<int64_t> number = is_bytes ? parse_bytes(text) : parse_integer(text, &rest);
  if (!number || *rest != '\0') return std::nullopt;
  const double real = static_cast<double>(*number);
  if (real < row.minimum || real > row.maximum) return std::nullopt;
  return is_bytes ? Value(*number) : Value(static_cast<int>(*number));
}

std::optional<Value> parse_real(const SettingRow& row, const char* text) {
  // Not strtod, which wants a comma where a program's locale has one.
  double real = 0;
  const char* const end = text + std::strlen(text);
  const auto read = std::from_chars(text, end, real);
  if (read.ec != std::errc() || read.ptr != end || !(real >= row.minimum && real <= row.maximum)) return std::nullopt;
  return Value(real);
}

std::optional<Value> parse(const SettingRow& row, const char* text) {
  return std::visit(
      [&](auto place) -> std::optional<Value> {
        using T = typename PlaceType<decltype(place)>::type;
        if constexpr (std::is_same_v<T, bool>) {
          return parse_bool(text);
        } else if constexpr (std::is_same_v<T, int>) {
          if (is_switch_elsewhere(row)) {
            if (const std::optional<Value> word = parse_bool(text)) return Value(std::get<bool>(*word) ? 1 : 0);
          }
          return parse_number(row, text, false);
        } else if constexpr (std::is_same_v<T, int64_t>) {
          return parse_number(row, text, true);
        } else if constexpr (std::is_same_v<T, double>) {
          return parse_real(row, text);
        } else {
          return Value(std::string(text));
        }
      },
      row.place);
}

void write_value(const SettingRow& row, const Value& value, Config* target) {
  std::visit(
      [&](auto place) {
        using T = typename PlaceType<decltype(place)>::type;
        if constexpr (std::is_pointer_v<decltype(place)>) {
          *place = std::get<T>(value);
        } else if (target != nullptr) {
          target->*place = std::get<T>(value);
        }
      },
      row.place);
}

Value read_value(const SettingRow& row, const Config& source) {
  return std::visit(
      [&](auto place) -> Value {
        if constexpr (std::is_pointer_v<decltype(place)>) {
          return *place;
        } else {
          return source.*place;
        }
      },
      row.place);
}

std::string bytes_text(int64_t bytes) {
  static constexpr char kSuffixes[] = {'K', 'M', 'G', 'T'};
  int step = 0;
  while (bytes != 0 && bytes % 1024 == 0 && step < 4) {
    bytes /= 1024;
    ++step;
  }
  std::string text = std::to_string(bytes);
  if (step > 0) text += kSuffixes[step - 1];
  return text;
}

std::string value_text(const Value& value) {
  return std::visit(
      [](const auto& content) -> std::string {
        using T = std::decay_t<decltype(content)>;
        if constexpr (std::is_same_v<T, std::string>) {
          return content;
        } else if constexpr (std::is_same_v<T, bool>) {
          return content ? "1" : "0";
        } else if constexpr (std::is_same_v<T, int64_t>) {
          return bytes_text(content);
        } else {
          char text[32];
          std::snprintf(text, sizeof text, "%.10g", static_cast<double>(content));
          return text;
        }
      },
      value);
}

Status refuse(const SettingRow& row, const char* text) {
  switch (row.place.index() % 5) {
    case 0:
      return fail(Code::kArgument, "ERR-1", "%s = \"%s\" is not a switch: use 0 or 1", row.name, text);
    case 1:
      return fail(Code::kArgument, "ERR-1", "%s = \"%s\" is not a whole number within %.0f..%.0f%s%s: use one of these",
                  row.name, text, row.minimum, row.maximum, *row.unit != '\0' ? " " : "", row.unit);
    case 2:
      return fail(Code::kArgument, "ERR-1", "%s = \"%s\" is not a number within %g..%g%s%s: use one of these", row.name,
                  text, row.minimum, row.maximum, *row.unit != '\0' ? " " : "", row.unit);
    default:
      return fail(
          Code::kArgument, "ERR-1",
          "%s = \"%s\" is not a number of bytes within %s..%s: use digits, and K, M, G or T after them if needed",
          row.name, text, bytes_text(static_cast<int64_t>(row.minimum)).c_str(),
          bytes_text(static_cast<int64_t>(row.maximum)).c_str());
  }
}

// A default that its own row refuses is a mistake in the table, found by the first run.
Value default_value(const SettingRow& row) {
  std::optional<Value> value = parse(row, row.default_value);
  if (!value) {
    std::fprintf(stderr, "armci: the default of %s is outside its own range\n", row.name);
    std::abort();
  }
  return *value;
}

Config& current() {
  static Config config;
  return config;
}

// Of the file that load_config() has read.
std::vector<TunedSetting>& tuned_settings() {
  static std::vector<TunedSetting> all;
  return all;
}

// Of the environment, else of the file, else the default.
Status row_value(const SettingRow& row, const std::vector<TunedSetting>& tuned, Value* value) {
  const auto read = [&](const char* text) -> Status {
    const std::optional<Value> parsed = parse(row, text);
    if (!parsed) return refuse(row, text);
    *value = *parsed;
    return kSuccess;
  };
  if (const char* const text = environment_text(row.name)) return read(text);
  if (const TunedSetting* const found = find_tuned(tuned, row.name)) {
    const Status status = read(found->value.c_str());
    return status.ok() ? status : note(status, "line %d of the file in %s", found->line, kTuningFileVariable);
  }
  *value = default_value(row);
  return kSuccess;
}

void warn_unknown(const std::string& name, const std::string& where) {
  if (const char* nearest = nearest_setting(name.c_str())) {
    warn("%s %s is unknown and ignored; did you mean %s?", where.c_str(), name.c_str(), nearest);
  } else {
    warn("%s %s is unknown and ignored; armci_info lists the known ones", where.c_str(), name.c_str());
  }
}

int edit_distance(std::string_view left, std::string_view right) {
  std::vector<int> row(right.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < left.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i) + 1;
    for (size_t j = 0; j < right.size(); ++j) {
      const int substituted = diagonal + (left[i] != right[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j + 1] + 1, row[j] + 1, substituted});
    }
  }
  return row.back();
}

bool starts_with(const char* text, const char* prefix) { return std::strncmp(text, prefix, std::strlen(prefix)) == 0; }

bool is_known(std::string_view name) {
  bool known = false;
  for_each_row([&](const SettingRow& row) { known |= name == row.name; });
  return known;
}

}  // namespace

Config::Config() {
  for (const SettingRow& row : kRows) write_value(row, default_value(row), this);
}

void append_settings(std::span<const SettingRow> rows) {
  for (const auto& table : tables()) {
    if (table.data() == rows.data()) return;
  }
  tables().push_back(rows);
  for (const SettingRow& row : rows) write_value(row, default_value(row), nullptr);
}

Status load_config(Config* config) {
  const char* const path = environment_text(kTuningFileVariable);
  std::vector<TunedSetting> tuned;
  if (path != nullptr) ARMCI_RETURN_IF_ERROR(read_tuning_file(path, &tuned));
  std::vector<std::pair<const SettingRow*, Value>> values;
  Status status = kSuccess;
  for_each_row([&](const SettingRow& row) {
    Value value;
    if (status.ok()) status = row_value(row, tuned, &value);
    values.emplace_back(&row, std::move(value));
  });
  ARMCI_RETURN_IF_ERROR(status);
  for (const auto& [row, value] : values) write_value(*row, value, config);
  tuned_settings() = std::move(tuned);
  return kSuccess;
}

const Config& config() { return current(); }

void set_config(const Config& config) { current() = config; }

bool setting(int index, SettingView* view) {
  if (index < 0) return false;
  size_t position = static_cast<size_t>(index);
  for (const auto& table : tables()) {
    if (position >= table.size()) {
      position -= table.size();
      continue;
    }
    const SettingRow& row = table[position];
    // A deque keeps those that are there in place when it grows.
    auto* const block = ThreadBlock<std::deque<std::string>>::get();
    if (block == nullptr) throw std::bad_alloc();
    std::deque<std::string>& texts = *block;
    if (texts.size() <= static_cast<size_t>(index)) texts.resize(static_cast<size_t>(index) + 1);
    std::string& text = texts[static_cast<size_t>(index)];
    text = value_text(read_value(row, config()));
    *view = {row.name, type_name(row), row.unit, row.default_value, text.c_str(), row.text};
    return true;
  }
  return false;
}

const char* nearest_setting(const char* name) {
  const char* nearest = nullptr;
  // A third of the letters may differ; more is another word.
  int least = static_cast<int>(std::strlen(name) - std::strlen("ARMCI_")) / 3 + 1;
  for_each_row([&](const SettingRow& row) {
    if (const int distance = edit_distance(name, row.name); distance < least) {
      least = distance;
      nearest = row.name;
    }
  });
  return nearest;
}

int warn_unknown_settings() {
  int unknown = 0;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const char* equals = std::strchr(*entry, '=');
    if (equals == nullptr || !starts_with(*entry, "ARMCI_")) continue;
    const std::string name(*entry, static_cast<size_t>(equals - *entry));
    if (starts_with(name.c_str(), "ARMCI_TEST_") || starts_with(name.c_str(), "ARMCI_FAULT_") || is_known(name))
      continue;
    ++unknown;
    warn_unknown(name, "the environment variable");
  }
  for (const TunedSetting& one : tuned_settings()) {
    if (is_known(one.name)) continue;
    ++unknown;
    warn_unknown(one.name, "line " + std::to_string(one.line) + " of " + config().tuning_file + ":");
  }
  return unknown;
}

}  // namespace armci::runtime
