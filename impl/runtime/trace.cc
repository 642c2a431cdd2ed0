#include "impl/runtime/trace.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>
#include <new>

#include "impl/node/agree.h"

namespace armci::runtime {
namespace {

constexpr int kTag = 1;
constexpr int kRoundTrips = 16;
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
constexpr std::int64_t kNanosecondsPerMicrosecond = 1000;

// How far the clock of `peer` is ahead, or behind on the peer itself: rank 0 sends a request, the peer replies with its
// time.
std::int64_t compare_clocks(MPI_Comm comm, int rank, int peer) {
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
  std::int64_t ahead = 0;
  for (int i = 0; i < kRoundTrips; ++i) {
    std::int64_t theirs = 0;
    if (rank == 0) {
      const std::int64_t sent = steady_now_ns();
      MPI_Sendrecv(nullptr, 0, MPI_BYTE, peer, kTag, &theirs, 1, MPI_INT64_T, peer, kTag, comm, MPI_STATUS_IGNORE);
      const std::int64_t back = steady_now_ns();
      if (back - sent >= shortest) continue;
      shortest = back - sent;
      ahead = theirs - (sent + shortest / 2);
    } else {
      MPI_Recv(nullptr, 0, MPI_BYTE, 0, kTag, comm, MPI_STATUS_IGNORE);
      theirs = steady_now_ns();
      MPI_Send(&theirs, 1, MPI_INT64_T, 0, kTag, comm);
    }
  }
  if (rank == 0) {
    MPI_Send(&ahead, 1, MPI_INT64_T, peer, kTag, comm);
  } else {
    MPI_Recv(&ahead, 1, MPI_INT64_T, 0, kTag, comm, MPI_STATUS_IGNORE);
  }
  return ahead;
}

// The clock of a process: its kernel, and its time namespace there.
struct Clock {
  std::array<char, 40> boot_id;
  std::uint64_t name_space;
};

Clock own_clock() {
  Clock clock{};
  if (std::FILE* const file = std::fopen("/proc/sys/kernel/random/boot_id", "r"); file != nullptr) {
    if (std::fgets(clock.boot_id.data(), clock.boot_id.size(), file) == nullptr) clock.boot_id[0] = '\0';
    std::fclose(file);
  }
  struct stat status;
  if (stat("/proc/self/ns/time", &status) == 0) clock.name_space = status.st_ino;
  return clock;
}

bool is_same(const Clock& one, const Clock& other) {
  return one.boot_id[0] != '\0' && one.boot_id == other.boot_id && one.name_space == other.name_space;
}

// Of this process; collective. Processes that share a clock exchange nothing: messages between more processes than
// cores would only add noise. The other clocks are compared one at a time, while the other processes wait.
std::int64_t clock_ahead(MPI_Comm comm, int rank) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  const Clock mine = own_clock();
  Clock first = mine;
  MPI_Bcast(&first, sizeof first, MPI_BYTE, 0, comm);
  int same = is_same(first, mine) ? 1 : 0;
  std::vector<int> all(static_cast<std::size_t>(size));
  MPI_Allgather(&same, 1, MPI_INT, all.data(), 1, MPI_INT, comm);
  if (rank > 0) return same != 0 ? 0 : compare_clocks(comm, rank, 0);
  for (int peer = 1; peer < size; ++peer) {
    if (all[static_cast<std::size_t>(peer)] == 0) compare_clocks(comm, 0, peer);
  }
  return 0;
}

// Without floating point, which has a comma where a program's locale says so.
struct Microseconds {
  explicit Microseconds(std::int64_t nanoseconds) {
    const std::int64_t size = nanoseconds < 0 ? -nanoseconds : nanoseconds;
    std::snprintf(text, sizeof text, "%s%lld.%03d", nanoseconds < 0 ? "-" : "",
                  static_cast<long long>(size / kNanosecondsPerMicrosecond),
                  static_cast<int>(size % kNanosecondsPerMicrosecond));
  }
  char text[32];
};

// A device, a pipe: never replaced by a file.
bool is_special(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

Status cannot_write(const std::string& path, int error) {
  return fail(Code::kArgument, nullptr,
              "ARMCI_TRACE=%s: the file cannot be written: %s; name a file in a folder that process 0 can write to",
              path.c_str(), std::strerror(error));
}

std::string process_lines(int rank) {
  char host[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0;
  MPI_Get_processor_name(host, &length);
  std::replace_if(
      host, host + length, [](char letter) { return letter == '"' || letter == '\\' || letter < ' '; }, '_');
  const std::string pid = std::to_string(rank);
  return "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":" + pid + ",\"tid\":0,\"args\":{\"name\":\"rank " + pid +
         ", " + host + "\"}},\n{\"name\":\"process_sort_index\",\"ph\":\"M\",\"pid\":" + pid +
         ",\"tid\":0,\"args\":{\"sort_index\":" + pid + "}}";
}

}  // namespace

std::int64_t steady_now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Trace& trace() {
  static Trace the_trace;
  return the_trace;
}

std::int64_t ClockDifference::correct(std::int64_t own_ns) const {
  const auto span = static_cast<double>(last_ns - first_ns);
  const double part = span > 0 ? static_cast<double>(own_ns - first_ns) / span : 0;
  const auto grown = static_cast<std::int64_t>(part * static_cast<double>(last_ahead_ns - first_ahead_ns));
  return own_ns - first_ahead_ns - grown;
}

std::string trace_line(const TraceEvent& event, const TraceNames& names, int rank, int thread, std::int64_t origin_ns,
                       const ClockDifference& clock) {
  const bool known = event.call >= 0 && event.call < names.count;
  const char* const name = known ? names.names[event.call] : "unknown";
  char text[320];
  int length = std::snprintf(
      text, sizeof text, R"({"name":"%s","cat":"%s","ph":"X","ts":%s,"dur":%s,"pid":%d,"tid":%d,"args":{)", name,
      known ? names.category(event.call) : "other", Microseconds(clock.correct(event.began_ns) - origin_ns).text,
      Microseconds(event.duration_ns).text, rank, thread);
  const auto bytes_left = [&] { return sizeof text - static_cast<std::size_t>(length); };
  if (event.peer >= 0) length += std::snprintf(text + length, bytes_left(), R"("peer":%d)", event.peer);
  if (event.bytes > 0) {
    length += std::snprintf(text + length, bytes_left(), R"(%s"bytes":%llu)", event.peer >= 0 ? "," : "",
                            static_cast<unsigned long long>(event.bytes));
  }
  std::snprintf(text + length, bytes_left(), "}}");
  return text;
}

std::string trace_path(const std::string& path, int process_id, int start) {
  std::string made;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const char next = path[i] == '%' && i + 1 < path.size() ? path[i + 1] : '\0';
    if (next == 'p' || next == 'n') {
      made += std::to_string(next == 'p' ? process_id : start);
      ++i;
    } else {
      made += path[i];
    }
  }
  return made;
}

// The file is written under another name at finalize, and renamed: a job that is aborted keeps the file of an earlier
// one.
Status Trace::choose_file(const std::string& path) {
  path_ = trace_path(path, static_cast<int>(getpid()), ++starts_);
  written_path_ = is_special(path_) ? path_ : path_ + "." + std::to_string(getpid()) + ".part";
  struct stat status;
  if (stat(path_.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return cannot_write(path_, EISDIR);
  std::FILE* const tried = std::fopen(written_path_.c_str(), "w");
  if (tried == nullptr) return cannot_write(path_, errno);
  std::fclose(tried);
  if (written_path_ != path_) unlink(written_path_.c_str());
  return kSuccess;
}

Status Trace::start(MPI_Comm comm, const std::string& path, std::int64_t events_most, const TraceNames& names,
                    const std::string& title) {
  MPI_Comm_rank(comm, &rank_);
  int wanted = rank_ == 0 && !path.empty() ? 1 : 0;
  ARMCI_MPI(MPI_Bcast(&wanted, 1, MPI_INT, 0, comm));
  if (wanted == 0) return kSuccess;
  const Status mine = rank_ == 0 ? choose_file(path) : kSuccess;
  ARMCI_RETURN_IF_ERROR(node::agree(comm, mine, "opening the file of the trace"));
  ARMCI_MPI(MPI_Comm_dup(comm, &comm_));
  names_ = names;
  title_ = title;
  events_left_ = events_most;
  dropped_ = 0;
  ++generation_;
  clock_ = {};
  clock_.first_ahead_ns = clock_ahead(comm_, rank_);
  clock_.first_ns = steady_now_ns();
  origin_ns_ = clock_.first_ns;
  ARMCI_MPI(MPI_Bcast(&origin_ns_, 1, MPI_INT64_T, 0, comm_));
  enabled_ = true;
  return kSuccess;
}

Trace::Buffer* Trace::buffer_of_this_thread() {
  static thread_local Buffer* mine = nullptr;
  static thread_local std::uint64_t mine_of = 0;
  if (mine_of == generation_) return mine;
  const std::lock_guard<std::mutex> lock(mutex_);
  buffers_.push_back(std::make_unique<Buffer>());
  mine = buffers_.back().get();
  mine->thread = static_cast<int>(buffers_.size()) - 1;
  mine_of = generation_;
  return mine;
}

void Trace::record(const TraceEvent& event) {
  // The call that starts the library ends after the trace has begun.
  if (event.began_ns < clock_.first_ns) return;
  if (events_left_.fetch_sub(1, std::memory_order_relaxed) <= 0) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  try {
    buffer_of_this_thread()->events.push_back(event);
  } catch (const std::bad_alloc&) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
  }
}

// The next part of this process's events as text, each line after a comma; empty at the end.
std::string Trace::next_piece(std::size_t* buffer, std::size_t* event) const {
  std::string text;
  for (; *buffer < buffers_.size(); ++*buffer, *event = 0) {
    const Buffer& one = *buffers_[*buffer];
    for (; *event < one.events.size(); ++*event) {
      if (text.size() >= kPieceBytes) return text;
      text += ",\n" + trace_line(one.events[*event], names_, rank_, one.thread, origin_ns_, clock_);
    }
  }
  return text;
}

void Trace::write_own(int size) {
  std::fprintf(file_,
               "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"processes\":%d,\"title\":\"%s\"},\n\"traceEvents\":[\n%s",
               size, title_.c_str(), process_lines(rank_).c_str());
  std::size_t buffer = 0;
  std::size_t event = 0;
  for (std::string text = next_piece(&buffer, &event); !text.empty(); text = next_piece(&buffer, &event)) {
    std::fwrite(text.data(), 1, text.size(), file_);
  }
}

// An empty message is the end.
Status Trace::receive(int from) {
  std::string text;
  do {
    MPI_Status arrived;
    int length = 0;
    // Blocks: the process sends only at its turn, so no message of its own waits at rank 0 before.
    ARMCI_MPI(MPI_Probe(from, kTag, comm_, &arrived));
    ARMCI_MPI(MPI_Get_count(&arrived, MPI_CHAR, &length));
    text.resize(static_cast<std::size_t>(length));
    ARMCI_MPI(MPI_Recv(text.data(), length, MPI_CHAR, from, kTag, comm_, MPI_STATUS_IGNORE));
    if (file_ != nullptr) std::fwrite(text.data(), 1, text.size(), file_);
  } while (!text.empty());
  return kSuccess;
}

Status Trace::send() {
  ARMCI_MPI(MPI_Recv(nullptr, 0, MPI_BYTE, 0, kTag, comm_, MPI_STATUS_IGNORE));
  std::string text = ",\n" + process_lines(rank_);
  std::size_t buffer = 0;
  std::size_t event = 0;
  for (; !text.empty(); text = next_piece(&buffer, &event)) {
    ARMCI_MPI(MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, 0, kTag, comm_));
  }
  ARMCI_MPI(MPI_Send(nullptr, 0, MPI_CHAR, 0, kTag, comm_));
  return kSuccess;
}

// Rank 0 receives the data of the others also when it cannot write the file.
Status Trace::write_all(int size) {
  file_ = std::fopen(written_path_.c_str(), "w");
  int error = file_ == nullptr ? errno : 0;
  if (file_ != nullptr) write_own(size);
  Status status = kSuccess;
  for (int from = 1; status.ok() && from < size; ++from) {
    MPI_Send(nullptr, 0, MPI_BYTE, from, kTag, comm_);
    status = receive(from);
  }
  if (file_ != nullptr) {
    std::fprintf(file_, "\n]}\n");
    if (std::ferror(file_) != 0) error = errno != 0 ? errno : EIO;
    if (std::fclose(file_) != 0) error = errno;
    file_ = nullptr;
  }
  const bool is_beside = written_path_ != path_;
  if (error == 0 && is_beside && std::rename(written_path_.c_str(), path_.c_str()) != 0) error = errno;
  if (error != 0 && is_beside) unlink(written_path_.c_str());
  if (error != 0 && status.ok()) {
    status = fail(
        Code::kLayerBelow, nullptr,
        "ARMCI_TRACE=%s: the file cannot be written: %s; free space on its disk and run the job again for its timeline",
        path_.c_str(), std::strerror(error));
  }
  return status;
}

Status Trace::finish() {
  if (!enabled()) return kSuccess;
  enabled_ = false;
  clock_.last_ahead_ns = clock_ahead(comm_, rank_);
  clock_.last_ns = steady_now_ns();
  int size = 1;
  MPI_Comm_size(comm_, &size);
  std::int64_t dropped = dropped_.load();
  ARMCI_MPI(MPI_Allreduce(MPI_IN_PLACE, &dropped, 1, MPI_INT64_T, MPI_SUM, comm_));
  Status status = kSuccess;
  if (rank_ == 0) {
    status = write_all(size);
    if (dropped > 0) {
      std::fprintf(stderr, "armci: the trace lacks %lld events: set a larger ARMCI_TRACE_EVENTS\n",
                   static_cast<long long>(dropped));
    }
  } else {
    status = send();
  }
  buffers_.clear();
  MPI_Comm_free(&comm_);
  return status;
}

}  // namespace armci::runtime
