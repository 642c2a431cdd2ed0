#include "impl/native-verbs/client.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "impl/server/compose.h"
#include "impl/shmem/copy.h"
#include "impl/shmem/wait.h"

namespace armci::verbs {

using common::Code;
using common::fail;
using common::fail_errno;
using common::kSuccess;
using common::Segments;
using common::Status;
using common::Strided;
using server::Form;
using server::RequestHeader;

namespace {

// What devices move at once, if it is aligned.
constexpr std::size_t kWordBytes = 8;
// The shortest elements that must not be torn.
constexpr std::size_t kElementBytes = 4;

bool has_short_element(const void* remote, std::size_t bytes) {
  const std::size_t inside = reinterpret_cast<std::uintptr_t>(remote) % kElementBytes;
  const std::size_t before = (kElementBytes - inside) % kElementBytes;
  return bytes < kWordBytes && bytes >= before + kElementBytes;
}

// Of an answer; the others have the number of their buffer alone.
constexpr std::uint64_t kAnswerFlag = std::uint64_t{1} << 32;

}  // namespace

Client::Client(const Device& device, int process, int nodes)
    : device_(device), process_(process), nodes_(static_cast<std::size_t>(nodes)) {}

Status Client::open(std::size_t bounces, std::size_t bytes) {
  done_.reset(ibv_create_cq(device_.context(), static_cast<int>(2 * bounces), nullptr, nullptr, 0));
  if (done_ == nullptr) return fail_verbs(errno, "ibv_create_cq");
  ibv_srq_init_attr wanted{};
  wanted.attr.max_wr = static_cast<std::uint32_t>(bounces);
  wanted.attr.max_sge = 1;
  received_.reset(ibv_create_srq(device_.domain(), &wanted));
  if (received_ == nullptr) return fail_verbs(errno, "ibv_create_srq");
  ARMCI_RETURN_IF_ERROR(bounces_.make(device_, bounces, bytes));
  ARMCI_RETURN_IF_ERROR(answers_.make(device_, bounces, sizeof(Answer)));
  uses_.resize(bounces);
  for (std::size_t i = 0; i < bounces; ++i) {
    free_.push_back(i);
    ARMCI_RETURN_IF_ERROR(post_receive(i));
  }
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    Link& link = nodes_[node].link;
    ARMCI_RETURN_IF_ERROR(link.create(device_, {done_.get(), received_.get(), static_cast<std::uint32_t>(bounces)}));
    node_of_[link.number()] = static_cast<int>(node);
  }
  return kSuccess;
}

Status Client::post_receive(std::size_t buffer) {
  ibv_sge place = answers_.piece(buffer, sizeof(Answer));
  ibv_recv_wr work{};
  work.wr_id = kAnswerFlag | buffer;
  work.sg_list = &place;
  work.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  const int error = ibv_post_srq_recv(received_.get(), &work, &bad);
  return error == 0 ? kSuccess : fail_verbs(error, "ibv_post_srq_recv");
}

// --- RDMA

// As much as goes at once: what is before a word, whole words, or what is after them.
std::size_t Client::piece(const void* remote, std::size_t bytes) const {
  const std::size_t inside = reinterpret_cast<std::uintptr_t>(remote) % kWordBytes;
  if (inside != 0) return std::min(bytes, kWordBytes - inside);
  return bytes < kWordBytes ? bytes : std::min(bytes / kWordBytes * kWordBytes, bounces_.bytes());
}

Status Client::put(int node, std::uint32_t key, void* remote, const void* local, std::size_t bytes) {
  Lock lock(mutex_);
  char* to = static_cast<char*>(remote);
  const char* from = static_cast<const char*>(local);
  while (bytes > 0) {
    const std::size_t now = piece(to, bytes);
    if (has_short_element(to, now)) {
      ARMCI_RETURN_IF_ERROR(put_by_server(lock, node, to, from, now));
    } else {
      std::size_t bounce = 0;
      ARMCI_RETURN_IF_ERROR(take_bounce(lock, &bounce));
      node::copy(bounces_.at(bounce), from, now);
      uses_[bounce] = {Use::kWrite, node, 0, nullptr, now};
      ARMCI_RETURN_IF_ERROR(post(bounce, IBV_WR_RDMA_WRITE, now, to, key));
      ++nodes_[static_cast<std::size_t>(node)].writes;
    }
    to += now;
    from += now;
    bytes -= now;
  }
  return kSuccess;
}

