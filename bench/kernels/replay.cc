// What does the mix of calls of a quantum-chemistry program cost, against messages that both sides know of?
//
// The schedule is in call_mix.h; it is replayed a few times in a row.
//   ARMCI  ARMCI_Put, ARMCI_Acc, ARMCI_NbGet, ARMCI_Rmw; a get is waited for where the next one begins
//   MPI    both sides walk the schedule of all, sixteen calls of each process at once: the owner receives what is put
//          into place, adds what is accumulated, sends what is got and answers what is fetched and added to
// Sums are of whole numbers, so that they are exact; puts and gets have to bring what the schedule says.
#include <algorithm>
#include <cstring>

#include "armci.h"
#include "bench/kernels/call_mix.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

constexpr size_t kWindow = 16;
constexpr int kDouble = static_cast<int>(sizeof(double));

double GetAreaAt(int owner, long place) { return static_cast<double>(owner * kGetArea + place); }

struct Problem {
  CallMix mix;
  int rank;
  int replays;

  int processes() const { return static_cast<int>(mix.calls.size()); }
  const std::vector<Call>& mine() const { return mix.calls[static_cast<size_t>(rank)]; }
};

// The memory of a process that the others access.
//
//   | puts | accumulates | gets | counter |
struct Areas {
  double* base;
  long put_area;

  static size_t Bytes(long put_area) {
    return static_cast<size_t>(put_area + kAccumulateArea + kGetArea + 1) * sizeof(double);
  }

  double* puts() const { return base; }
  double* accumulates() const { return base + put_area; }
  double* gets() const { return accumulates() + kAccumulateArea; }
  long* counter() const { return reinterpret_cast<long*>(gets() + kGetArea); }

  double* at(const Call& call) const {
    double* area = call.kind == CallKind::kPut ? puts() : call.kind == CallKind::kGet ? gets() : accumulates();
    return area + call.offset;
  }
};

long LongestCall() {
  long longest = 0;
  for (const KindOfCall& kind : kCallKinds) longest = std::max(longest, kLongestOfMean * kind.mean);
  return longest;
}

// The source of a call is another one in every replay.
long PlaceOf(const Call& call, int replay) { return call.pattern + replay; }

// A way of making the calls, with the memory of this process and what it got.
class Way {
 public:
  explicit Way(const Problem& problem)
      : problem_(problem),
        pattern_(static_cast<size_t>(LongestCall() + kPatternPlaces + problem.replays) * sizeof(double)),
        got_(GotBytes(problem.mine())) {
    const long length = LongestCall() + kPatternPlaces + problem.replays;
    for (long i = 0; i < length; ++i) reinterpret_cast<double*>(pattern_.data())[i] = PatternAt(i);
    std::memset(got_.data(), 0xff, GotBytes(problem.mine()));  // none of the numbers that are got
  }
  virtual ~Way() = default;
  Way(const Way&) = delete;
  Way& operator=(const Way&) = delete;

  virtual Areas own() const = 0;
  virtual void Replay() = 0;

  void Start() {
    for (long i = 0; i < kGetArea; ++i) own().gets()[i] = GetAreaAt(problem_.rank, i);
    Clear();
  }

  // The faults in the memory of this process, and in the data that it got.
  std::string Fault() const {
    if (!PutsAreThere()) return "a put is missing or wrong";
    if (!SumsAreExact()) return "a sum of accumulates is wrong";
    if (!GetsAreRight()) return "a get brought something else";
    if (*own().counter() != CounterAfter()) return "a read-modify-write is missing";
    return "";
  }

 protected:
  const Problem& problem() const { return problem_; }
  double* pattern(const Call& call, int replay) const {
    return reinterpret_cast<double*>(pattern_.data()) + PlaceOf(call, replay);
  }
  double* got() const { return reinterpret_cast<double*>(got_.data()); }

  void Clear() {
    std::fill_n(own().accumulates(), kAccumulateArea, 0);
    *own().counter() = 0;
  }

 private:
  static size_t GotBytes(const std::vector<Call>& calls) {
    long length = 1;
    for (const Call& call : calls) length += call.kind == CallKind::kGet ? call.length : 0;
    return static_cast<size_t>(length) * sizeof(double);
  }

  // Calls with those of all that have this process as target.
  template <typename Body>
  void ForCallsToMe(CallKind kind, Body body) const {
    for (const auto& calls : problem_.mix.calls) {
      for (const Call& call : calls) {
        if (call.kind == kind && call.target == problem_.rank) body(call);
      }
    }
  }

  bool PutsAreThere() const {
    bool right = true;
    ForCallsToMe(CallKind::kPut, [&](const Call& call) {
      const double* place = own().at(call);
      for (long i = 0; i < call.length; ++i) {
        right = right && place[i] == PatternAt(PlaceOf(call, problem_.replays - 1) + i);
      }
    });
    return right;
  }

