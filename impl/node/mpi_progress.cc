#include "impl/node/mpi_progress.h"

#include <pthread.h>

#include <atomic>

namespace armci::node {
namespace {

std::atomic<MPI_Comm> polled{MPI_COMM_NULL};
bool any_thread = false;
void (*pass_of_transport)(void*) = nullptr;
void* transport_of_pass = nullptr;
// At MPI_THREAD_FUNNELED and below the thread that starts the library, as that calls MPI.
pthread_t main_thread;

}  // namespace

int start_mpi_progress(MPI_Comm world) {
  int thread_level = MPI_THREAD_SINGLE;
  if (const int error = MPI_Query_thread(&thread_level); error != MPI_SUCCESS) return error;
  MPI_Comm comm = MPI_COMM_NULL;
  if (const int error = MPI_Comm_dup(world, &comm); error != MPI_SUCCESS) return error;
  any_thread = thread_level >= MPI_THREAD_SERIALIZED;
  main_thread = pthread_self();
  polled.store(comm, std::memory_order_release);
  return MPI_SUCCESS;
}

void stop_mpi_progress() {
  MPI_Comm comm = polled.exchange(MPI_COMM_NULL, std::memory_order_acq_rel);
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
}

bool may_poll_mpi() {
  return polled.load(std::memory_order_acquire) != MPI_COMM_NULL &&
         (any_thread || pthread_equal(main_thread, pthread_self()) != 0);
}

void poll_mpi_progress() {
  int found = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, polled.load(std::memory_order_acquire), &found, MPI_STATUS_IGNORE);
  make_mpi_pass();
}

void set_mpi_pass(void (*pass)(void*), void* transport) {
  pass_of_transport = pass;
  transport_of_pass = transport;
}

void make_mpi_pass() {
  if (pass_of_transport != nullptr) pass_of_transport(transport_of_pass);
}

}  // namespace armci::node
