// armci.hpp - ARMCI for C++20: objects that free and complete themselves, and spans for data. Header only.
//
// Each function here is a call of armci.h or armcix.h, which state what it guarantees; the clauses hold unchanged.
// A failed call throws armci::Error with its armci_result_t. A destructor throws nothing: the library has printed its line.
// Calls without a result in C (fence, barrier, lock, unlock) end the job on bad input, as in C; so do rank() and size()
// while the library is down.
//
// An element type T is trivially copyable and not const. A remote address is a T* into a Region, as in C; its process is
// named beside it.
// Objects whose destructor is collective (Library, Region, Mutexes, Group) are destroyed by all members in the same order,
// before the Library; stack order does it. The Library is destroyed before MPI_Finalize, hence the block below.
// An exception that all members get alike, as from an allocation, may unwind them. After one on a single process, the
// collective destructors wait for the others: catch it inside of these objects' scope, or nowhere, which ends the job.
//
//     MPI_Init(&argc, &argv);
//     {
//       armci::Library library;                              // collective
//       armci::Region<double> vector(1000);                  // collective: 1000 elements on each process
//       armci::put(block, vector.on(right), right);          // block may be reused at once
//       armci::barrier();
//     }
//     MPI_Finalize();
#ifndef ARMCI_SPEC_ARMCI_HPP_
#define ARMCI_SPEC_ARMCI_HPP_

// g++ 10 names its C++20 by an earlier number.
#if !defined(__cplusplus) || __cplusplus < 201709L
#error "armci.hpp is for C++20: compile with -std=c++20 or later, or include armci.h"
#endif
#if !defined(__cpp_exceptions)
#error "armci.hpp reports errors by exceptions: compile without -fno-exceptions, or include armci.h"
#endif

#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "armci.h"
#include "armcix.h"
#include "message.h"

