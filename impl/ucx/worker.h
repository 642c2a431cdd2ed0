// The worker of UCX that a process has, and its endpoints to those of other processes.
//
// The client (client_wire.h) and the server (server_wire.h) of the process share the worker. So two processes have one
// connection, and the acknowledgements of TCP travel with the messages of the other direction. Each of the two is a
// role. Either makes progress for both: what arrives for the other role, or ends for it, is kept for its next poll().
//
//   client polls | a reply: taken at once      a request: kept, and the server is woken if it sleeps
//   server polls | a request: executed at once a reply: kept, and the client is woken if it sleeps; while the client
//                | polls, the server takes only what is kept
//
// An arrival wakes the server thread, unless threads of the program are busy in the client: each reply would wake it
// for nothing (D131).
//
//   client        |        send poll send poll ... poll | computes
//   server thread | sleeps   100 us | 200 us | 400 us | ... 1 ms | polls, sleeps until an arrival
//                            '- without the event of the worker -'
//
// Thread safety: open(), set_addresses(), handle_messages() and close() while no other thread uses the worker;
// endpoint() with a Use, which nests; deliver() in callbacks of UCX; the others by any thread. One thread at a time
// acts for a role. Events run while the worker is locked: sends of the other role wait for their end. Lock order: the
// lock of the client or of the server's passes, then the worker's.
#pragma once

#include <ucp/api/ucp.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "impl/base/status.h"
#include "impl/ucx/context.h"
#include "impl/ucx/failure.h"

namespace armci::ucx {

enum class Role : std::uint8_t { kClient, kServer };

class Worker {
 public:
  // An active message: its header, and its data during the call.
  using Receive = std::function<void(std::span<const char> header, std::span<char> data)>;

  // Access to the worker, for calls of UCX.
  class Use {
   public:
    Use(Worker* worker, Role role) : lock_(worker->mutex_), worker_(*worker), outer_(worker->role_) {
      worker->role_ = role;
    }
    ~Use() { worker_.role_ = outer_; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    const std::unique_lock<std::recursive_mutex> lock_;
    Worker& worker_;
    const Role outer_;
  };