Status Client::get(int node, std::uint32_t key, const void* remote, void* local, std::size_t bytes,
                   std::uint64_t* operation) {
  Lock lock(mutex_);
  const char* from = static_cast<const char*>(remote);
  char* to = static_cast<char*>(local);
  const std::uint64_t whole = ++last_operation_;
  operations_.emplace(whole, 1);  // the part that is ended when all others have been asked for
  Status status;
  while (bytes > 0 && status.ok()) {
    const std::size_t now = piece(from, bytes);
    if (has_short_element(from, now)) {
      status = get_by_server(lock, node, from, to, now);
    } else {
      std::size_t bounce = 0;
      status = take_bounce(lock, &bounce);
      if (!status.ok()) break;
      uses_[bounce] = {Use::kRead, node, whole, to, now};
      ++operations_[whole];
      status = post(bounce, IBV_WR_RDMA_READ, now, from, key);
    }
    from += now;
    to += now;
    bytes -= now;
  }
  end_part(whole);
  *operation = status.ok() && operations_.contains(whole) ? whole : 0;
  return status;
}

Status Client::post(std::size_t bounce, ibv_wr_opcode opcode, std::size_t bytes, const void* remote,
                    std::uint32_t key) {
  ibv_sge piece = bounces_.piece(bounce, bytes);
  ibv_send_wr work{};
  work.wr_id = bounce;
  work.sg_list = &piece;
  work.num_sge = 1;
  work.opcode = opcode;
  work.send_flags = IBV_SEND_SIGNALED;
  work.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(remote);
  work.wr.rdma.rkey = key;
  return link(uses_[bounce].node).post(&work);
}

// --- requests

// Posts a message; with an answer to be told, waits for it.
Status Client::ask(Lock& lock, int node, std::span<const char> message, std::uint32_t tag, Answer* answer) {
  std::size_t bounce = 0;
  ARMCI_RETURN_IF_ERROR(take_bounce_to_ask(lock, node, &bounce));
  std::memcpy(bounces_.at(bounce), message.data(), message.size());
  ARMCI_RETURN_IF_ERROR(post_request(bounce, node, message.size()));
  asked_[tag] = answer;
  const Status status = await_until(lock, [&] { return !asked_.contains(tag); });
  asked_.erase(tag);  // nobody may write there any more
  return status;
}

Status Client::atomic(int node, RequestHeader header, std::uint64_t* before) {
  Lock lock(mutex_);
  header.tag = next_tag();
  header.origin = static_cast<std::uint32_t>(process_);
  Answer answer;
  ARMCI_RETURN_IF_ERROR(ask(lock, node, {reinterpret_cast<const char*>(&header), sizeof header}, header.tag, &answer));
  *before = answer.value;
  return kSuccess;
}

Status Client::expose(int node, void* base, std::size_t bytes, std::uint32_t* key) {
  Lock lock(mutex_);
  Order order;
  order.tag = next_tag();
  order.address = reinterpret_cast<std::uintptr_t>(base);
  order.bytes = bytes;
  Answer answer;
  ARMCI_RETURN_IF_ERROR(ask(lock, node, {reinterpret_cast<const char*>(&order), sizeof order}, order.tag, &answer));
  *key = static_cast<std::uint32_t>(answer.value);
  return answer.error == 0 ? kSuccess : fail_verbs(answer.error, "ibv_reg_mr of a region");
}

Status Client::conceal(int node, std::uint32_t key) {
  Lock lock(mutex_);
  Order order;
  order.tag = next_tag();
  order.key = key;
  Answer answer;
  return ask(lock, node, {reinterpret_cast<const char*>(&order), sizeof order}, order.tag, &answer);
}

Status Client::put_by_server(Lock& lock, int node, void* remote, const void* local, std::size_t bytes) {
  return add_run(lock, node, server::put_header(), static_cast<char*>(remote), static_cast<const char*>(local), bytes);
}

// Of a word at most, which has room in the answer.
Status Client::get_by_server(Lock& lock, int node, const void* remote, void* local, std::size_t bytes) {
  RequestHeader header;
  header.kind = server::RequestKind::kGet;
  header.tag = next_tag();
  header.origin = static_cast<std::uint32_t>(process_);
  header.address = reinterpret_cast<std::uintptr_t>(remote);
  header.bytes = bytes;
  Answer answer;
  ARMCI_RETURN_IF_ERROR(ask(lock, node, {reinterpret_cast<const char*>(&header), sizeof header}, header.tag, &answer));
  std::memcpy(local, &answer.value, bytes);
  return kSuccess;
}

