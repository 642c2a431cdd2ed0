// A client in C++, by armci.hpp: all its classes and functions, checked against what each process can compute.
#include <mpi.h>

#include <array>
#include <cstdio>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "armci.hpp"

namespace {

int wrong = 0;

void Expect(bool holds, const char* what) {
  if (holds) return;
  ++wrong;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "cpp: process %d: %s\n", rank, what);
}

// The code of the error that a call throws; ARMCI_OK when it throws none.
template <class Call>
int CodeOf(Call call) {
  try {
    call();
  } catch (const armci::Error& error) {
    return error.code();
  }
  return ARMCI_OK;
}

template <class Call>
bool IsRefused(Call call) {
  try {
    call();
  } catch (const std::invalid_argument&) {
    return true;
  }
  return false;
}

static_assert(!armci::Element<const int> && !armci::Element<std::vector<int>> && !armci::Atomic<const int>);
static_assert(std::is_move_constructible_v<armci::Buffer<int>> && !std::is_copy_constructible_v<armci::Buffer<int>>);
// Whether a source may be put and accumulated by a handle.
template <class Source>
constexpr bool kIsPut = requires(Source source, int* to, armci::Handle& handle) {
  armci::put(static_cast<Source>(source), to, 0, handle);
};
template <class Source>
constexpr bool kIsAccumulated = requires(Source source, int* to, armci::Handle& handle) {
  armci::accumulate(static_cast<Source>(source), to, 1, 0, handle);
};
static_assert(!kIsPut<std::vector<int>&&> && !kIsPut<const std::array<int, 1>&&> &&
              !kIsAccumulated<std::vector<int>&&>);
static_assert(kIsPut<std::vector<int>&> && kIsPut<std::span<int>&&> && kIsPut<std::span<const int, 2>&&>);
static_assert(kIsAccumulated<const std::vector<int>&> && kIsAccumulated<std::span<int>&&>);
static_assert(!std::is_move_constructible_v<armci::Library> && !std::is_move_constructible_v<armci::Handle>);

constexpr std::size_t kEach = 1000;

// Every process fetches all parts at once and sums them up.
void SumOfAll() {
  const int size = armci::size();
  armci::Region<long> vector(kEach);
  std::iota(vector.local().begin(), vector.local().end(), static_cast<long>(armci::rank()) * static_cast<long>(kEach));
  armci::barrier();
  std::vector<long> all(kEach * static_cast<std::size_t>(size));
  {
    armci::Handle handle;
    for (int other = 0; other < size; ++other) {
      armci::get(vector.on(other), std::span(all).subspan(kEach * static_cast<std::size_t>(other), kEach), other,
                 handle);
    }
    handle.wait();
    Expect(handle.test(), "a handle that was waited for is complete");
  }
  const long count = static_cast<long>(kEach) * size;
  Expect(std::accumulate(all.begin(), all.end(), 0L) == count * (count - 1) / 2, "the sum of all parts");
  armci::barrier();
}

// A column of the right neighbour's matrix of 8 rows and 10 columns: put, added to, read back.
void Column() {
  const int right = (armci::rank() + 1) % armci::size();
  armci::Region<double> matrix(80);
  std::fill(matrix.local().begin(), matrix.local().end(), 1.0);
  armci::barrier();
  const std::array<std::size_t, 2> count = {1, 8};
  const std::array<std::ptrdiff_t, 1> row = {10};
  const std::array<std::ptrdiff_t, 1> dense = {1};
  armci::Buffer<double> column(8);
  std::iota(column.span().begin(), column.span().end(), 10.0);
  armci::put_strided(column.span().data(), dense, matrix.on(right) + 3, row, count, right);
  armci::Handle handle;
  armci::accumulate_strided(column.span().data(), dense, matrix.on(right) + 3, row, count, 2.0, right, handle);
  handle.wait();
  armci::fence(right);
  std::array<double, 8> back{};
  armci::get_strided(matrix.on(right) + 3, row, back.data(), dense, count, right, handle);
  handle.wait();
  for (std::size_t i = 0; i < 8; ++i)
    Expect(back[i] == 3 * (10.0 + static_cast<double>(i)), "the column that was put and added to");
  armci::barrier();
  for (std::size_t i = 0; i < 80; ++i) Expect(i % 10 == 3 || matrix.local()[i] == 1.0, "nothing beside the column");
  armci::barrier();
}

