#include "conformance/record/record.h"

#include <fcntl.h>
#include <mpi.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "armci_message.h"

namespace conformance::record {
namespace {

constexpr const char* kVariable = "CONFORMANCE_RECORD";
constexpr std::size_t kFileBytesMax = 4 << 20;
// Of what a pointer argument points to.
constexpr std::size_t kContentBytes = 64;
constexpr int kDescriptorsMax = 4;
constexpr int kSegmentsMax = 64;

thread_local int depth = 0;

std::string Head(const char* kind) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  char text[64];
  std::snprintf(text, sizeof text, "%ld%09ld %ld %s", static_cast<long>(now.tv_sec), now.tv_nsec, syscall(SYS_gettid),
                kind);
  return text;
}

// The names of constants, whose values are a matter of the library's headers.
std::string Constants() {
  struct Constant {
    const char* kind;
    const char* name;
    int value;
  };
#define CONSTANT(kind, name) \
  { #kind, #name, static_cast < int>(name) }
  static constexpr Constant kAll[] = {
      CONSTANT(datatype, ARMCI_ACC_INT),  CONSTANT(datatype, ARMCI_ACC_LNG),
      CONSTANT(datatype, ARMCI_ACC_FLT),  CONSTANT(datatype, ARMCI_ACC_DBL),
      CONSTANT(datatype, ARMCI_ACC_CPL),  CONSTANT(datatype, ARMCI_ACC_DCP),
      CONSTANT(rmw, ARMCI_FETCH_AND_ADD), CONSTANT(rmw, ARMCI_FETCH_AND_ADD_LONG),
      CONSTANT(rmw, ARMCI_SWAP),          CONSTANT(rmw, ARMCI_SWAP_LONG),
      CONSTANT(domain, ARMCI_DOMAIN_SMP), CONSTANT(type, ARMCI_INT),
      CONSTANT(type, ARMCI_LONG),         CONSTANT(type, ARMCI_LONG_LONG),
      CONSTANT(type, ARMCI_FLOAT),        CONSTANT(type, ARMCI_DOUBLE),
      CONSTANT(scope, SCOPE_ALL),         CONSTANT(scope, SCOPE_NODE),
      CONSTANT(scope, SCOPE_MASTERS),
  };
#undef CONSTANT
  std::string lines;
  for (const Constant& each : kAll) {
    lines += Head("N") + " " + each.kind + " " + each.name + " " + std::to_string(each.value) + "\n";
  }
  return lines;
}

// Calls that later ones depend on, however long ago they were.
bool IsSetup(const char* name) {
  static constexpr const char* kParts[] = {"Init", "Finalize", "Malloc", "Free", "mutexes", "Group_", "Mem"};
  return std::any_of(std::begin(kParts), std::end(kParts),
                     [&](const char* part) { return std::strstr(name, part) != nullptr; });
}

class Files {
 public:
  Files() : folder_(std::getenv(kVariable)) {
    if (folder_ == nullptr || *folder_ == '\0') return;
    setup_ = Open(".setup");
    latest_ = Open(".0");
    Put(setup_, Constants());
  }

  bool open() const { return latest_ >= 0; }

  void Write(bool setup, const std::string& text) {
    const std::lock_guard<std::mutex> lock(mutex_);
    NoteRank();
    if (setup) Put(setup_, text);
    written_ += text.size();
    if (written_ > kFileBytesMax) {
      close(latest_);
      turn_ ^= 1;
      latest_ = Open(turn_ == 0 ? ".0" : ".1");
      written_ = 0;
    }
    Put(latest_, text);
  }

 private:
  int Open(const char* ending) const {
    const std::string path = std::string(folder_) + "/" + std::to_string(getpid()) + ending;
    return open_file(path.c_str());
  }
  static int open_file(const char* path) { return ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644); }
  static void Put(int file, const std::string& text) {
    if (write(file, text.data(), text.size()) < 0) return;
  }

  void NoteRank() {
    int started = 0;
    int ended = 0;
    if (ranked_ || MPI_Initialized(&started) != MPI_SUCCESS || started == 0) return;
    if (MPI_Finalized(&ended) != MPI_SUCCESS || ended != 0) return;
    int rank = 0;
    int size = 0;
    int level = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Query_thread(&level);
    constexpr int kLevels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    const auto number = std::find(std::begin(kLevels), std::end(kLevels), level) - std::begin(kLevels);
    Put(setup_,
        Head("P") + " " + std::to_string(rank) + " " + std::to_string(size) + " " + std::to_string(number) + "\n");
    ranked_ = true;
  }

  const char* const folder_;
  std::mutex mutex_;
  int setup_ = -1;
  int latest_ = -1;
  int turn_ = 0;
  std::size_t written_ = 0;
  bool ranked_ = false;
};

Files& TheFiles() {
  static Files files;
  return files;
}

std::string Hex(const void* from, std::size_t bytes) {
  std::string text;
  char digits[3];
  for (std::size_t i = 0; i < bytes; ++i) {
    std::snprintf(digits, sizeof digits, "%02x", static_cast<const unsigned char*>(from)[i]);
    text += digits;
  }
  return text;
}

// Reads memory that may not be there; returns the number of bytes that are.
std::size_t Peek(const void* at, void* into, std::size_t bytes) {
  for (; bytes > 0; bytes /= 2) {
    const iovec local{into, bytes};
    const iovec remote{const_cast<void*>(at), bytes};
    if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes)) return bytes;
  }
  return 0;
}