// The inline namespace keeps these names apart from those inside a static library.
namespace armci {
inline namespace cpp1 {

// A call failed. code() is its armci_result_t.
class Error : public std::runtime_error {
 public:
  Error(const char* call, int code)
      : std::runtime_error(std::string(call) + " failed with code " + std::to_string(code) + "; its line is on stderr"),
        code_(code) {}
  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  int code_;
};

inline void require(const char* call, int code) {
  if (code != ARMCI_OK) throw Error(call, code);
}

template <class T>
concept Element = std::is_trivially_copyable_v<T> && std::is_same_v<T, std::remove_cv_t<T>>;

// A span that takes its element type from the remote address beside it: a vector or array converts to it.
template <class T>
using View = std::type_identity_t<std::span<T>>;

// The datatype of accumulate for an element type; other types have none.
template <class T>
inline constexpr int kAccumulated = -1;
template <>
inline constexpr int kAccumulated<int> = ARMCI_ACC_INT;
template <>
inline constexpr int kAccumulated<long> = ARMCI_ACC_LNG;
template <>
inline constexpr int kAccumulated<float> = ARMCI_ACC_FLT;
template <>
inline constexpr int kAccumulated<double> = ARMCI_ACC_DBL;
template <>
inline constexpr int kAccumulated<std::complex<float>> = ARMCI_ACC_CPL;
template <>
inline constexpr int kAccumulated<std::complex<double>> = ARMCI_ACC_DCP;
template <class T>
concept Summand = kAccumulated<T>
>= 0;

// The types of atomic operations: integers of 4 and 8 bytes.
template <class T>
concept Atomic = Element<T> && std::is_integral_v<T> &&(sizeof(T) == 4 || sizeof(T) == 8);
template <Atomic T>
inline constexpr armcix_type_t kAtomic = sizeof(T) == 4 ? (std::is_signed_v<T> ? ARMCIX_INT32 : ARMCIX_UINT32)
                                                        : (std::is_signed_v<T> ? ARMCIX_INT64 : ARMCIX_UINT64);

namespace internal {

// The length of `count` elements in bytes. A product that does not fit becomes the greatest length, which the library refuses.
template <Element T>
armci_size_t bytes_of(std::size_t count) {
  constexpr armci_size_t kMost = std::numeric_limits<armci_size_t>::max();
  return count > static_cast<std::size_t>(kMost) / sizeof(T) ? kMost : static_cast<armci_size_t>(count * sizeof(T));
}

// An object, given as an rvalue, that takes its elements away with it: a vector or array, but no span.
template <class T>
concept Temporary = !std::is_lvalue_reference_v<T> && !std::ranges::enable_borrowed_range<std::remove_cvref_t<T>>;

// The code of a call that returns NULL on every error.
inline int code_of_null(int while_up) { return ARMCI_Initialized() != 0 ? while_up : ARMCI_ERR_STATE; }

// The world; while the library is down a group that calls refuse, since ARMCI_Group_get_world would end the job.
inline ARMCI_Group world() {
  ARMCI_Group world{};
  if (ARMCI_Initialized() != 0) ARMCI_Group_get_world(&world);
  return world;
}

}  // namespace internal

// ARMCI_Init and ARMCI_Finalize. Collective, blocking; starts nest.
class Library {
 public:
  [[nodiscard]] Library() { require("ARMCI_Init", ARMCI_Init()); }
  // On the processes of comm; MPI runs, and provides the thread level.
  [[nodiscard]] Library(int thread_level, MPI_Comm comm) {
    require("ARMCI_Init_thread_comm", ARMCI_Init_thread_comm(thread_level, comm));
  }
  ~Library() { ARMCI_Finalize(); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
};

// The absolute id of this process, and the number of processes. Local.
[[nodiscard]] inline int rank() { return armci_msg_me(); }
[[nodiscard]] inline int size() { return armci_msg_nproc(); }

// A process group. Collective over the parent, blocking: construction; over the group: destruction.
class Group {
 public:
  // ARMCIX_Group_split of the parent, by default the world. A negative color makes a group without this process.
  static Group split(int color, int key = 0) {
    ARMCI_Group world = internal::world();
    return Group(&world, color, key);
  }
  Group(ARMCI_Group* parent, int color, int key) : member_(color >= 0) {
    require("ARMCIX_Group_split", ARMCIX_Group_split(parent, color, key, &group_));
  }
  // ARMCI_Group_free would end the job for a group that is no more, as after finalize; the rank only prints a line then.
  ~Group() {
    int own = -1;
    if (member_ && ARMCI_Group_rank(&group_, &own) == ARMCI_OK) ARMCI_Group_free(&group_);
  }
  Group(Group&& other) noexcept
      : group_(std::exchange(other.group_, {})), member_(std::exchange(other.member_, false)) {}
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  Group& operator=(Group&&) = delete;

  [[nodiscard]] bool member() const { return member_; }
  // The group rank of this process, -1 outside of the group.
  [[nodiscard]] int rank() const {
    ARMCI_Group copy = group_;
    int own = -1;
    require("ARMCI_Group_rank", ARMCI_Group_rank(&copy, &own));
    return own;
  }
  // The number of members, 0 outside of the group.
  [[nodiscard]] int size() const {
    ARMCI_Group copy = group_;
    int members = 0;
    if (rank() >= 0) ARMCI_Group_size(&copy, &members);
    return members;
  }
  [[nodiscard]] int absolute_id(int group_rank) const {
    ARMCI_Group copy = group_;
    const int id = ARMCI_Absolute_id(&copy, group_rank);
    if (id < 0) throw Error("ARMCI_Absolute_id", ARMCI_ERR_PROC);
    return id;
  }
  [[nodiscard]] ARMCI_Group* get() { return &group_; }

 private:
  ARMCI_Group group_{};
  bool member_;
};

// ARMCI_Malloc and ARMCI_Free, or their group forms: `count` elements on this process, which may differ and be 0.
// Collective, blocking: construction and destruction. Contents are unspecified.
template <Element T>
class Region {
  static_assert(alignof(T) <= 64, "regions are aligned to 64 bytes, T needs more");

 public:
  explicit Region(std::size_t count) : count_(count) {
    if (ARMCI_Initialized() != 0) {
      parts_.resize(static_cast<std::size_t>(armci::size()));
      rank_ = armci::rank();
    }
    require("ARMCI_Malloc", ARMCI_Malloc(parts_.data(), internal::bytes_of<T>(count)));
  }
  // Over a group, which outlives the region: on() takes group ranks, transfers take absolute ids.
  Region(std::size_t count, Group& group)
      : parts_(static_cast<std::size_t>(group.size())),
        count_(count),
        rank_(group.rank()),
        group_(*group.get()),
        of_group_(true) {
    require("ARMCI_Malloc_group", ARMCI_Malloc_group(parts_.data(), internal::bytes_of<T>(count), &group_));
  }
  ~Region() { free(); }
  Region(Region&& other) noexcept
      : parts_(std::move(other.parts_)),
        count_(std::exchange(other.count_, 0)),
        rank_(other.rank_),
        group_(other.group_),
        of_group_(other.of_group_) {
    other.parts_.clear();
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  Region& operator=(Region&&) = delete;

  // The remote address of the part of a process; nullptr where it is empty. std::out_of_range: no such process.
  [[nodiscard]] T* on(int process) const { return static_cast<T*>(parts_.at(static_cast<std::size_t>(process))); }
  // The part of this process.
  [[nodiscard]] std::span<T> local() const { return parts_.empty() ? std::span<T>() : std::span<T>(on(rank_), count_); }

 private:
  void free() noexcept {
    if (parts_.empty()) return;
    void* own = parts_[static_cast<std::size_t>(rank_)];
    of_group_ ? ARMCI_Free_group(own, &group_) : ARMCI_Free(own);
  }

  std::vector<void*> parts_{};
  std::size_t count_;
  int rank_ = -1;
  ARMCI_Group group_{};
  bool of_group_ = false;
};

// ARMCI_Malloc_local: private memory that transfers use best as local buffer. Local. Its destructor waits for local
// completion of all non-blocking operations of this process, since one of them may use the buffer.
template <Element T>
class Buffer {
  static_assert(alignof(T) <= 64, "buffers are aligned to 64 bytes, T needs more");

 public:
  explicit Buffer(std::size_t count)
      : data_(static_cast<T*>(ARMCI_Malloc_local(internal::bytes_of<T>(count)))), count_(count) {
    if (data_ == nullptr && count > 0) throw Error("ARMCI_Malloc_local", internal::code_of_null(ARMCI_ERR_MEMORY));
  }
  ~Buffer() {
    if (data_ == nullptr) return;
    if (ARMCI_Initialized() != 0) ARMCI_WaitAll();
    ARMCI_Free_local(data_);
  }
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer& operator=(Buffer&&) = delete;
  [[nodiscard]] std::span<T> span() const { return {data_, count_}; }

 private:
  T* data_;
  std::size_t count_;
};

// A handle of non-blocking operations: it may carry many, and its destructor waits for their local completion. Declare it
// after a vector or array that its operations use, so that they outlive it.
class Handle {
 public:
  Handle() { ARMCI_INIT_HANDLE(&handle_); }
  // After finalize, which completes everything, there is nothing to wait for.
  ~Handle() {
    if (ARMCI_Initialized() != 0) ARMCI_Wait(&handle_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  // Local completion of all that it carries. Local, blocking.
  void wait() { require("ARMCI_Wait", ARMCI_Wait(&handle_)); }
  // Whether that is so. Not blocking.
  [[nodiscard]] bool test() {
    const int code = ARMCI_Test(&handle_);
    if (code != ARMCI_PENDING) require("ARMCI_Test", code);
    return code == ARMCI_OK;
  }
  [[nodiscard]] armci_hdl_t* get() { return &handle_; }

 private:
  armci_hdl_t handle_{};
};

// Contiguous transfers. The form without a handle blocks until local completion; with one, the local buffer belongs to the
// library until the handle's wait or test, or a fence.
template <Element T>
void put(View<const T> from, T* to, int process) {
  require("ARMCIX_Put", ARMCIX_Put(from.data(), to, from.size_bytes(), process));
}
template <Element T>
void put(View<const T> from, T* to, int process, Handle& handle) {
  require("ARMCIX_NbPut", ARMCIX_NbPut(from.data(), to, from.size_bytes(), process, handle.get()));
}
// A temporary would end before the transfer does.
template <Element T, internal::Temporary Source>
void put(Source&& from, T* to, int process, Handle& handle) = delete;
template <Element T>
void get(const T* from, View<T> to, int process) {
  require("ARMCIX_Get", ARMCIX_Get(from, to.data(), to.size_bytes(), process));
}
template <Element T>
void get(const T* from, View<T> to, int process, Handle& handle) {
  require("ARMCIX_NbGet", ARMCIX_NbGet(from, to.data(), to.size_bytes(), process, handle.get()));
}
// to[i] += scale * from[i], atomically for each element against other accumulates.
template <Summand T>
void accumulate(View<const T> from, T* to, std::type_identity_t<T> scale, int process) {
  require("ARMCIX_Acc", ARMCIX_Acc(kAccumulated<T>, &scale, from.data(), to, from.size_bytes(), process));
}
template <Summand T>
void accumulate(View<const T> from, T* to, std::type_identity_t<T> scale, int process, Handle& handle) {
  require("ARMCIX_NbAcc",
          ARMCIX_NbAcc(kAccumulated<T>, &scale, from.data(), to, from.size_bytes(), process, handle.get()));
}
template <Summand T, internal::Temporary Source>
void accumulate(Source&& from, T* to, std::type_identity_t<T> scale, int process, Handle& handle) = delete;

namespace internal {

using Counts = std::span<const std::size_t>;
using Strides = std::span<const std::ptrdiff_t>;

// The strided shape in bytes.
struct Shape {
  Shape(Strides from, Strides to, Counts counts, std::size_t bytes) : levels(static_cast<int>(counts.size()) - 1) {
    if (counts.empty() || counts.size() > ARMCI_MAX_STRIDE_LEVEL + 1 || from.size() + 1 != counts.size() ||
        to.size() + 1 != counts.size()) {
      throw std::invalid_argument("ARMCI strided transfer: count has " + std::to_string(counts.size()) +
                                  " entries, the strides " + std::to_string(from.size()) + " and " +
                                  std::to_string(to.size()) +
                                  "; give 1 to 9 counts, and one stride less on both sides");
    }
    if (counts[0] > std::numeric_limits<std::size_t>::max() / bytes) {
      throw std::invalid_argument("ARMCI strided transfer: count[0] = " + std::to_string(counts[0]) + " elements of " +
                                  std::to_string(bytes) + " bytes do not fit in memory; give a smaller count");
    }
    for (std::size_t i = 0; i < counts.size(); ++i) count[i] = i == 0 ? counts[i] * bytes : counts[i];
    for (std::size_t i = 0; i + 1 < counts.size(); ++i) {
      src[i] = in_bytes(from[i], static_cast<std::ptrdiff_t>(bytes));
      dst[i] = in_bytes(to[i], static_cast<std::ptrdiff_t>(bytes));
    }
  }
  static std::ptrdiff_t in_bytes(std::ptrdiff_t stride, std::ptrdiff_t bytes) {
    constexpr std::ptrdiff_t kMost = std::numeric_limits<std::ptrdiff_t>::max();
    if (stride > kMost / bytes || stride < -(kMost / bytes)) {
      throw std::invalid_argument("ARMCI strided transfer: a stride of " + std::to_string(stride) + " elements of " +
                                  std::to_string(bytes) + " bytes does not fit in memory; give a smaller stride");
    }
    return stride * bytes;
  }
  std::ptrdiff_t src[ARMCI_MAX_STRIDE_LEVEL]{};
  std::ptrdiff_t dst[ARMCI_MAX_STRIDE_LEVEL]{};
  std::size_t count[ARMCI_MAX_STRIDE_LEVEL + 1]{};
  int levels;
};

}  // namespace internal

// Strided transfers of a block of count[0] elements, count[1] rows, ... : as the contiguous forms. stride[i] is the
// distance, in elements, from one index of dimension i + 1 to the next. All spans are read before the call returns.
// std::invalid_argument: other than 1 to 9 counts, or than one stride less on both sides, or a size beyond 64 bits.
template <Element T>
void put_strided(std::type_identity_t<const T>* from, internal::Strides from_stride, T* to, internal::Strides to_stride,
                 internal::Counts count, int process) {
  const internal::Shape s(from_stride, to_stride, count, sizeof(T));
  require("ARMCIX_PutS", ARMCIX_PutS(from, s.src, to, s.dst, s.count, s.levels, process));
}
template <Element T>
void put_strided(std::type_identity_t<const T>* from, internal::Strides from_stride, T* to, internal::Strides to_stride,
                 internal::Counts count, int process, Handle& handle) {
  const internal::Shape s(from_stride, to_stride, count, sizeof(T));
  require("ARMCIX_NbPutS", ARMCIX_NbPutS(from, s.src, to, s.dst, s.count, s.levels, process, handle.get()));
}
template <Element T>
void get_strided(const T* from, internal::Strides from_stride, std::type_identity_t<T>* to, internal::Strides to_stride,
                 internal::Counts count, int process) {
  const internal::Shape s(from_stride, to_stride, count, sizeof(T));
  require("ARMCIX_GetS", ARMCIX_GetS(from, s.src, to, s.dst, s.count, s.levels, process));
}
template <Element T>
void get_strided(const T* from, internal::Strides from_stride, std::type_identity_t<T>* to, internal::Strides to_stride,
                 internal::Counts count, int process, Handle& handle) {
  const internal::Shape s(from_stride, to_stride, count, sizeof(T));
  require("ARMCIX_NbGetS", ARMCIX_NbGetS(from, s.src, to, s.dst, s.count, s.levels, process, handle.get()));
}
template <Summand T>
void accumulate_strided(std::type_identity_t<const T>* from, internal::Strides from_stride, T* to,
                        internal::Strides to_stride, internal::Counts count, std::type_identity_t<T> scale,
                        int process) {
  const internal::Shape s(from_stride, to_stride, count, sizeof(T));
  require("ARMCIX_AccS", ARMCIX_AccS(kAccumulated<T>, &scale, from, s.src, to, s.dst, s.count, s.levels, process));
}
template <Summand T>
void accumulate_strided(std::type_identity_t<const T>* from, internal::Strides from_stride, T* to,
                        internal::Strides to_stride, internal::Counts count, std::type_identity_t<T> scale, int process,
                        Handle& handle) {
  const internal::Shape s(from_stride, to_stride, count, sizeof(T));
  require("ARMCIX_NbAccS",
          ARMCIX_NbAccS(kAccumulated<T>, &scale, from, s.src, to, s.dst, s.count, s.levels, process, handle.get()));
}

// ARMCIX_Rmw: the value before. Blocking; atomic against every atomic operation of the same width on the location.
template <Atomic T>
T rmw(armcix_op_t operation, T* remote, std::type_identity_t<T> operand, int process,
      std::type_identity_t<T> compare = {}) {
  T before{};
  require("ARMCIX_Rmw", ARMCIX_Rmw(operation, kAtomic<T>, &before, &operand, &compare, remote, process));
  return before;
}
template <Atomic T>
T fetch_add(T* remote, std::type_identity_t<T> operand, int process) {
  return rmw(ARMCIX_ADD, remote, operand, process);
}
template <Atomic T>
T swap(T* remote, std::type_identity_t<T> value, int process) {
  return rmw(ARMCIX_SWAP, remote, value, process);
}
template <Atomic T>
T compare_swap(T* remote, std::type_identity_t<T> expected, std::type_identity_t<T> value, int process) {
  return rmw(ARMCIX_CAS, remote, value, process, expected);
}

// ARMCIX_Put_signal: a process that sees the signal sees the data. Blocking until local completion.
template <Element T>
void put_signal(View<const T> from, T* to, std::uint64_t* signal, std::uint64_t value, armcix_signal_op_t operation,
                int process) {
  require("ARMCIX_Put_signal",
          ARMCIX_Put_signal(from.data(), to, from.size_bytes(), signal, value, operation, process));
}
// The value of the signal, in this process's part of a region, that satisfied "signal comparison value". Blocking.
inline std::uint64_t wait_signal(std::uint64_t* signal, armcix_cmp_t comparison, std::uint64_t value) {
  std::uint64_t seen = 0;
  require("ARMCIX_Signal_wait", ARMCIX_Signal_wait(signal, comparison, value, &seen));
  return seen;
}
namespace internal {
inline const int* marks(std::span<const std::uint64_t> signals, std::span<const int> skip) {
  if (!skip.empty() && skip.size() != signals.size()) throw std::invalid_argument("armci: one mark for each signal");
  return skip.empty() ? nullptr : skip.data();
}
}  // namespace internal
// The same for several signals. Those with a mark that is not 0 in `skip` do not count; an empty `skip` marks none.
// Blocking until the comparison has held for all; for one, whose number is returned, SIZE_MAX if none counts; for one or
// more, whose numbers are returned.
inline void wait_all_signals(std::span<std::uint64_t> signals, armcix_cmp_t comparison, std::uint64_t value,
                             std::span<const int> skip = {}) {
  const int* const marks = internal::marks(signals, skip);
  require("ARMCIX_Signal_wait_all", ARMCIX_Signal_wait_all(signals.data(), signals.size(), marks, comparison, value));
}
inline std::size_t wait_any_signal(std::span<std::uint64_t> signals, armcix_cmp_t comparison, std::uint64_t value,
                                   std::span<const int> skip = {}) {
  std::size_t which = 0;
  const int* const marks = internal::marks(signals, skip);
  require("ARMCIX_Signal_wait_any",
          ARMCIX_Signal_wait_any(signals.data(), signals.size(), marks, comparison, value, &which));
  return which;
}
inline std::vector<std::size_t> wait_some_signals(std::span<std::uint64_t> signals, armcix_cmp_t comparison,
                                                  std::uint64_t value, std::span<const int> skip = {}) {
  std::vector<std::size_t> which(signals.size());
  std::size_t found = 0;
  const int* const marks = internal::marks(signals, skip);
  require("ARMCIX_Signal_wait_some", ARMCIX_Signal_wait_some(signals.data(), signals.size(), marks, comparison, value,
                                                             which.data(), &found));
  which.resize(found);
  return which;
}

// Remote completion of this process's stores: to one process, to all. Local, blocking.
inline void fence(int process) { ARMCI_Fence(process); }
inline void fence_all() { ARMCI_AllFence(); }
// Collective, blocking: every store of every process before it is visible to all.
inline void barrier() { ARMCI_Barrier(); }

// A mutex set: `count` mutexes at this process. Collective over the group, blocking: construction and destruction. A failed
// construction has the code ARMCI_ERR_MUTEX for every cause but ARMCI_ERR_STATE.
class Mutexes {
 public:
  explicit Mutexes(int count) {
    ARMCI_Group world = internal::world();
    create(count, &world);
  }
  Mutexes(int count, Group& group) { create(count, group.get()); }
  ~Mutexes() { ARMCIX_Destroy_mutexes_hdl(set_); }
  Mutexes(const Mutexes&) = delete;
  Mutexes& operator=(const Mutexes&) = delete;

  // One mutex, for std::scoped_lock and std::unique_lock. Cheap to copy; the set outlives it.
  class Mutex {
   public:
    void lock() { ARMCIX_Lock_hdl(set_, mutex_, process_); }
    void unlock() { ARMCIX_Unlock_hdl(set_, mutex_, process_); }
    [[nodiscard]] bool try_lock() {
      const int code = ARMCIX_Trylock_hdl(set_, mutex_, process_);
      if (code != ARMCI_PENDING) require("ARMCIX_Trylock_hdl", code);
      return code == ARMCI_OK;
    }

   private:
    friend class Mutexes;
    Mutex(armcix_mutex_hdl_t set, int mutex, int process) : set_(set), mutex_(mutex), process_(process) {}
    armcix_mutex_hdl_t set_;
    int mutex_;
    int process_;
  };
  // Mutex number `mutex` at the process with this group rank.
  [[nodiscard]] Mutex at(int mutex, int process) const { return {set_, mutex, process}; }

 private:
  void create(int count, ARMCI_Group* group) {
    set_ = ARMCIX_Create_mutexes_hdl(count, group);
    if (set_ == nullptr) throw Error("ARMCIX_Create_mutexes_hdl", internal::code_of_null(ARMCI_ERR_MUTEX));
  }
  armcix_mutex_hdl_t set_ = nullptr;
};

}  // namespace cpp1
}  // namespace armci

#endif  // ARMCI_SPEC_ARMCI_HPP_