// The same forms the other way round: blocking strided, and contiguous ones with a handle.
void OtherForms() {
  const int right = (armci::rank() + 1) % armci::size();
  armci::Region<int> part(4);
  std::fill(part.local().begin(), part.local().end(), 1);
  armci::barrier();
  const std::array<std::size_t, 2> count = {1, 2};
  const std::array<std::ptrdiff_t, 1> apart = {2};
  const std::array<std::ptrdiff_t, 1> dense = {1};
  const std::array<int, 2> pair = {5, 6};
  {
    armci::Handle handle;
    armci::put_strided(pair.data(), dense, part.on(right), apart, count, right, handle);
  }
  armci::fence_all();
  armci::accumulate_strided(pair.data(), dense, part.on(right), apart, count, 10, right);
  armci::fence(right);
  std::array<int, 2> back{};
  armci::get_strided(part.on(right), apart, back.data(), dense, count, right);
  Expect(back[0] == 55 && back[1] == 66, "blocking strided forms");
  armci::barrier();
  {
    armci::Handle handle;
    armci::put(pair, part.on(right), right, handle);
    handle.wait();
    armci::fence(right);
    armci::accumulate(pair, part.on(right), 1, right, handle);
  }
  armci::barrier();
  Expect(part.local()[0] == 10 && part.local()[1] == 12, "contiguous forms with a handle");
  armci::barrier();
}

// Numbers under an atomic, a signal and a mutex.
void Together() {
  const int me = armci::rank();
  const int size = armci::size();
  armci::Region<std::uint64_t> words(4);
  armci::Region<double> sum(me == 0 ? 1 : 0);
  std::fill(words.local().begin(), words.local().end(), 0);
  if (me == 0) sum.local()[0] = 0;
  armci::barrier();

  armci::fetch_add(words.on(0), 2, 0);
  const std::array<double, 1> one = {1.0};
  armci::accumulate(one, sum.on(0), 0.5, 0);
  const int right = (me + 1) % size;
  const std::array<std::uint64_t, 1> data = {static_cast<std::uint64_t>(me)};
  armci::put_signal(data, words.on(right) + 1, words.on(right) + 2, 7, ARMCIX_SIGNAL_SET, right);
  Expect(armci::wait_signal(&words.local()[2], ARMCIX_CMP_EQ, 7) == 7, "the signal");
  const std::span<std::uint64_t> signals = words.local().subspan(1, 2);
  const std::array<int, 2> skip = {1, 0};
  Expect(armci::wait_any_signal(signals, ARMCIX_CMP_EQ, 7, skip) == 1, "the number of the signal");
  Expect(armci::wait_some_signals(signals, ARMCIX_CMP_EQ, 7, skip) == std::vector<std::size_t>{1}, "all that hold");
  armci::wait_all_signals(signals, ARMCIX_CMP_GE, 7, skip);
  Expect(words.local()[1] == static_cast<std::uint64_t>((me + size - 1) % size), "data before their signal");
  {
    armci::Mutexes mutexes(me == 0 ? 1 : 0);
    armci::Mutexes::Mutex mutex = mutexes.at(0, 0);
    for (int i = 0; i < 10; ++i) {
      const std::scoped_lock lock(mutex);
      std::array<std::uint64_t, 1> value{};
      armci::get(words.on(0) + 3, value, 0);
      value[0] += 1;
      armci::put(value, words.on(0) + 3, 0);
      armci::fence(0);
    }
    armci::barrier();
    if (me == 0) {
      const std::unique_lock lock(mutex, std::try_to_lock);
      Expect(lock.owns_lock(), "a free mutex by try_lock");
    }
    armci::barrier();
  }
  Expect(armci::compare_swap(words.on(me) + 2, 7, 9, me) == 7 && armci::swap(words.on(me) + 2, 1, me) == 9, "atomics");
  if (me == 0) Expect(words.local()[0] == static_cast<std::uint64_t>(2 * size), "fetch and add");
  if (me == 0) Expect(words.local()[3] == static_cast<std::uint64_t>(10 * size), "sums under a mutex");
  if (me == 0) Expect(sum.local()[0] == 0.5 * size, "accumulate with a scale");
  armci::barrier();
}

// Even and odd processes, each with a region of its own.
void Halves() {
  armci::Group half = armci::Group::split(armci::rank() % 2);
  armci::Region<int> region(1, half);
  region.local()[0] = half.rank();
  MPI_Barrier(armci_group_comm(half.get()));
  const int last = half.size() - 1;
  std::array<int, 1> seen{};
  armci::get(region.on(last), seen, half.absolute_id(last));
  Expect(seen[0] == last, "a region of a group");
  MPI_Barrier(armci_group_comm(half.get()));
}

// A group of which this process is no member, and one that has been moved from.
void OtherGroups() {
  const armci::Group outside = armci::Group::split(armci::rank() == 0 ? -1 : 0);
  if (armci::rank() == 0) {
    Expect(!outside.member() && outside.rank() == -1 && outside.size() == 0, "a group without this process");
    Expect(CodeOf([&] { (void)outside.absolute_id(0); }) != ARMCI_OK, "an id in a group without this process");
  }
  armci::Group from = armci::Group::split(0);
  const armci::Group to(std::move(from));
  Expect(to.size() == armci::size() && !from.member(), "a group that was moved");
  Expect(CodeOf([&] { (void)from.size(); }) == ARMCI_ERR_GROUP, "the size of a group that was moved from");
  Expect(CodeOf([&] { (void)to.absolute_id(armci::size()); }) == ARMCI_ERR_PROC, "a rank outside of the group");
}

