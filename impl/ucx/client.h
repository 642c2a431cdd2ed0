// What a process does with the memory of other nodes: UCX's puts and gets, and requests to the processes there.
//
//   put, get of one piece       ucp_put_nbx, ucp_get_nbx where a device carries them out; else by requests, in pieces
//   rows, long                  a put or a get each, as above
//   rows, short                 packed into requests, which the target unpacks; of a get the other way round
//   accumulate, atomics         requests
//
// Where there is no such device, UCX makes puts and gets of messages, or has the kernel copy: both cut them wherever it
// suits them, in the middle of an element as well, which somebody else may then see torn [LC-3]. What a request stores
// and fetches is copied by the owner's thread, in whole elements.
//
// Order: none between any two, neither in UCX (messages may overtake puts, long ones each other) nor here: the
// transport says in_order = false, so Runtime flushes where one must not overtake another. flush() waits for the
// answers to all requests, and for UCX's own flush of the endpoint, which covers puts. Gets and atomics by request are
// answered when they have been executed; a get of UCX is complete when its data are here.
//
// Progress: the worker is driven by whoever is inside a call, and by the process's thread (progress.h) while something
// is under way and nobody is.
//
// Thread safety: all members by any thread, under one lock that is given up while waiting.
#pragma once

#include <ucp/api/ucp.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "impl/common/status.h"
#include "impl/server/rows.h"
#include "impl/server/wire.h"
#include "impl/shmem/wait.h"
#include "impl/ucx/context.h"
#include "impl/ucx/messages.h"
#include "impl/ucx/operations.h"
#include "impl/ucx/regions.h"

namespace armci::ucx {

struct ClientBounds {
  std::size_t depth;        // operations under way, of all targets together
  std::size_t requests;     // of a target
  std::size_t chunk_bytes;  // of a request, and of an answer that is packed
  std::size_t pack_bytes;   // shorter rows go by request
  bool rma;                 // UCX's puts and gets
};

// Memory of another process.
struct Target {
  int process;
  Part* part;  // nullptr: without a remote key
};

class Client {
 public:
  // `left_behind` is called when nobody is inside any more and something is under way.
  Client(int process, const ClientBounds& bounds, std::function<void()> left_behind);
  ~Client();

  common::Status open(const Context& context);
  // Addresses of the other processes' servers, by process.
  void learn(std::vector<std::vector<char>> addresses);
  // Ends the connections; nothing is under way.
  void disconnect();

  common::Status put(const Target& target, void* remote, const void* local, std::size_t bytes, Mark* mark);
  common::Status get(const Target& target, const void* remote, void* local, std::size_t bytes, Mark* mark);
  // mark == nullptr: local memory is the caller's at return.
  common::Status put_rows(const Target& target, const server::Rows& rows, Mark* mark);
  common::Status get_rows(const Target& target, const server::Rows& rows, Mark* mark);
  // Local memory is the caller's at return.
  common::Status add_rows(const Target& target, const server::RequestHeader& header, const server::Rows& rows);
  common::Status atomic(int target, const server::RequestHeader& header, std::uint64_t* before);

  common::Status test(const Mark& mark, bool* done);
  common::Status wait(const Mark& mark);
  common::Status flush(int target);
  common::Status flush_all();

  // Destroys what was made of a region's remote keys.
  void forget(Region* region);

  // For the thread. False: somebody is inside, who does it.
  bool try_progress(unsigned* events);
  // Whether to wake up for what comes; then the descriptor is armed unless *busy.
  bool arm(bool* busy, common::Status* failure);
  bool is_left_behind() const { return inside_.load() == 0 && under_way_.load() > 0; }
  int descriptor() const { return worker_.descriptor(); }

  // Connects, and tells by which transports.
  common::Status describe(int target, std::string* transports);

