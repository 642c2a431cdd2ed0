// SignalChannel in a real job: every process signals every other one and itself. A thread of each process makes passes,
// as the progress thread does.
//
// Status 1 when a check fails.
#include "impl/mpi-rma/signal_channel.h"

#include <mpi.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "impl/node/waiter.h"
#include "impl/testing/job.h"

namespace {

using armci::kSuccess;
using armci::Status;
using armci::node::Signal;
using armci::node::SignalOp;
using armci::rma::SignalChannel;
using armci::rma::SignalMessage;
using namespace armci::runtime::testing;

constexpr unsigned kHangSeconds = 120;

// Memory of each process, at an address of its own.
struct Memory {
  std::vector<std::uint64_t> words;  // by origin
  std::vector<char> data;
  armci::node::WakeUp wake_up{};
  std::atomic<bool> in_order{true};
};

class Job {
 public:
  Job() : words_(static_cast<std::size_t>(size)), wakes_(words_.size()), data_(words_.size()) {
    memory.words.assign(words_.size(), 0);
    memory.data.assign(SignalMessage::kDataBytesMax, 0);
    share(memory.words.data(), &words_);
    share(&memory.wake_up, &wakes_);
    share(memory.data.data(), &data_);
    const Status opened = SignalChannel::open(
        MPI_COMM_WORLD, [this](const SignalMessage& message) { return apply(message); }, &channel_);
    check(opened.ok(), "the channel opens");
    serve();
  }
  ~Job() {
    for (int target = 0; target < size; ++target) flush(target);
    MPI_Barrier(MPI_COMM_WORLD);
    rest();
    check(channel_->close().ok(), "the channel closes");
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  void serve() {
    serving_ = true;
    thread_.emplace([this] {
      while (serving_) {
        // Leaves the core to the other processes, as a progress thread does.
        if (!channel_->serve()) std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    });
  }
  void rest() {
    serving_ = false;
    thread_->join();
  }

  // The word of this process at the target.
  std::uint64_t* word(int target) const { return words_[static_cast<std::size_t>(target)] + rank; }
  bool set(int target, std::uint64_t value) { return send(target, {word(target), value, SignalOp::kSet}); }
  bool send(int target, const Signal& signal, std::size_t bytes = 0, const void* local = nullptr) {
    Signal waking = signal;
    waking.wake_up = wakes_[static_cast<std::size_t>(target)];
    std::unique_ptr<SignalMessage> message = channel_->take_message();
    message->signal = waking;
    if (bytes > 0 && !message->add_store(data_[static_cast<std::size_t>(target)], local, bytes)) return false;
    return channel_->send(target, std::move(message)).ok();
  }
  bool flush(int target) {
    SignalChannel::Asked asked;
    return channel_->ask(target, &asked).ok() && channel_->await(asked).ok();
  }
  std::uint64_t read(int origin) {
    return std::atomic_ref(memory.words[static_cast<std::size_t>(origin)]).load(std::memory_order_acquire);
  }
  SignalChannel& channel() { return *channel_; }

  Memory memory;
  std::atomic<bool> counts_up{false};  // each signal is one more than the one before

 private:
  template <class T>
  static void share(T* mine, std::vector<T*>* all) {
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all->data(), sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
  }

  Status apply(const SignalMessage& message) {
    if (counts_up && *message.signal.word + 1 != message.signal.value) memory.in_order = false;
    message.each_store([](void* remote, const char* data, std::size_t bytes) { std::memcpy(remote, data, bytes); });
    armci::node::apply(message.signal);
    return kSuccess;
  }

  std::vector<std::uint64_t*> words_;
  std::vector<armci::node::WakeUp*> wakes_;
  std::vector<char*> data_;
  std::unique_ptr<SignalChannel> channel_;
  std::atomic<bool> serving_{false};
  std::optional<std::thread> thread_;
};

void check_order(Job& job) {
  constexpr std::uint64_t kSignals = 5 * SignalChannel::kUnappliedMax;
  job.counts_up = true;
  MPI_Barrier(MPI_COMM_WORLD);
  bool sent = true;
  for (std::uint64_t i = 1; i <= kSignals; ++i) {
    for (int target = 0; target < size; ++target) sent = job.set(target, i) && sent;
  }
  bool flushed = true;
  for (int target = 0; target < size; ++target) flushed = job.flush(target) && flushed;
  check(sent && flushed, "signals are sent");
  bool all = true;
  for (int origin = 0; origin < size; ++origin) all = all && job.read(origin) == kSignals;
  check(all, "every signal is applied");
  check(job.memory.in_order, "the signals of an origin are applied in order");
  job.counts_up = false;
  MPI_Barrier(MPI_COMM_WORLD);
}

// The message overtakes a signal that no flush covers.
void check_flush(Job& job) {
  constexpr std::uint64_t kRounds = 100;
  const int next = (rank + 1) % size;
  const int previous = (rank + size - 1) % size;
  bool there = true;
  for (std::uint64_t i = 1; i <= kRounds; ++i) {
    const bool flushed = job.set(next, 7000 + i) && job.flush(next);
    MPI_Sendrecv(nullptr, 0, MPI_INT, next, 0, nullptr, 0, MPI_INT, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    there = there && flushed && job.read(previous) >= 7000 + i;
  }
  check(there, "after a flush the target has the signal");
}

void check_flush_of_all(Job& job) {
  bool right = true;
  for (int target = 0; target < size; ++target) right = job.set(target, 8000) && right;
  std::vector<SignalChannel::Asked> asked;
  right = job.channel().ask_all(&asked).ok() && right;
  for (const SignalChannel::Asked& one : asked) right = job.channel().await(one).ok() && right;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int origin = 0; origin < size; ++origin) right = right && job.read(origin) == 8000;
  check(right, "all targets are flushed");
}

void check_sleeper(Job& job) {
  constexpr std::int64_t kLongUs = 30'000'000;
  const int previous = (rank + size - 1) % size;
  MPI_Barrier(MPI_COMM_WORLD);
  std::thread sender([&] {
    usleep(20000);  // the previous waiter sleeps by then; if it does not, the wait ends sooner, which is right too
    job.set((rank + 1) % size, 9000);
  });
  const auto start = armci::node::now_us();
  armci::node::Waiter waiter(armci::node::WaitKind::kNotification);
  while (job.read(previous) != 9000) {
    armci::node::sleep_until_signal(job.memory.wake_up, waiter, kLongUs, [&] { return job.read(previous) == 9000; });
  }
  sender.join();
  check(armci::node::now_us() - start < kLongUs / 3, "a thread that sleeps is woken");
}

void check_data(Job& job) {
  const int next = (rank + 1) % size;
  const int previous = (rank + size - 1) % size;
  bool right = true;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{8}, std::size_t{250}, SignalMessage::kDataBytesMax}) {
    const auto letter = static_cast<char>('a' + rank);
    const std::vector<char> local(bytes, letter);
    MPI_Barrier(MPI_COMM_WORLD);
    right = job.send(next, {job.word(next), bytes, SignalOp::kSet}, bytes, local.data()) && right;
    while (job.read(previous) != bytes) job.channel().serve_while_waiting();
    right = right && job.memory.data[bytes - 1] == static_cast<char>('a' + previous);
  }
  check(right, "data are there when the signal is");
}

// Also more signals at once than MPI has sends for.
void check_threads(Job& job) {
  constexpr int kThreads = 4;
  constexpr std::uint64_t kSignals = 500;
  const int next = (rank + 1) % size;
  const int previous = (rank + size - 1) % size;
  job.set(next, 0);
  job.flush(next);
  MPI_Barrier(MPI_COMM_WORLD);
  std::atomic<bool> right{true};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < kSignals; ++i) {
        bool fine = job.send(next, {job.word(next), 1, SignalOp::kAdd});
        if (i % 50 == static_cast<std::uint64_t>(t)) fine = job.flush(next) && fine;
        if (!fine) right = false;
      }
      if (!job.flush(next)) right = false;
    });
  }
  for (std::thread& thread : threads) thread.join();
  MPI_Barrier(MPI_COMM_WORLD);
  check(right && job.read(previous) == kThreads * kSignals, "threads lose no signal");
}