std::string Content(const Argument& argument) {
  char bytes[kContentBytes];
  return argument.at == nullptr ? "" : Hex(bytes, Peek(argument.at, bytes, sizeof bytes));
}

std::string Pointer(const void* pointer) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%lx", reinterpret_cast<unsigned long>(pointer));
  return text;
}

}  // namespace

bool IsActive() { return depth == 0 && TheFiles().open(); }

Argument Describe(const void* pointer) { return {Pointer(pointer), pointer}; }
Argument Describe(const char* text) { return {Pointer(text), text}; }

std::string Number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

Call::Call(const char* name, std::vector<Argument> arguments) : name_(name), arguments_(std::move(arguments)) {
  ++depth;
  lines_ = Head("C") + " " + name_;
  for (const Argument& argument : arguments_) lines_ += " " + argument.text;
  lines_ += "\n";
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    before_.push_back(Content(arguments_[i]));
    if (!before_.back().empty()) lines_ += Head("B") + " " + std::to_string(i) + " " + before_.back() + "\n";
  }
}

Call::~Call() { --depth; }

void Call::Descriptors(const armci_giov_t* first, int count) {
  for (int i = 0; i < std::min(count, kDescriptorsMax); ++i) {
    armci_giov_t each{};
    if (Peek(first + i, &each, sizeof each) != sizeof each) return;
    const int segments = std::clamp(static_cast<int>(each.ptr_array_len), 0, kSegmentsMax);
    std::vector<void*> from(static_cast<std::size_t>(segments) + 1);
    std::vector<void*> to(from);
    const std::size_t bytes = static_cast<std::size_t>(segments) * sizeof(void*);
    const bool known =
        Peek(each.src_ptr_array, from.data(), bytes) == bytes && Peek(each.dst_ptr_array, to.data(), bytes) == bytes;
    lines_ += Head("V") + " " + std::to_string(each.bytes) + " " + std::to_string(each.ptr_array_len);
    for (int j = 0; known && j < segments; ++j) {
      lines_ += " " + Pointer(from[static_cast<std::size_t>(j)]) + " " + Pointer(to[static_cast<std::size_t>(j)]);
    }
    lines_ += "\n";
  }
}

void Call::Begins() { TheFiles().Write(IsSetup(name_), lines_); }

void Call::Returned(const std::string& value) {
  std::string lines;
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    const std::string after = Content(arguments_[i]);
    if (after != before_[i]) lines += Head("A") + " " + std::to_string(i) + " " + after + "\n";
  }
  lines += Head("R") + " " + value + "\n";
  TheFiles().Write(IsSetup(name_), lines);
}

}  // namespace conformance::record

// The harness calls it where it is linked.
extern "C" void ConformanceRecordEvent(const char* kind, const char* text) {
  using namespace conformance::record;
  if (!TheFiles().open()) return;
  std::string line(text);
  std::replace(line.begin(), line.end(), '\n', '\t');
  TheFiles().Write(std::strcmp(kind, "meet") != 0, Head("E") + " " + kind + " " + line + "\n");
}