Status Client::add(int node, RequestHeader header, void* remote, const void* local, const Strided& shape) {
  Lock lock(mutex_);
  char* const to = static_cast<char*>(remote);
  const char* const from = static_cast<const char*>(local);
  Status status;
  header.bytes = shape.count[0];
  if (shape.levels == 0 || header.bytes > (bounces_.bytes() - sizeof header) / 2) {
    for_each_segment(shape, [&](std::ptrdiff_t source, std::ptrdiff_t target) {
      if (status.ok()) status = add_run(lock, node, header, to + target, from + source, shape.count[0]);
    });
    return status;
  }
  std::vector<std::pair<std::ptrdiff_t, std::ptrdiff_t>> places;
  places.reserve(shape.segments());
  for_each_segment(shape, [&](std::ptrdiff_t source, std::ptrdiff_t target) { places.emplace_back(source, target); });
  return add_segments(lock, node, header, places.size(), [&](std::size_t i, const char** source) {
    *source = from + places[i].first;
    return to + places[i].second;
  });
}

Status Client::add_list(int node, RequestHeader header, const Segments& list) {
  Lock lock(mutex_);
  header.bytes = list.bytes;
  if (header.bytes > (bounces_.bytes() - sizeof header) / 2) {
    for (std::size_t i = 0; i < list.count; ++i) {
      ARMCI_RETURN_IF_ERROR(add_run(lock, node, header, static_cast<char*>(list.dst[i]),
                                    static_cast<const char*>(list.src[i]), list.bytes));
    }
    return kSuccess;
  }
  return add_segments(lock, node, header, list.count, [&](std::size_t i, const char** source) {
    *source = static_cast<const char*>(list.src[i]);
    return static_cast<char*>(list.dst[i]);
  });
}

// Without gaps, in pieces that end between elements of every type.
Status Client::add_run(Lock& lock, int node, RequestHeader header, char* remote, const char* local, std::size_t bytes) {
  const std::size_t room = (bounces_.bytes() - sizeof header) / 16 * 16;
  header.form = Form::kContiguous;
  header.origin = static_cast<std::uint32_t>(process_);
  while (bytes > 0) {
    std::size_t bounce = 0;
    ARMCI_RETURN_IF_ERROR(take_bounce_to_ask(lock, node, &bounce));
    header.address = reinterpret_cast<std::uintptr_t>(remote);
    header.bytes = std::min(bytes, room);
    node::copy(server::compose(header, {}, bounces_.at(bounce)), local, header.bytes);
    ARMCI_RETURN_IF_ERROR(post_request(bounce, node, sizeof header + header.bytes));
    remote += header.bytes;
    local += header.bytes;
    bytes -= header.bytes;
  }
  return kSuccess;
}

// Short segments, as many as have room in each request. next(i, &source) tells the places of one.
template <class Next>
Status Client::add_segments(Lock& lock, int node, RequestHeader header, std::size_t segments, Next next) {
  const std::size_t most = (bounces_.bytes() - sizeof header) / (sizeof(std::uint64_t) + header.bytes);
  header.form = Form::kList;
  header.origin = static_cast<std::uint32_t>(process_);
  for (std::size_t first = 0; first < segments;) {
    std::size_t bounce = 0;
    ARMCI_RETURN_IF_ERROR(take_bounce_to_ask(lock, node, &bounce));
    header.count = std::min(most, segments - first);
    char* address = server::compose(header, {}, bounces_.at(bounce));
    char* data = address + header.count * sizeof(std::uint64_t);
    for (std::size_t i = first; i < first + header.count; ++i) {
      const char* source = nullptr;
      const auto at = reinterpret_cast<std::uint64_t>(next(i, &source));
      std::memcpy(address, &at, sizeof at);
      std::memcpy(data, source, header.bytes);
      address += sizeof at;
      data += header.bytes;
    }
    ARMCI_RETURN_IF_ERROR(post_request(bounce, node, static_cast<std::size_t>(data - bounces_.at(bounce))));
    first += header.count;
  }
  return kSuccess;
}

std::uint32_t Client::next_tag() {
  constexpr std::uint32_t kTags = server::kLastTag - server::kFirstTag + 1;
  do {
    last_tag_ = (last_tag_ + 1) % kTags;
  } while (asked_.contains(server::kFirstTag + last_tag_));
  return server::kFirstTag + last_tag_;
}

// --- completion

Status Client::take_bounce(Lock& lock, std::size_t* bounce) {
  ARMCI_RETURN_IF_ERROR(await_until(lock, [this] { return !free_.empty(); }));
  *bounce = free_.back();
  free_.pop_back();
  return kSuccess;
}