  Worker() = default;
  ~Worker() { close(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  Status open(const Context& context);
  // Completes what is pending, as canceled.
  void close();
  ucp_worker_h handle() const { return worker_; }
  // By which others make endpoints to it.
  Status address(std::string* address) const;
  // addresses[r]: of the worker of process r.
  void set_addresses(std::vector<std::string> addresses);
  // The endpoint to the worker of a process; the first call for it creates it. Precondition: a Use.
  Status endpoint(int process, ucp_ep_h* endpoint);
  // To be called when no message is pending, in all processes before any closes its worker.
  void close_endpoints();
  // Calls `receive` for every active message with that number, in poll() of that role.
  Status handle_messages(unsigned id, Role role, Receive receive);
  // Issues an operation of the role to a process by issue(endpoint, &param), a call of UCX. done(status) is called once
  // when it is complete: in this call or in a poll() of the role, and not after an error return. `call`: for the
  // message of such an error. `param` may have fields already. In a callback of UCX the first operation to a process is
  // issued when UCX has returned: uct_tcp takes over the connection by which the message came, and crashes if it still
  // reads from it.
  template <class Issue, class Done>
  Status issue(Role role, int process, const char* call, ucp_request_param_t param, Issue issue, Done done);
  // The client has sent a message. Precondition: a Use.
  void note_send_of_client();
  // From a callback of UCX: calls `event` now if its role polls, else in its next poll().
  void deliver(Role role, std::function<void()> event);

  // One pass of progress, unless it is the server's while the client polls; true if an event of the role has run since
  // its last pass, and for the client also if UCX has made any progress.
  bool poll(Role role);
  // Prepares await_event(): true if a later arrival, event or signal for the role ends it, false if there is or was
  // work. A verbs device reports only arrivals after UCX's own arm, so arm() polls once more for earlier ones.
  bool arm(Role role);
  // Blocks until the role may have something to do, or the other one too with `also_other`; both are armed. At most
  // `timeout_us` (microseconds; negative: without end). While the client is busy the server's sleep is at most a
  // millisecond, without the event. Other threads may use the worker meanwhile.
  void await_event(Role role, bool also_other, std::int64_t timeout_us);
  // Ends an await_event() of the role, the present one or the next.
  void signal(Role role);

 private:
  struct Handler {
    Worker* worker;
    Role role;
    Receive receive;
  };
  template <class Done>
  struct Issued {
    Worker* worker;
    Role role;
    Done done;
  };
  struct RoleState {
    std::vector<std::function<void()>> kept;  // events
    bool is_armed = false;                    // perhaps it sleeps
    bool has_worked = false;                  // an event has run since the last poll()
    int signals = -1;                         // eventfd
  };

  static void await(const std::array<int, 3>& files, std::int64_t timeout_us);
  void await_server_event(int other_signals, std::int64_t timeout_us);
  void note_poll_of_client();
  // Whether a thread of the program has polled as the client, and is about to do so again.
  bool client_polls() const;
  // Whether it has sent or polled lately.
  bool client_is_busy() const;
  bool is_server_thread() const { return std::this_thread::get_id() == server_thread_; }
  void wake_on_arrival(bool on);
  RoleState& of(Role role) { return roles_[static_cast<std::size_t>(role)]; }
  const RoleState& of(Role role) const { return roles_[static_cast<std::size_t>(role)]; }
  void take_kept(Role role);
  unsigned progress();
  template <class Issue, class Done>
  Status issue_now(int process, const char* call, const ucp_request_param_t& param, const Issue& issue,
                   std::unique_ptr<Issued<Done>>* issued);
  static ucs_status_t on_message(void* handler, const void* header, std::size_t header_bytes, void* data,
                                 std::size_t bytes, const ucp_am_recv_param_t* param);

  std::recursive_mutex mutex_;
  Role role_ = Role::kClient;                  // that has the worker
  std::atomic<std::int64_t> client_at_us_{0};  // the last send or poll by a thread of the program
  std::atomic<std::int64_t> client_polled_at_us_{0};
  std::atomic<bool> arrivals_wake_server_{false};  // the server thread sleeps
  bool sleeps_without_event_ = false;              // the next sleep of the server thread
  std::int64_t eventless_sleep_us_ = 0;            // the last, 0: the client was not busy
  std::atomic<std::thread::id> server_thread_;     // its sends and polls do not make the client busy
  ucp_worker_h worker_ = nullptr;
  int event_fd_ = -1;
  int arrivals_ = -1;  // epoll: of the timer, and of the event or not
  int timer_ = -1;
  RoleState roles_[2];
  std::vector<std::unique_ptr<Handler>> handlers_;
  std::vector<std::string> addresses_;
  std::vector<ucp_ep_h> endpoints_;  // by process
  bool in_callbacks_ = false;
  std::vector<std::function<void()>> postponed_;  // operations of callbacks
};

template <class Issue, class Done>
Status Worker::issue(Role role, int process, const char* call, ucp_request_param_t param, Issue issue, Done done) {
  auto issued = std::make_unique<Issued<Done>>(Issued<Done>{this, role, std::move(done)});
  param.op_attr_mask |= UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.user_data = issued.get();
  param.cb.send = [](void* request, ucs_status_t status, void* data) {
    ucp_request_free(request);
    auto* const of = static_cast<Issued<Done>*>(data);
    of->worker->deliver(of->role, [of, status] { std::unique_ptr<Issued<Done>>(of)->done(status); });
  };
  const Use use(this, role);
  if (!in_callbacks_ || endpoints_[static_cast<std::size_t>(process)] != nullptr) {
    return issue_now(process, call, param, issue, &issued);
  }
  postponed_.push_back([this, process, call, param, issue, later = issued.release()] {
    std::unique_ptr<Issued<Done>> issued(later);
    const Use use(this, issued->role);
    const Status status = issue_now(process, call, param, issue, &issued);
    if (!status.ok()) issued->done(UCS_ERR_UNREACHABLE);
  });
  return kSuccess;
}

template <class Issue, class Done>
Status Worker::issue_now(int process, const char* call, const ucp_request_param_t& param, const Issue& issue,
                         std::unique_ptr<Issued<Done>>* issued) {
  ucp_ep_h to = nullptr;
  ARMCI_RETURN_IF_ERROR(endpoint(process, &to));
  const ucs_status_ptr_t request = issue(to, &param);
  if (UCS_PTR_IS_ERR(request)) return fail_ucs(UCS_PTR_STATUS(request), call, process);
  if ((*issued)->role == Role::kClient) note_send_of_client();
  if (request == nullptr) {
    (*issued)->done(UCS_OK);
  } else {
    (void)issued->release();  // the callback has it
  }
  return kSuccess;
}

}  // namespace armci::ucx
