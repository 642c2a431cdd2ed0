// A thread of the library's own, beside those of the program.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <functional>
#include <string>
#include <thread>

#include "impl/base/status.h"

namespace armci::runtime {

// Starts a thread that runs `body` on server_cpus(). `name` (at most 15 characters) shows in listings of threads. The
// thread blocks all signals: those are for the program's threads.
Status start_background_thread(const char* name, std::function<void()> body, std::thread* thread);

// Requests short time slices from Linux, so that the calling thread runs soon after it wakes up. No effect on systems
// without them.
void request_short_slices();

// Reads a list of CPUs as Linux writes it, 0-3,8; false: the text is no such list.
bool read_cpu_list(const char* text, cpu_set_t* cpus);

// Reads ARMCI_SERVER_CPUS, an error if the job may use none of them. Without it servers may run on every CPU that the
// job may use. With the binding of its process, which a thread would inherit, it would wait for the process's own core.
//
// Thread safety: before the first thread is started.
Status set_server_cpus(const std::string& text);
// An empty set: a server keeps the binding of the process that starts it.
const cpu_set_t& server_cpus();

// Binds the thread of a server to these CPUs; an error if the job may use none of them.
Status place_server(pthread_t thread, const cpu_set_t& cpus);

}  // namespace armci::runtime
