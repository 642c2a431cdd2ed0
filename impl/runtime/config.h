// Configuration: every ARMCI_* environment variable, declared once.
//
// One table (config.cc) has a row per variable: name, type, unit, default, range, text and the field it fills. The
// parser, ARMCIX_Setting and armci_info all read that table, so a new variable is one row and one field. An
// implementation appends a table of its own with AppendedSettings, its rows pointing at variables of its own.
//
// Order of use at init: append_settings() (implementations with own rows), load_config(), set_config(); then, on rank 0
// once ranks are known, warn_unknown_settings().
//
// Thread safety: set_config() and append_settings() run while no other thread is in the library; everything else may be
// called by any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "impl/base/status.h"

namespace armci::runtime {

// The values of one run. Defaults live in the table; a default-constructed Config holds them.
struct Config {
  Config();

  int node_size = 0;              // ARMCI_NODE_SIZE: processes per simulated node, 0 real nodes
  double timeout_seconds = 0;     // ARMCI_TIMEOUT: watchdog, 0 off
  bool stats = false;             // ARMCI_STATS
  std::string trace;              // ARMCI_TRACE: the file of the timeline, empty off
  int trace_events = 0;           // ARMCI_TRACE_EVENTS: of a process
  std::string check;              // ARMCI_CHECK: the costly checks [ERR-4], or data races; see check.h
  bool freeze_on_error = false;   // ARMCI_FREEZE_ON_ERROR
  int report_signal = 0;          // ARMCI_REPORT_SIGNAL: prints the pending operations, 0 none
  int verbose = 0;                // ARMCI_VERBOSE
  std::string shm_dir;            // ARMCI_SHM_DIR: a directory on a memory file system
  int64_t shm_reserve_bytes = 0;  // ARMCI_SHM_RESERVE: address range per node, 0 automatic
  int64_t shm_retain_bytes = 0;   // ARMCI_SHM_RETAIN: memory kept committed after a free
  std::string server_cpus;        // ARMCI_SERVER_CPUS: where servers may run
  int spin_iterations = -1;       // ARMCI_SPIN: busy waiting before yielding, -1 automatic
  bool group_recursive = false;   // ARMCI_GROUP_RECURSIVE: group_comm.h
  int mutex_handoff_us = 0;       // ARMCI_MUTEX_HANDOFF: wait after which a mutex goes to the first waiter
  int64_t max_shm_bytes = 0;      // ARMCI_MAX_SHM: limit of shared memory per process, 0 none
  std::string tuning_file;        // ARMCI_TUNING_FILE: tuning_file.h, empty none
};

// Where the value of a row lives: a field of Config (rows of the common table) or a variable of the implementation. The
// alternative is also the type of the setting: bool (0/1, yes/no, on/off, true/false), int, double, std::string, or
// int64_t. The last one is bytes, with the suffixes K, M, G, T in powers of 1024.
using SettingPlace = std::variant<bool Config::*, int Config::*, double Config::*, int64_t Config::*,
                                  std::string Config::*, bool*, int*, double*, int64_t*, std::string*>;

struct SettingRow {
  const char* name;           // with its ARMCI_ prefix
  const char* unit;           // "" where there is none
  const char* default_value;  // text that the parser accepts
  double minimum;             // numeric types only
  double maximum;
  const char* text;  // one sentence
  SettingPlace place;
};

// One row with its present value, as ARMCIX_Setting and armci_info show it. All pointers stay valid for the life of the
// process, except value: until this thread's next setting() for the same index.
struct SettingView {
  const char* name;
  const char* type;  // "bool", "int", "real", "bytes" or "text"
  const char* unit;
  const char* default_value;
  const char* value;
  const char* text;
};

// Appends the rows of an implementation; `rows` must live as long as the process. Appending the same span again does
// nothing. Their variables get their default values at once.
void append_settings(std::span<const SettingRow> rows);

// Appends rows at load time: the library reads the environment before it calls any member of a transport.
struct AppendedSettings {
  explicit AppendedSettings(std::span<const SettingRow> rows) { append_settings(rows); }
};

template <class Value>
struct Word {
  const char* text;
  Value value;
};

// The value of a setting that is a word. Fails for a word that is not in the list, with the list in the error [ERR-1].
template <class Value, std::size_t count>
Status read_word(const char* variable, const std::string& text, const Word<Value> (&words)[count], Value* value) {
  std::string known;
  for (const Word<Value>& word : words) {
    if (text == word.text) {
      *value = word.value;
      return kSuccess;
    }
    known += std::string(known.empty() ? "" : ", ") + word.text;
  }
  return fail(Code::kArgument, "ERR-1", "environment variable %s = %s is none of %s; set it to one of them", variable,
              text.c_str(), known.c_str());
}

// Reads the environment, and for what it leaves open the file of ARMCI_TUNING_FILE. On success `*config` and the
// variables of appended rows hold the values; on failure nothing is written and the cause names the variable, the value
// and the allowed range, and for one of the file its line [ERR-1, EXT-8].
Status load_config(Config* config);

// The configuration in force: the defaults until set_config().
const Config& config();
void set_config(const Config& config);

// False past the last row.
bool setting(int index, SettingView* view);

// One warning for every ARMCI_* variable of the environment, and of the file, that no row names, with the nearest name
// where one is near.
// ARMCI_TEST_* and ARMCI_FAULT_* belong to test programs and draw none. Returns how many were unknown.
int warn_unknown_settings();

// The table name at the least edit distance from `name` when that is near enough to be a slip, else nullptr.
const char* nearest_setting(const char* name);

}  // namespace armci::runtime