  bool SumsAreExact() const {
    std::vector<double> expected(kAccumulateArea);
    ForCallsToMe(CallKind::kAccumulate, [&](const Call& call) {
      for (int replay = 0; replay < problem_.replays; ++replay) {
        for (long i = 0; i < call.length; ++i) {
          expected[static_cast<size_t>(call.offset + i)] += PatternAt(PlaceOf(call, replay) + i);
        }
      }
    });
    return std::equal(expected.begin(), expected.end(), own().accumulates());
  }

  bool GetsAreRight() const {
    bool right = true;
    const double* place = got();
    for (const Call& call : problem_.mine()) {
      if (call.kind != CallKind::kGet) continue;
      for (long i = 0; i < call.length; ++i) right = right && place[i] == GetAreaAt(call.target, call.offset + i);
      place += call.length;
    }
    return right;
  }

  long CounterAfter() const {
    long sum = 0;
    ForCallsToMe(CallKind::kFetchAndAdd, [&](const Call& call) { sum += call.pattern * problem_.replays; });
    return sum;
  }

  const Problem& problem_;
  RegisteredBuffer pattern_;
  RegisteredBuffer got_;
};

class ArmciWay : public Way {
 public:
  ArmciWay(const Session& session, const Problem& problem)
      : Way(problem), region_(session, Areas::Bytes(problem.mix.put_area)) {}

  Areas own() const override { return On(problem().rank); }

  void Replay() override {
    Clear();
    ARMCI_Barrier();
    for (int replay = 0; replay < problem().replays; ++replay) {
      double* place = got();
      getting_ = false;
      for (const Call& call : problem().mine()) {
        Make(call, replay, place);
        if (call.kind == CallKind::kGet) place += call.length;
      }
      WaitForGet();
    }
    ARMCI_Barrier();
  }

 private:
  Areas On(int process) const { return {reinterpret_cast<double*>(region_.on(process)), problem().mix.put_area}; }

  void WaitForGet() {
    if (getting_) ARMCI_Wait(&get_);
    getting_ = false;
  }

  void Make(const Call& call, int replay, double* place) {
    const Areas target = On(call.target);
    const int bytes = static_cast<int>(call.length) * kDouble;
    double one = 1;
    long before = 0;
    switch (call.kind) {
      case CallKind::kPut:
        ARMCI_Put(pattern(call, replay), target.at(call), bytes, call.target);
        break;
      case CallKind::kAccumulate:
        ARMCI_Acc(ARMCI_ACC_DBL, &one, pattern(call, replay), target.at(call), bytes, call.target);
        break;
      case CallKind::kGet:
        WaitForGet();
        ARMCI_INIT_HANDLE(&get_);
        ARMCI_NbGet(target.at(call), place, bytes, call.target, &get_);
        getting_ = true;
        break;
      case CallKind::kFetchAndAdd:
        ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, target.counter(), static_cast<int>(call.pattern), call.target);
        break;
    }
  }

  Region region_;
  armci_hdl_t get_;
  bool getting_ = false;
};

class MpiWay : public Way {
 public:
  explicit MpiWay(const Problem& problem)
      : Way(problem),
        memory_(Areas::Bytes(problem.mix.put_area)),
        arrived_(static_cast<size_t>(problem.processes()) * kWindow) {
    for (const auto& calls : problem.mix.calls) longest_ = std::max(longest_, calls.size());
  }

  Areas own() const override { return {reinterpret_cast<double*>(memory_.data()), problem().mix.put_area}; }

  void Replay() override {
    Clear();
    for (int replay = 0; replay < problem().replays; ++replay) {
      place_ = got();
      for (size_t first = 0; first < longest_; first += kWindow) Window(first, replay);
    }
  }

 private:
  struct Arrived {
    const Call* call;
    int origin;
    int tag;
    std::vector<double> data;
    long number;
  };

  // The messages of a call: what the origin gives, and what it gets back.
  static int RequestTag(size_t index) { return static_cast<int>(2 * index); }
  static int ReplyTag(size_t index) { return static_cast<int>(2 * index + 1); }

  void Window(size_t first, int replay) {
    requests_.clear();
    arrivals_.clear();
    replies_.clear();
    for (int origin = 0; origin < problem().processes(); ++origin) {
      const auto& calls = problem().mix.calls[static_cast<size_t>(origin)];
      for (size_t i = first; i < std::min(first + kWindow, calls.size()); ++i) {
        if (origin == problem().rank) {
          Make(calls[i], i, replay);
        } else if (calls[i].target == problem().rank) {
          Serve(calls[i], i, origin);
        }
      }
    }
    // Each part is added when it arrives, while the rest is pending.
    for (size_t left = arrivals_.size(); left > 0; --left) {
      int which = 0;
      MPI_Waitany(static_cast<int>(arrivals_.size()), arrivals_.data(), &which, MPI_STATUS_IGNORE);
      Apply(arrived_[static_cast<size_t>(which)]);
    }
    Wait(requests_);
    Wait(replies_);
  }

  static void Wait(std::vector<MPI_Request>& requests) {
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }

  void Send(const double* from, long length, int to, int tag) {
    MPI_Isend(from, static_cast<int>(length), MPI_DOUBLE, to, tag, MPI_COMM_WORLD, &requests_.emplace_back());
  }

