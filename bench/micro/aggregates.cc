// What do 1000 doubles cost as separate calls, as one vector call, in one aggregate handle?
//
// 10, 100 and 1000 doubles, 16 bytes apart here and 24 bytes apart in rank 1, which sleeps; puts with their fence.
//   separate puts, gets       one blocking call for each
//   separate nb puts, gets    one non-blocking call for each, and ARMCI_WaitAll
//   vector put, get           one ARMCI_PutV or ARMCI_GetV
//   aggregate put, get        one non-blocking call for each with the same aggregate handle, and its ARMCI_Wait
// With targets, 1000 doubles in one aggregate handle against
//   aggregate, vector         one ARMCI_PutV
//   aggregate, puts           blocking puts
//
// A program that has the doubles writes down where they are, whichever way it takes: pointers of a vector are made anew
// each time.
#include <algorithm>
#include <cstring>

#include "armci.h"
#include "bench/common/report.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

constexpr int kTarget = 1;
constexpr int kCounts[] = {10, 100, 1000};
constexpr int kMost = 1000;
constexpr int kDouble = static_cast<int>(sizeof(double));
constexpr ptrdiff_t kLocalSpread = 16;
constexpr ptrdiff_t kRemoteSpread = 24;
constexpr size_t kLocalBytes = kMost * kLocalSpread;
constexpr size_t kRemoteBytes = kMost * kRemoteSpread;
constexpr double kSample = 2e-3;

struct Doubles {
  char* local;
  char* remote;
  int count;
  bool is_put;

  char* here(int i) const { return local + i * kLocalSpread; }
  char* there(int i) const { return remote + i * kRemoteSpread; }
};

void Separately(const Doubles& doubles) {
  for (int i = 0; i < doubles.count; ++i) {
    if (doubles.is_put) {
      ARMCI_Put(doubles.here(i), doubles.there(i), kDouble, kTarget);
    } else {
      ARMCI_Get(doubles.there(i), doubles.here(i), kDouble, kTarget);
    }
  }
}

void Begin(const Doubles& doubles, armci_hdl_t* handle) {
  for (int i = 0; i < doubles.count; ++i) {
    if (doubles.is_put) {
      ARMCI_NbPut(doubles.here(i), doubles.there(i), kDouble, kTarget, handle);
    } else {
      ARMCI_NbGet(doubles.there(i), doubles.here(i), kDouble, kTarget, handle);
    }
  }
}

void SeparatelyNonBlocking(const Doubles& doubles) {
  Begin(doubles, nullptr);
  ARMCI_WaitAll();
}

void Vector(const Doubles& doubles) {
  // Filled for each transfer; a program that minds its time keeps the memory of its lists.
  static std::vector<void*> here;
  static std::vector<void*> there;
  here.clear();
  there.clear();
  for (int i = 0; i < doubles.count; ++i) {
    here.push_back(doubles.here(i));
    there.push_back(doubles.there(i));
  }
  armci_giov_t giov = {};
  giov.src_ptr_array = doubles.is_put ? here.data() : there.data();
  giov.dst_ptr_array = doubles.is_put ? there.data() : here.data();
  giov.bytes = kDouble;
  giov.ptr_array_len = doubles.count;
  (doubles.is_put ? ARMCI_PutV : ARMCI_GetV)(&giov, 1, kTarget);
}

void Aggregate(const Doubles& doubles) {
  armci_hdl_t handle;
  ARMCI_INIT_HANDLE(&handle);
  ARMCI_SET_AGGREGATE_HANDLE(&handle);
  Begin(doubles, &handle);
  ARMCI_Wait(&handle);
  ARMCI_UNSET_AGGREGATE_HANDLE(&handle);
}

struct Way {
  const char* put_name;
  const char* get_name;
  void (*transfer)(const Doubles& doubles);
};

constexpr Way kSeparate = {"separate puts", "separate gets", Separately};
constexpr Way kNonBlocking = {"separate nb puts", "separate nb gets", SeparatelyNonBlocking};
constexpr Way kVector = {"vector put", "vector get", Vector};
constexpr Way kAggregate = {"aggregate put", "aggregate get", Aggregate};