// A target that makes no pass has a bounded number of messages.
void check_bound(Job& job) {
  const int next = (rank + 1) % size;
  const int previous = (rank + size - 1) % size;
  job.set(next, 0);
  job.flush(next);
  MPI_Barrier(MPI_COMM_WORLD);
  job.rest();
  MPI_Barrier(MPI_COMM_WORLD);
  std::atomic<std::uint64_t> sent{0};
  std::thread sender([&] {
    for (std::uint64_t i = 0; i < 2 * SignalChannel::kUnappliedMax; ++i) {
      job.send(next, {job.word(next), 1, SignalOp::kAdd});
      ++sent;
    }
  });
  // The sender itself makes passes once it waits, so only the first signals are known not to wait.
  while (sent < SignalChannel::kUnappliedMax) std::this_thread::yield();
  job.serve();
  sender.join();
  job.flush(next);
  MPI_Barrier(MPI_COMM_WORLD);
  check(job.read(previous) == 2 * SignalChannel::kUnappliedMax, "a sender that waited goes on");
}

// Messages that no process waits for do not keep the channel from closing.
void check_reopening() {
  for (int i = 0; i < 3; ++i) {
    Job job;
    for (int target = 0; target < size; ++target) job.set(target, 1);
  }
  check(true, "");
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  alarm(kHangSeconds);
  read_rank();
  check(provided == MPI_THREAD_MULTIPLE, "MPI has threads");
  if (failures == 0) {
    Job job;
    check_order(job);
    check_flush(job);
    check_flush_of_all(job);
    check_sleeper(job);
    check_data(job);
    check_threads(job);
    check_bound(job);
  }
  check_reopening();
  return verdict();
}