  void Receive(double* to, long length, int from, int tag) {
    MPI_Irecv(to, static_cast<int>(length), MPI_DOUBLE, from, tag, MPI_COMM_WORLD, &requests_.emplace_back());
  }

  // A call of this process.
  void Make(const Call& call, size_t index, int replay) {
    double* place = place_;
    if (call.kind == CallKind::kGet) place_ += call.length;
    if (call.target == problem().rank) {
      MakeHere(call, replay, place);
    } else if (call.kind == CallKind::kGet) {
      Receive(place, call.length, call.target, ReplyTag(index));
    } else if (call.kind == CallKind::kFetchAndAdd) {
      MPI_Isend(&call.pattern, 1, MPI_LONG, call.target, RequestTag(index), MPI_COMM_WORLD, &requests_.emplace_back());
      // Sent after what was asked for has come, so not to be waited for with that.
      MPI_Irecv(&before_, 1, MPI_LONG, call.target, ReplyTag(index), MPI_COMM_WORLD, &replies_.emplace_back());
    } else {
      Send(pattern(call, replay), call.length, call.target, RequestTag(index));
    }
  }

  void MakeHere(const Call& call, int replay, double* place) {
    double* area = own().at(call);
    if (call.kind == CallKind::kPut) std::copy_n(pattern(call, replay), call.length, area);
    if (call.kind == CallKind::kGet) std::copy_n(area, call.length, place);
    if (call.kind == CallKind::kAccumulate) AddTo(area, pattern(call, replay), call.length);
    if (call.kind == CallKind::kFetchAndAdd) *own().counter() += call.pattern;
  }

  // A call of another process on this one.
  void Serve(const Call& call, size_t index, int origin) {
    if (call.kind == CallKind::kPut) return Receive(own().at(call), call.length, origin, RequestTag(index));
    if (call.kind == CallKind::kGet) return Send(own().at(call), call.length, origin, ReplyTag(index));
    Arrived& arrived = arrived_[arrivals_.size()];
    MPI_Request* request = &arrivals_.emplace_back();
    arrived.call = &call;
    arrived.origin = origin;
    arrived.tag = ReplyTag(index);
    if (call.kind == CallKind::kFetchAndAdd) {
      MPI_Irecv(&arrived.number, 1, MPI_LONG, origin, RequestTag(index), MPI_COMM_WORLD, request);
      return;
    }
    arrived.data.resize(std::max(arrived.data.size(), static_cast<size_t>(call.length)));
    MPI_Irecv(arrived.data.data(), static_cast<int>(call.length), MPI_DOUBLE, origin, RequestTag(index), MPI_COMM_WORLD,
              request);
  }

  void Apply(Arrived& arrived) {
    if (arrived.call->kind == CallKind::kAccumulate) {
      AddTo(own().at(*arrived.call), arrived.data.data(), arrived.call->length);
      return;
    }
    const long before = *own().counter();
    *own().counter() = before + arrived.number;
    arrived.number = before;
    MPI_Isend(&arrived.number, 1, MPI_LONG, arrived.origin, arrived.tag, MPI_COMM_WORLD, &replies_.emplace_back());
  }

  static void AddTo(double* to, const double* from, long length) {
    for (long i = 0; i < length; ++i) to[i] += from[i];
  }

  LocalBuffer memory_;
  size_t longest_ = 0;  // number of calls of a process
  double* place_ = nullptr;
  long before_ = 0;
  std::vector<Arrived> arrived_;
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Request> arrivals_;  // of arrived_, in the same order
  std::vector<MPI_Request> replies_;
};

Case Replay(const Session& session, const Problem& problem, Way* one_sided, Way* messages) {
  const auto actions = [=, &session]() -> std::vector<Action> {
    return {session.Whole("one-sided calls", Role::kSubject, [=] { one_sided->Replay(); }),
            session.Whole("MPI_Isend, MPI_Irecv", Role::kBaseline, [=] { messages->Replay(); })};
  };
  const auto verify = [=]() -> std::string {
    for (const auto& [name, way] : {std::pair("one-sided calls", one_sided), std::pair("messages", messages)}) {
      const std::string fault = way->Fault();
      if (!fault.empty()) return std::string(name) + ": " + fault;
    }
    return "";
  };
  // Of process 0: the same text on all, as all choose cases by it.
  const std::string size =
      std::to_string(problem.replays) + " x " + std::to_string(problem.mix.calls[0].size()) + " calls";
  return WholeCase({"replay", size, ""}, actions, verify);
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"replay", "the call mix of a quantum-chemistry program", 1, /*between_nodes=*/true});
  const Problem problem = {MakeCallMix(session.size()), session.rank(), session.options().quick ? 2 : 10};
  {
    ArmciWay one_sided(session, problem);
    MpiWay messages(problem);
    one_sided.Start();
    messages.Start();
    session.Run({Replay(session, problem, &one_sided, &messages)});
  }
  return session.Finish();
}
