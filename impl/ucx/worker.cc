#include "impl/ucx/worker.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "impl/base/backtrace.h"
#include "impl/node/wait.h"
#include "impl/node/waiter.h"
#include "impl/ucx/failure.h"

namespace armci::ucx {

namespace {

// The client is busy for so long after the last send or poll by a thread of the program.
constexpr std::int64_t kBusyUs = 100;
// A client that waits polls again within this time, and has just polled when it makes a pass of the server.
constexpr std::int64_t kPollsAgainUs = 20;
constexpr std::int64_t kJustPolledUs = 2;
// Sleeps of the server thread meanwhile; each is twice the one before.
constexpr std::int64_t kShortestEventlessSleepUs = 200;
constexpr std::int64_t kLongestEventlessSleepUs = 1000;

// UCX delivers a message whole, unless it has announced it for a transfer of its own.
void require_whole(const ucp_am_recv_param_t& param) {
  if ((param.recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0) return;
  // A thread that waits for the message would hang.
  (void)fail(Code::kLayerBelow, nullptr,
             "UCX has announced a message that it was to send at once (UCP_AM_SEND_FLAG_EAGER); set "
             "UCX_RNDV_THRESH=inf, which forbids that");
  die_of_failure("a message of UCX");
}

}  // namespace

Status Worker::open(const Context& context) {
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  if (const ucs_status_t status = ucp_worker_create(context.handle(), &params, &worker_); status != UCS_OK) {
    worker_ = nullptr;
    return note(fail_ucs(status, "ucp_worker_create"),
                "UCX has no memory for its queues in /dev/shm, or no locked memory; enlarge /dev/shm or raise ulimit "
                "-l (UCX_LOG_LEVEL=info tells more)");
  }
  ARMCI_UCS(ucp_worker_get_efd(worker_, &event_fd_), "ucp_worker_get_efd");
  arrivals_ = epoll_create1(EPOLL_CLOEXEC);
  if (arrivals_ < 0) return fail_errno(errno, "epoll_create1; raise the limit on open files (ulimit -n)");
  timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  if (timer_ < 0) return fail_errno(errno, "timerfd_create; raise the limit on open files (ulimit -n)");
  for (const int file : {event_fd_, timer_}) {
    epoll_event event{EPOLLIN, {}};
    if (epoll_ctl(arrivals_, EPOLL_CTL_ADD, file, &event) != 0) return fail_errno(errno, "epoll_ctl");
  }
  for (RoleState& role : roles_) {
    role.signals = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (role.signals < 0) return fail_errno(errno, "eventfd; raise the limit on open files (ulimit -n)");
  }
  return kSuccess;
}

void Worker::close() {
  if (worker_ == nullptr) return;
  // Kept messages go back to the worker.
  for (const Role role : {Role::kClient, Role::kServer}) take_kept(role);
  {
    const Use use(this, Role::kClient);
    ucp_worker_destroy(std::exchange(worker_, nullptr));
  }
  for (const Role role : {Role::kClient, Role::kServer}) {
    take_kept(role);  // the ends of canceled operations
    if (of(role).signals >= 0) ::close(std::exchange(of(role).signals, -1));
  }
  for (int* const file : {&arrivals_, &timer_}) {
    if (*file >= 0) ::close(std::exchange(*file, -1));
  }
}

Status Worker::address(std::string* address) const {
  ucp_address_t* bytes = nullptr;
  std::size_t length = 0;
  ARMCI_UCS(ucp_worker_get_address(worker_, &bytes, &length), "ucp_worker_get_address");
  address->assign(reinterpret_cast<const char*>(bytes), length);
  ucp_worker_release_address(worker_, bytes);
  return kSuccess;
}

// --- endpoints

void Worker::set_addresses(std::vector<std::string> addresses) {
  const Use use(this, Role::kClient);
  addresses_ = std::move(addresses);
  endpoints_.resize(addresses_.size());
}

Status Worker::endpoint(int process, ucp_ep_h* endpoint) {
  ucp_ep_h& of = endpoints_[static_cast<std::size_t>(process)];
  *endpoint = of;
  if (of != nullptr) return kSuccess;
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
  params.address = reinterpret_cast<const ucp_address_t*>(addresses_[static_cast<std::size_t>(process)].data());
  const ucs_status_t status = ucp_ep_create(worker_, &params, endpoint);
  if (status == UCS_OK) {
    of = *endpoint;
    return kSuccess;
  }
  return note(fail_ucs(status, "ucp_ep_create", process),
              "UCX has no transport there; give UCX_TLS and UCX_NET_DEVICES one that reaches it (ucx_info -d lists "
              "them)");
}

void Worker::close_endpoints() {
  std::vector<ucs_status_ptr_t> closing;
  {
    const Use use(this, Role::kClient);
    for (ucp_ep_h& of : endpoints_) {
      if (of == nullptr) continue;
      ucp_request_param_t param{};
      const ucs_status_ptr_t request = ucp_ep_close_nbx(std::exchange(of, nullptr), &param);
      if (request != nullptr && !UCS_PTR_IS_ERR(request)) closing.push_back(request);
    }
  }
  node::Waiter waiter(node::WaitKind::kReply);
  for (const ucs_status_ptr_t request : closing) {
    while (ucp_request_check_status(request) == UCS_INPROGRESS) {
      if (!poll(Role::kClient)) waiter.step();
    }
    ucp_request_free(request);
  }
}

// --- messages and events

Status Worker::handle_messages(unsigned id, Role role, Receive receive) {
  handlers_.push_back(std::make_unique<Handler>(Handler{this, role, std::move(receive)}));
  ucp_am_handler_param_t params{};
  params.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS | UCP_AM_HANDLER_PARAM_FIELD_CB |
                      UCP_AM_HANDLER_PARAM_FIELD_ARG;
  params.id = id;
  params.flags = UCP_AM_FLAG_WHOLE_MSG;
  params.cb = &on_message;
  params.arg = handlers_.back().get();
  ARMCI_UCS(ucp_worker_set_am_recv_handler(worker_, &params), "ucp_worker_set_am_recv_handler");
  return kSuccess;
}

// A message for the other role is copied, unless UCX leaves its memory until it is released.
ucs_status_t Worker::on_message(void* handler, const void* header, std::size_t header_bytes, void* data,
                                std::size_t bytes, const ucp_am_recv_param_t* param) {
  require_whole(*param);
  const Handler& of = *static_cast<const Handler*>(handler);
  Worker* const worker = of.worker;
  const std::span<const char> head(static_cast<const char*>(header), header_bytes);
  const std::span<char> message(static_cast<char*>(data), bytes);
  if (worker->role_ == of.role) {
    worker->of(of.role).has_worked = true;
    of.receive(head, message);
    return UCS_OK;
  }
  std::string kept_head(head.begin(), head.end());
  if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA) != 0) {
    worker->deliver(of.role, [&of, worker, kept_head, message] {
      of.receive(kept_head, message);
      ucp_am_data_release(worker->worker_, message.data());
    });
    return UCS_INPROGRESS;
  }
  worker->deliver(of.role, [&of, kept_head, copy = std::vector<char>(message.begin(), message.end())]() mutable {
    of.receive(kept_head, copy);
  });
  return UCS_OK;
}