void Perform(const Way& way, const Doubles& doubles) {
  way.transfer(doubles);
  if (doubles.is_put) ARMCI_Fence(kTarget);
}

// From other values on the side that is written; looks into the gaps there as well.
std::string Verify(const Way& way, const Doubles& doubles) {
  constexpr char kUntouched = 'u';
  const auto pattern = [](int i) { return 1.0 + i; };
  std::vector<char> image(kRemoteBytes, kUntouched);
  std::fill_n(doubles.local, kLocalBytes, kUntouched);
  for (int i = 0; i < doubles.count; ++i) {
    const double value = pattern(i);
    std::memcpy(doubles.is_put ? doubles.here(i) : &image[static_cast<size_t>(i * kRemoteSpread)], &value, kDouble);
  }
  ARMCI_Put(image.data(), doubles.remote, static_cast<int>(kRemoteBytes), kTarget);
  ARMCI_Fence(kTarget);
  Perform(way, doubles);
  if (doubles.is_put) ARMCI_Get(doubles.remote, image.data(), static_cast<int>(kRemoteBytes), kTarget);
  const char* const written = doubles.is_put ? image.data() : doubles.local;
  const ptrdiff_t spread = doubles.is_put ? kRemoteSpread : kLocalSpread;
  for (int i = 0; i < kMost; ++i) {
    const char* const at = written + i * spread;
    double value = 0;
    std::memcpy(&value, at, kDouble);
    if (i < doubles.count && value != pattern(i)) return "double " + std::to_string(i) + " differs";
    const char* const gap = i < doubles.count ? at + kDouble : at;
    if (std::any_of(gap, at + spread, [](char c) { return c != kUntouched; })) {
      return "the gap at double " + std::to_string(i) + " was written";
    }
  }
  return "";
}

std::string SizeText(int count) { return std::to_string(count) + " x " + FormatBytes(kDouble); }

Case Of(const Way& way, const Doubles& doubles) {
  const auto actions = [=]() -> std::vector<Action> {
    return {Loop("ARMCI", Role::kSubject, [=] { Perform(way, doubles); })};
  };
  return {{doubles.is_put ? way.put_name : way.get_name, SizeText(doubles.count), ""},
          Crew::kAlone,
          actions,
          [=] { return Verify(way, doubles); },
          kSample};
}

Case Against(const char* name, const char* key, const Doubles& doubles, const char* baseline, const Way& other) {
  const auto actions = [=]() -> std::vector<Action> {
    return {Loop("aggregate", Role::kSubject, [=] { Perform(kAggregate, doubles); }),
            OfTheLibrary(Loop(baseline, Role::kBaseline, [=] { Perform(other, doubles); }))};
  };
  CaseLabel label = {name, SizeText(doubles.count), key};
  label.is_repeated = true;
  return {label, Crew::kAlone, actions, [=] { return Verify(kAggregate, doubles); }, kSample};
}

std::vector<Case> Cases(char* local, char* remote) {
  std::vector<Case> cases;
  for (bool is_put : {true, false}) {
    for (int count : kCounts) {
      for (const Way& way : {kSeparate, kNonBlocking, kVector, kAggregate})
        cases.push_back(Of(way, {local, remote, count, is_put}));
    }
  }
  const Doubles all = {local, remote, kMost, true};
  cases.push_back(Against("aggregate, vector", "aggregate_of_vector", all, "ARMCI_PutV", kVector));
  cases.push_back(Against("aggregate, puts", "aggregate_of_puts", all, "ARMCI_Put", kSeparate));
  return cases;
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv,
                  {"aggregates", "many doubles in separate calls, a vector or an aggregate handle", 2,
                   /*between_nodes=*/true});
  {
    Region region(session, kRemoteBytes);
    LocalBuffer local(kLocalBytes);
    std::fill_n(local.data(), kLocalBytes, char{0});
    session.Run(Cases(local.data(), region.on(kTarget)));
  }
  return session.Finish();
}
