// A thread of the library's own, beside those of the program.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <functional>
#include <string>
#include <thread>

#include "impl/base/status.h"

namespace armci::runtime {

// Starts `body`, named `name` (at most 15 characters) for those who look at threads. It gets no signals, which are for
// the program's threads, and runs on server_cpus().
Status start_background_thread(const char* name, std::function<void()> body, std::thread* thread);

// Has the system let the calling thread run soon after it wakes up; of no effect where it cannot.
void ask_for_short_turns();

// A list of CPUs as Linux writes it, 0-3,8; false: it is none.
bool read_cpu_list(const char* text, cpu_set_t* cpus);

// Reads ARMCI_SERVER_CPUS, an error if the job may use none of them. Without it servers may run on every CPU that the
// job may use: the binding of its process, which a thread would inherit, has it wait for the process's own core.
//
// Thread safety: before the first thread is started.
Status set_server_cpus(const std::string& text);
// No CPU in it: a server stays where the process that starts it is bound to.
const cpu_set_t& server_cpus();

// Has a server run there; an error if the job may use none of them.
Status place_server(pthread_t thread, const cpu_set_t& cpus);

}  // namespace armci::runtime