void Worker::deliver(Role role, std::function<void()> event) {
  RoleState& to = of(role);
  if (role_ == role) {
    to.has_worked = true;
    return event();
  }
  to.kept.push_back(std::move(event));
  if (std::exchange(to.is_armed, false)) signal(role);
}

// --- progress

// Another thread that has the worker polls for this role too, or ends its call soon. A server that took the replies of
// a client that polls would have to copy them, so it takes only what is kept.
bool Worker::poll(Role role) {
  const bool by_client = role == Role::kClient && !is_server_thread();
  if (by_client) note_poll_of_client();
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  const Use use(this, role);
  take_kept(role);
  const bool progresses = by_client || !client_polls();
  const bool any = progresses && progress() != 0 && role == Role::kClient;
  if (by_client) note_poll_of_client();
  return std::exchange(of(role).has_worked, false) || any;
}

void Worker::note_poll_of_client() {
  const std::int64_t now_us = node::now_us();
  client_at_us_ = now_us;
  client_polled_at_us_ = now_us;
}

// A thread that waits in the client polls as the client just before its pass of the server. One that waits elsewhere
// does not, and its pass has to progress.
bool Worker::client_polls() const {
  return node::now_us() - client_polled_at_us_ < (is_server_thread() ? kPollsAgainUs : kJustPolledUs);
}