 private:
  struct Failure {
    int target = -1;
    std::string text;
  };
  struct Peer {
    std::vector<char> address;
    ucp_ep_h endpoint = nullptr;
    std::uint64_t asked = 0;
    std::set<std::uint64_t> unanswered;
    std::uint64_t puts = 0;
    std::uint64_t puts_flushed = 0;
    int flushing = 0;
    bool broken = false;
    std::string why;             // broken
    std::string failed_request;  // of a store that nobody waits for
  };
  // A request on its way or not answered yet. Stays in place.
  struct Ask {
    Client* client = nullptr;
    RequestTag tag{};
    std::uint32_t serial = 0;
    bool taken = false;
    bool sent = false;
    bool answered = false;
    int target = -1;
    std::uint64_t number = 0;
    Mark mark;
    std::unique_ptr<char[]> message;
    char* landing = nullptr;  // of data that come in one piece
    std::size_t bytes = 0;
    std::vector<char*> rows;  // of data that are packed
    std::size_t row_bytes = 0;
    std::unique_ptr<char[]> packed;
    std::uint64_t* before = nullptr;
    ReplyTag reply{};
  };
  // A put, get or flush of UCX under way.
  struct Move {
    Client* client;
    Mark mark;
    int target;
  };
  // The lock, for the length of a call.
  class Inside {
   public:
    explicit Inside(Client* client);
    ~Inside();
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    std::unique_lock<std::mutex> lock;

   private:
    Client& client_;
  };

  static void moved(void* request, ucs_status_t status, void* move);
  static void asked(void* request, ucs_status_t status, void* ask);
  static ucs_status_t replied(void* self, const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                              const ucp_am_recv_param_t* about);
  static void landed(void* request, ucs_status_t status, std::size_t bytes, void* ask);
  static void broke(void* self, ucp_ep_h endpoint, ucs_status_t status);

  Peer& peer(int process) { return peers_[static_cast<std::size_t>(process)]; }
  template <class Done>
  void wait_until(Inside* inside, Done done);
  common::Status reach(int process);
  common::Status check(int process);
  common::Status make_room(Inside* inside, int process);
  ucp_rkey_h key_of(const Target& target);
  common::Status outcome(const Mark& mark);

  common::Status start_put(Inside* inside, const Target& target, void* remote, const void* local, std::size_t bytes,
                           const Mark& mark);
  common::Status start_get(Inside* inside, const Target& target, const void* remote, void* local, std::size_t bytes,
                           const Mark& mark);
  common::Status started(void* request, std::unique_ptr<Move> move, const char* call);
  common::Status start_flush(Inside* inside, int process, Mark* mark);
  common::Status end_flush(Inside* inside, int process, std::uint64_t asked, std::uint64_t puts, const Mark& mark);

  // Requests.
  common::Status new_ask(Inside* inside, int process, const Mark& mark, std::size_t bytes, Ask** made);
  common::Status send(Ask* ask, std::size_t bytes);
  common::Status store_run(Inside* inside, int process, server::RequestHeader header, char* remote, const char* local,
                           std::size_t bytes);
  common::Status store_rows(Inside* inside, int process, server::RequestHeader header, const server::Rows& rows);
  common::Status fetch_run(Inside* inside, int process, const char* remote, char* local, std::size_t bytes,
                           const Mark& mark);
  common::Status fetch_rows(Inside* inside, int process, const server::Rows& rows, const Mark& mark);
  void place(Ask* ask, const char* data, std::size_t bytes);
  void finish(Ask* ask, bool failed, const std::string& why);
  void release(Ask* ask);
  Ask* find(std::uint64_t token);

  const int process_;
  const ClientBounds bounds_;
  const std::function<void()> left_behind_;
  std::mutex mutex_;
  std::atomic<int> inside_{0};
  std::atomic<std::size_t> under_way_{0};  // what needs progress, for who does not hold the lock
  Worker worker_;
  std::vector<Peer> peers_;
  Operations<Failure> operations_;
  std::deque<Ask> asks_;
  std::vector<std::size_t> free_asks_;
  std::size_t open_asks_ = 0;
};

// Memory ordering: what `done` sees was written under the lock.
template <class Done>
void Client::wait_until(Inside* inside, Done done) {
  node::NetworkBackoff backoff;
  while (!done()) {
    if (worker_.progress() > 0) {
      backoff.restart();
      continue;
    }
    inside->lock.unlock();
    backoff.step();
    inside->lock.lock();
  }
}

}  // namespace armci::ucx
