// The file that ARMCI_TUNING_FILE names: values for settings that the environment leaves open, as `tools/armci tune`
// writes them. A line is NAME=VALUE, with or without `export` before it, a comment after #, or empty.
//
// Thread safety: any thread.
#pragma once

#include <string>
#include <vector>

#include "impl/base/status.h"

namespace armci::runtime {

constexpr const char* kTuningFileVariable = "ARMCI_TUNING_FILE";

struct TunedSetting {
  std::string name;
  std::string value;
  int line;
};

// The settings in the file, in their order; the last one of a name holds. Fails if the file cannot be read or a line is
// none of the above; the cause names the file and the line [ERR-1].
Status read_tuning_file(const std::string& path, std::vector<TunedSetting>* settings);

// The line that holds for a name; null if the file has none with a value.
const TunedSetting* find_tuned(const std::vector<TunedSetting>& settings, const char* name);

// The environment variable; null where it is unset, or set but empty: scripts clear a variable that way.
const char* environment_text(const char* name);

// The text of a setting before load_config(): of the environment, else of the file, else empty. A file that cannot be
// read has no settings here; load_config() fails for it.
std::string early_setting(const char* name);

}  // namespace armci::runtime
