#include "impl/runtime/tuning_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>

namespace armci::runtime {

namespace {

constexpr std::string_view kSpace = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// NAME=VALUE; false if the text is something else.
bool split(std::string_view text, TunedSetting* setting) {
  constexpr std::string_view kExport = "export ";
  if (text.starts_with(kExport)) text = trimmed(text.substr(kExport.size()));
  const std::size_t equals = text.find('=');
  if (!text.starts_with("ARMCI_") || equals == std::string_view::npos) return false;
  setting->name = text.substr(0, equals);
  setting->value = text.substr(equals + 1);
  return setting->name.find_first_of(kSpace) == std::string::npos;
}

}  // namespace

Status read_tuning_file(const std::string& path, std::vector<TunedSetting>* settings) {
  settings->clear();
  errno = 0;
  std::ifstream file(path);
  std::string text;
  for (int line = 1; std::getline(file, text); ++line) {
    const std::string_view content = trimmed(std::string_view(text).substr(0, text.find('#')));
    if (content.empty()) continue;
    TunedSetting setting{{}, {}, line};
    if (!split(content, &setting)) {
      return fail(
          Code::kArgument, "ERR-1",
          "%s = \"%s\": line %d is not ARMCI_NAME=VALUE: \"%.80s\"; let tools/armci tune --output write the file",
          kTuningFileVariable, path.c_str(), line, text.c_str());
    }
    if (setting.name == kTuningFileVariable) {
      return fail(Code::kArgument, "ERR-1", "%s = \"%s\": line %d sets %s itself; delete that line",
                  kTuningFileVariable, path.c_str(), line, kTuningFileVariable);
    }
    settings->push_back(std::move(setting));
  }
  if (!file.is_open() || file.bad()) {
    return fail(Code::kArgument, "ERR-1",
                "%s = \"%s\" cannot be read: %s; name a file that each process of the job can read",
                kTuningFileVariable, path.c_str(), std::strerror(errno));
  }
  return kSuccess;
}

const TunedSetting* find_tuned(const std::vector<TunedSetting>& settings, const char* name) {
  const auto found =
      std::find_if(settings.rbegin(), settings.rend(), [name](const TunedSetting& one) { return one.name == name; });
  return found != settings.rend() && !found->value.empty() ? &*found : nullptr;
}

const char* environment_text(const char* name) {
  const char* const text = std::getenv(name);
  return text != nullptr && *text != '\0' ? text : nullptr;
}

std::string early_setting(const char* name) {
  if (const char* const text = environment_text(name)) return text;
  const char* const path = environment_text(kTuningFileVariable);
  std::vector<TunedSetting> settings;
  if (path == nullptr || !read_tuning_file(path, &settings).ok()) return {};
  const TunedSetting* const found = find_tuned(settings, name);
  return found != nullptr ? found->value : std::string();
}

}  // namespace armci::runtime
