// A thread of the library's own, beside those of the program.
#pragma once

#include <functional>
#include <thread>

#include "impl/common/status.h"

namespace armci::common {

// Starts `body`, named `name` (at most 15 characters) for those who look at threads. It gets no signals, which are for
// the program's threads, and may run on every CPU that the job may use: the binding of its rank, which it would
// inherit, has it wait for the rank's own core.
Status start_background_thread(const char* name, std::function<void()> body, std::thread* thread);

}  // namespace armci::common
