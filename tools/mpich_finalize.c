/* Keeps MPICH over TCP from hanging in MPI_Finalize; preloaded into the ranks of a job on several nodes.
 *
 * MPI_Finalize of MPICH 4.0 with UCX flushes each connection, then enters the barrier of the process manager. The flush
 * of a TCP connection ends with an acknowledgement, which the other side sends when it makes progress. Once that one
 * waits in the barrier it makes none:
 *
 *    rank 0:  flush(1) ---- waits for the acknowledgement of rank 1 ...
 *    rank 1:  flush(0) done, barrier ---- reads from the process manager, waits for rank 0 ...
 *
 * Here a read from the process manager that comes after the first disconnection makes progress until there is something
 * to read. Thread safety: MPI_Finalize is alone in the library by then.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/types.h>

enum { kWorkersMax = 64, kPauseMs = 1 };

static void *workers[kWorkersMax];
static int worker_count;
static int disconnecting;

/* The next definition of a function; there is always one, or the library would not have been loaded. */
static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

int ucp_worker_create(void *context, const void *parameters, void **worker) {
  int (*create)(void *, const void *, void **) = (int (*)(void *, const void *, void **))next("ucp_worker_create");
  const int status = create(context, parameters, worker);
  if (status == 0 && worker_count < kWorkersMax) workers[worker_count++] = *worker;
  return status;
}

void ucp_worker_destroy(void *worker) {
  void (*destroy)(void *) = (void (*)(void *))next("ucp_worker_destroy");
  for (int i = 0; i < worker_count; ++i) {
    if (workers[i] == worker) workers[i] = workers[--worker_count];
  }
  destroy(worker);
}

void *ucp_disconnect_nb(void *endpoint) {
  void *(*disconnect)(void *) = (void *(*)(void *))next("ucp_disconnect_nb");
  disconnecting = 1;
  return disconnect(endpoint);
}

static int from_process_manager(int descriptor) {
  const char *text = getenv("PMI_FD");
  return text != NULL && atoi(text) == descriptor;
}

ssize_t read(int descriptor, void *buffer, size_t bytes) {
  ssize_t (*really_read)(int, void *, size_t) = (ssize_t(*)(int, void *, size_t))next("read");
  if (disconnecting && worker_count > 0 && from_process_manager(descriptor)) {
    unsigned (*progress)(void *) = (unsigned (*)(void *))next("ucp_worker_progress");
    struct pollfd ready = {descriptor, POLLIN, 0};
    while (poll(&ready, 1, kPauseMs) == 0) {
      for (int i = 0; i < worker_count; ++i) progress(workers[i]);
    }
  }
  return really_read(descriptor, buffer, bytes);
}
