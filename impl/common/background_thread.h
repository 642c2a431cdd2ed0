// A thread of the library's own, beside those of the program.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <functional>
#include <thread>

#include "impl/common/status.h"

namespace armci::common {

// Starts `body`, named `name` (at most 15 characters) for those who look at threads. It gets no signals, which are for
// the program's threads, and may run on every CPU that the job may use: the binding of its rank, which it would
// inherit, has it wait for the rank's own core.
Status start_background_thread(const char* name, std::function<void()> body, std::thread* thread);

// Has the system let the calling thread run soon after it wakes up; of no effect where it cannot.
void ask_for_short_turns();

// A list of CPUs as Linux writes it, 0-3,8; false: it is none.
bool read_cpu_list(const char* text, cpu_set_t* cpus);

// Takes a thread off the core that the launcher bound its process to, for every CPU that the job may use.
void leave_binding(pthread_t thread);

}  // namespace armci::common