// A region or a buffer passes its memory on, and the new owner alone frees it.
void Moves() {
  std::vector<armci::Region<int>> regions;
  for (int i = 0; i < 5; ++i) regions.emplace_back(3);
  armci::Region<int> from(3);
  const armci::Region<int> to(std::move(from));
  Expect(to.local().size() == 3 && from.local().empty(), "a region that was moved");
  armci::Buffer<int> old(3);
  const armci::Buffer<int> buffer(std::move(old));
  Expect(buffer.span().size() == 3 && old.span().empty(), "a buffer that was moved");
}

// A buffer ends before the handle whose get fills it.
void EndedBuffer() {
  constexpr std::size_t kMany = std::size_t{1} << 18;
  const int right = (armci::rank() + 1) % armci::size();
  const armci::Region<int> part(kMany);
  armci::barrier();
  for (int i = 0; i < 10; ++i) {
    armci::Handle handle;
    const armci::Buffer<int> buffer(kMany);
    armci::get(part.on(right), buffer.span(), right, handle);
  }
  armci::barrier();
}

void Errors() {
  armci::Region<int> region(1);
  const std::array<int, 1> value{};
  const int me = armci::rank();
  int* const there = region.on(me);
  Expect(CodeOf([&] { armci::put(value, there, armci::size()); }) == ARMCI_ERR_PROC, "a process that is not there");
  Expect(CodeOf([&] { armci::put({}, there, me); }) == ARMCI_OK, "a put of nothing");
  Expect(CodeOf([] { const armci::Mutexes mutexes(-1); }) == ARMCI_ERR_MUTEX, "a set of -1 mutexes");

  // 2^61 + 1 elements of 8 bytes are 8 bytes modulo 2^64.
  constexpr std::size_t kWraps = (std::size_t{1} << 61) + 1;
  Expect(CodeOf([] { const armci::Region<double> much(kWraps); }) == ARMCI_ERR_MEMORY, "a region of 2^64 bytes");
  Expect(CodeOf([] { const armci::Buffer<double> much(kWraps); }) == ARMCI_ERR_MEMORY, "a buffer of 2^64 bytes");

  using Counts = std::vector<std::size_t>;
  using Strides = std::vector<std::ptrdiff_t>;
  const auto refused = [&](const Strides& from, const Strides& to, const Counts& count) {
    return IsRefused([&] { armci::put_strided(value.data(), from, there, to, count, me); });
  };
  Expect(refused({}, {}, {}), "a shape without counts");
  Expect(refused({1}, {}, {1, 1}) && refused({}, {1}, {1, 1}), "a stride too few");
  Expect(refused({1, 1}, {1, 1}, {1, 1}), "a stride too many");
  Expect(refused(Strides(9, 1), Strides(9, 1), Counts(10, 1)), "nine levels");
  Expect(!refused(Strides(8, 1), Strides(8, 1), Counts(9, 1)) && !refused({}, {}, {1}), "eight levels, and none");
  Expect(refused({}, {}, {kWraps << 1}), "a count that does not fit");
  constexpr std::ptrdiff_t kMost = std::numeric_limits<std::ptrdiff_t>::max();
  Expect(refused({1}, {kMost / 2}, {1, 1}) && refused({-kMost}, {1}, {1, 1}), "a stride that does not fit");
}

// Before the start and after the end objects throw, and those that are left do no harm.
void WithoutLibrary() {
  Expect(CodeOf([] { const armci::Region<int> region(1); }) == ARMCI_ERR_STATE, "a region without the library");
  Expect(CodeOf([] { const armci::Buffer<int> buffer(1); }) == ARMCI_ERR_STATE, "a buffer without the library");
  Expect(CodeOf([] { const auto group = armci::Group::split(0); }) == ARMCI_ERR_STATE, "a group without the library");
  Expect(CodeOf([] { const armci::Mutexes mutexes(1); }) == ARMCI_ERR_STATE, "mutexes without the library");
  const armci::Handle handle;
}

// An error of all processes alike ends what they have begun.
void Unwind() {
  const int code = CodeOf([] {
    const armci::Mutexes mutexes(1);
    const armci::Region<int> region(4);
    const armci::Group all = armci::Group::split(0);
    const std::array<int, 4> zeros{};
    armci::Handle handle;
    armci::put(zeros, region.on(0), 0, handle);
    throw armci::Error("Unwind", 77);
  });
  Expect(code == 77, "an exception of all processes");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 1;
  std::optional<armci::Group> left;
  WithoutLibrary();
  {
    const armci::Library library;
    const armci::Library again(MPI_THREAD_SINGLE, MPI_COMM_WORLD);
    rank = armci::rank();
    size = armci::size();
    SumOfAll();
    Column();
    OtherForms();
    Together();
    Halves();
    OtherGroups();
    Moves();
    EndedBuffer();
    Errors();
    Unwind();
    left.emplace(armci::Group::split(0));
  }
  WithoutLibrary();
  left.reset();
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("cpp: %s, %d processes\n", wrong == 0 ? "PASS" : "FAIL", size);
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