Status Client::take_bounce_to_ask(Lock& lock, int node, std::size_t* bounce) {
  const Node& of = nodes_[static_cast<std::size_t>(node)];
  ARMCI_RETURN_IF_ERROR(await_until(lock, [&] { return !free_.empty() && of.unanswered < bounces_.count(); }));
  return take_bounce(lock, bounce);
}

Status Client::post_request(std::size_t bounce, int node, std::size_t bytes) {
  uses_[bounce] = {Use::kRequest, node, 0, nullptr, bytes};
  ARMCI_RETURN_IF_ERROR(post(bounce, IBV_WR_SEND, bytes, nullptr, 0));
  ++nodes_[static_cast<std::size_t>(node)].unanswered;
  return kSuccess;
}

// Waits, letting other threads in between two looks.
template <class Condition>
Status Client::await_until(Lock& lock, Condition condition) {
  node::NetworkBackoff backoff;
  while (!condition()) {
    ARMCI_RETURN_IF_ERROR(advance());
    if (condition()) break;
    lock.unlock();
    backoff.step();
    lock.lock();
  }
  return kSuccess;
}

Status Client::advance() {
  if (!broken_.empty()) return fail(Code::kLayerBelow, nullptr, "%s", broken_.c_str());
  std::array<ibv_wc, 16> works;
  const int count = ibv_poll_cq(done_.get(), static_cast<int>(works.size()), works.data());
  if (count < 0) return fail(Code::kLayerBelow, nullptr, "ibv_poll_cq failed");
  for (int i = 0; i < count; ++i) ARMCI_RETURN_IF_ERROR(ended(works[static_cast<std::size_t>(i)]));
  return kSuccess;
}

Status Client::ended(const ibv_wc& work) {
  const bool is_answer = (work.wr_id & kAnswerFlag) != 0;
  const auto number = static_cast<std::uint32_t>(work.wr_id);
  if (is_answer) {
    const int node = node_of_[work.qp_num];
    return work.status == IBV_WC_SUCCESS ? answered(node, number) : broken(node, Use::kFree, work.status);
  }
  Bounce& bounce = uses_[number];
  if (work.status != IBV_WC_SUCCESS) return broken(bounce.node, bounce.use, work.status);
  if (bounce.use == Use::kWrite) --nodes_[static_cast<std::size_t>(bounce.node)].writes;
  if (bounce.use == Use::kRead) {
    node::copy(bounce.to, bounces_.at(number), bounce.bytes);
    end_part(bounce.operation);
  }
  bounce.use = Use::kFree;
  free_.push_back(number);
  return kSuccess;
}

Status Client::answered(int node, std::size_t buffer) {
  Answer answer;
  std::memcpy(&answer, answers_.at(buffer), sizeof answer);
  --nodes_[static_cast<std::size_t>(node)].unanswered;
  if (const auto asked = asked_.find(answer.tag); asked != asked_.end()) {
    *asked->second = answer;
    asked_.erase(asked);
  }
  return post_receive(buffer);
}

// After the first failure of a link nothing works any more.
Status Client::broken(int node, Use use, ibv_wc_status status) {
  const char* const what = use == Use::kWrite  ? "writing to"
                           : use == Use::kRead ? "reading from"
                                               : "asking the server of";
  broken_ = std::string(what) + " node " + std::to_string(node) + " failed: " + ibv_wc_status_str(status);
  if (status == IBV_WC_RETRY_EXC_ERR) broken_ += "; its process has died, or the network between is down";
  return fail(Code::kLayerBelow, nullptr, "%s", broken_.c_str());
}

void Client::end_part(std::uint64_t operation) {
  const auto found = operations_.find(operation);
  if (found != operations_.end() && --found->second == 0) operations_.erase(found);
}

Status Client::test(std::uint64_t operation, bool* done) {
  Lock lock(mutex_);
  *done = !operations_.contains(operation);
  if (*done) return kSuccess;
  ARMCI_RETURN_IF_ERROR(advance());
  *done = !operations_.contains(operation);
  return kSuccess;
}

Status Client::wait(std::uint64_t operation) {
  Lock lock(mutex_);
  return await_until(lock, [&] { return !operations_.contains(operation); });
}

Status Client::flush(int node) {
  Lock lock(mutex_);
  const Node& of = nodes_[static_cast<std::size_t>(node)];
  return await_until(lock, [&] { return of.writes == 0 && of.unanswered == 0; });
}

Status Client::flush_all() {
  Lock lock(mutex_);
  return await_until(lock, [&] {
    return std::all_of(nodes_.begin(), nodes_.end(),
                       [](const Node& node) { return node.writes == 0 && node.unanswered == 0; });
  });
}

}  // namespace armci::verbs
