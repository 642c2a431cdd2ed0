// The version of the library; CHANGELOG.md says what each brought.
#pragma once

namespace armci::runtime {

inline constexpr int kVersionMajor = 0;
inline constexpr int kVersionMinor = 1;
inline constexpr int kVersionPatch = 0;

}  // namespace armci::runtime