// As ucp_worker_progress(). Precondition: a Use.
unsigned Worker::progress() {
  in_callbacks_ = true;
  const unsigned events = ucp_worker_progress(worker_);
  in_callbacks_ = false;
  for (const auto& operation : std::exchange(postponed_, {})) operation();
  return events;
}

void Worker::take_kept(Role role) {
  const Use use(this, role);
  const auto kept = std::exchange(of(role).kept, {});
  for (const auto& event : kept) event();
  if (!kept.empty()) of(role).has_worked = true;
}

bool Worker::arm(Role role) {
  const Use use(this, role);
  RoleState& armed = of(role);
  eventfd_t signals = 0;
  if (role == Role::kServer) {
    server_thread_ = std::this_thread::get_id();
    sleeps_without_event_ = client_is_busy();
  }
  if (!armed.kept.empty() || eventfd_read(armed.signals, &signals) == 0) return false;
  armed.is_armed = true;
  if (role == Role::kServer && sleeps_without_event_) return true;
  const bool is_idle = ucp_worker_arm(worker_) == UCS_OK;
  return progress() == 0 && is_idle;
}

void Worker::await_event(Role role, bool also_other, std::int64_t timeout_us) {
  const Role other = role == Role::kClient ? Role::kServer : Role::kClient;
  const int other_signals = also_other ? of(other).signals : -1;
  if (role == Role::kServer) return await_server_event(other_signals, timeout_us);
  await({{event_fd_, of(role).signals, other_signals}}, timeout_us);
}

// A reply that the client takes first wakes the server thread in the kernel, and ppoll() does not return. So the client
// switches the event off, and a timer ends that sleep. A request that arrives in a sleep without the event waits until
// the client polls, or until the sleep is over.
void Worker::await_server_event(int other_signals, std::int64_t timeout_us) {
  const int signals = of(Role::kServer).signals;
  if (!sleeps_without_event_) {
    eventless_sleep_us_ = 0;
    std::uint64_t times = 0;
    (void)!read(timer_, &times, sizeof times);  // of an earlier sleep
    wake_on_arrival(true);
    arrivals_wake_server_ = true;
    await({{arrivals_, signals, other_signals}}, timeout_us);
    arrivals_wake_server_ = false;
    if (read(timer_, &times, sizeof times) < 0 || !client_is_busy()) return;
  }
  // While the client polls, the pass before this sleep has looked for no message. The client may poll no more.
  const std::int64_t shortest_us = client_polls() ? kPollsAgainUs : kShortestEventlessSleepUs;
  eventless_sleep_us_ = std::clamp(2 * eventless_sleep_us_, shortest_us, kLongestEventlessSleepUs);
  await({{signals, other_signals, -1}},
        timeout_us < 0 ? eventless_sleep_us_ : std::min(eventless_sleep_us_, timeout_us));
}

void Worker::await(const std::array<int, 3>& files, std::int64_t timeout_us) {
  std::array<pollfd, 3> events{};
  for (std::size_t i = 0; i < files.size(); ++i) events[i] = {files[i], POLLIN, 0};
  const timespec timeout = node::timespec_of(timeout_us);
  (void)ppoll(events.data(), events.size(), timeout_us < 0 ? nullptr : &timeout, nullptr);
}

bool Worker::client_is_busy() const { return node::now_us() - client_at_us_ < kBusyUs; }

void Worker::wake_on_arrival(bool on) {
  epoll_event event{on ? EPOLLIN : 0U, {}};
  (void)epoll_ctl(arrivals_, EPOLL_CTL_MOD, event_fd_, &event);
}

// Keeps replies from waking a server thread that sleeps.
//
// Memory ordering: the event is switched off before the timer is set, so a sleep without the event has a timer that has
// not been read.
void Worker::note_send_of_client() {
  if (is_server_thread()) return;
  client_at_us_ = node::now_us();
  if (!arrivals_wake_server_.exchange(false)) return;
  wake_on_arrival(false);
  const itimerspec then{{}, node::timespec_of(kBusyUs)};
  (void)timerfd_settime(timer_, 0, &then, nullptr);
}

void Worker::signal(Role role) { (void)eventfd_write(of(role).signals, 1); }

}  // namespace armci::ucx
