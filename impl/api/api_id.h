// Numbers and names of the public functions, from the API table.
#pragma once

#include "spec/api_table.h"

namespace armci::runtime {

#define ARMCI_API_NUMBER(result, strong, weak_name, parameters, arguments) weak_name,
enum class ApiId : int { ARMCI_API_ALL(ARMCI_API_NUMBER) kCount };
#undef ARMCI_API_NUMBER

inline constexpr int kApiCount = static_cast<int>(ApiId::kCount);

// By number; kApiCount entries.
extern const char* const kApiNames[kApiCount];

// The category of a call: its chapter of the table in a word, or "wait" for a call that waits for other processes.
const char* api_category(ApiId id);

}  // namespace armci::runtime
