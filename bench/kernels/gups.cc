// What do random updates of a distributed table cost one-sidedly, against exchanging them?
//
// Every process adds values to random entries of the whole table, and takes them away again:
//   ARMCI_AccV     batches of 1024 sorted by owner, one vector accumulate of 64-bit integers for each owner
//   MPI_Alltoallv  batches as large, sorted by owner and exchanged; the owner adds
//   ARMCI_Rmw      one fetch-and-add for each update: for fewer of them, the time of all extrapolated
//   ARMCIX_NbRmw   the same, 1024 non-blocking ones and then a wait for all; only where the library has the call
// The table then is as it was; that it holds every update in between, and their exact sum, is checked besides.
#include <algorithm>
#include <memory>
#include <numeric>

#include "armci.h"
#include "bench/kernels/updates.h"
#include "bench/session/session.h"

// Declared here, weak, and not taken from armcix.h: the benchmark links with any ARMCI, which may not have it.
extern "C" int ARMCIX_NbRmw(int op, int type, void* result, const void* operand, const void* compare, void* remote,
                            int proc, armci_hdl_t* hdl) __attribute__((weak));

namespace armci::bench {
namespace {

constexpr long kBatch = 1024;
constexpr long kSingles = 16;  // the part of the updates that is made one by one
constexpr int kLongs = 2;      // of an update in a message

struct Problem {
  Table table;
  long count;  // updates of each process
};

// A way of updating: the table and a pass over the updates, which adds or takes away. Passes are collective, and end
// when all updates are in the table.
class Way {
 public:
  Way(const Session& session, const Problem& problem, long count)
      : table_(problem.table),
        rank_(session.rank()),
        updates_(MakeUpdates(problem.table, session.rank(), count)),
        sorted_(problem.table.processes, kBatch) {}
  virtual ~Way() = default;
  Way(const Way&) = delete;
  Way& operator=(const Way&) = delete;

  virtual void Pass(int sign) = 0;
  virtual long* part() = 0;

  void BothWays() {
    Pass(1);
    Pass(-1);
  }

  void Start() {
    for (long i = 0; i < table_.entries; ++i) part()[i] = StartOf(table_, rank_, i);
    MPI_Barrier(MPI_COMM_WORLD);
  }

  // Collective: what is wrong with the table as it is, and with one that is in the middle.
  std::string Fault() {
    std::string fault = HoldsUpdates(0) ? "" : "the table is not as it was";
    MPI_Barrier(MPI_COMM_WORLD);  // no update comes while another process still looks
    Pass(1);
    if (!SumIsExact()) fault = "the sum of the table is wrong";
    if (!HoldsUpdates(static_cast<long>(updates_.size()))) fault = "an update is wrong or missing";
    MPI_Barrier(MPI_COMM_WORLD);
    Pass(-1);
    if (!HoldsUpdates(0)) fault = "updates were not taken away";
    return fault;
  }

 protected:
  const std::vector<Update>& updates() const { return updates_; }

  // Calls with the updates by owner, batch after batch.
  template <typename Body>
  void ForBatches(Body body) {
    for (size_t done = 0; done < updates_.size(); done += kBatch) {
      const size_t size = std::min(updates_.size() - done, static_cast<size_t>(kBatch));
      sorted_.Sort(updates_.data() + done, updates_.data() + done + size);
      body(sorted_);
    }
  }

  const Table& table() const { return table_; }

 private:
  bool HoldsUpdates(long count) {
    const std::vector<long> expected = PartAfter(table_, rank_, count);
    return std::equal(expected.begin(), expected.end(), part());
  }

  bool SumIsExact() {
    long sums[2] = {std::accumulate(part(), part() + table_.entries, 0L), 0};
    for (long i = 0; i < table_.entries; ++i) sums[1] += StartOf(table_, rank_, i);
    for (const Update& update : updates_) sums[1] += update.value;
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return sums[0] == sums[1];
  }

  Table table_;
  int rank_;
  std::vector<Update> updates_;
  ByOwner sorted_;
};

class ArmciWay : public Way {
 public:
  ArmciWay(const Session& session, const Problem& problem, long count)
      : Way(session, problem, count),
        rank_(session.rank()),
        region_(session, static_cast<size_t>(problem.table.entries) * sizeof(long)) {}

  long* part() override { return At(rank_, 0); }

 protected:
  long* At(int owner, long offset) const { return reinterpret_cast<long*>(region_.on(owner)) + offset; }

 private:
  int rank_;
  Region region_;
};

class Accumulates : public ArmciWay {
 public:
  Accumulates(const Session& session, const Problem& problem)
      : ArmciWay(session, problem, problem.count), values_(kBatch), from_(kBatch), to_(kBatch) {
    for (size_t i = 0; i < from_.size(); ++i) from_[i] = &values_[i];
  }

  void Pass(int sign) override {
    ForBatches([&](const ByOwner& batch) {
      for (int owner = 0; owner < table().processes; ++owner) Add(batch, owner, sign);
      ARMCI_WaitAll();
    });
    ARMCI_Barrier();
  }

 private:
  void Add(const ByOwner& batch, int owner, long sign) {
    const long begin = batch.begin(owner);
    if (begin == batch.end(owner)) return;
    for (long i = begin; i < batch.end(owner); ++i) {
      values_[static_cast<size_t>(i)] = batch[i].value;
      to_[static_cast<size_t>(i)] = At(owner, batch[i].offset);
    }
    armci_giov_t all = {from_.data() + begin, to_.data() + begin, sizeof(long),
                        static_cast<int>(batch.end(owner) - begin)};
    ARMCI_NbAccV(ARMCI_ACC_LNG, &sign, &all, 1, owner, nullptr);
  }

  std::vector<long> values_;
  std::vector<void*> from_;
  std::vector<void*> to_;
};

class Singles : public ArmciWay {
 public:
  Singles(const Session& session, const Problem& problem) : ArmciWay(session, problem, problem.count / kSingles) {}

  void Pass(int sign) override {
    long before = 0;
    for (const Update& update : updates()) {
      ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, At(update.owner, update.offset), sign * update.value, update.owner);
    }
    ARMCI_Barrier();
  }
};

class NonBlockingSingles : public ArmciWay {
 public:
  NonBlockingSingles(const Session& session, const Problem& problem)
      : ArmciWay(session, problem, problem.count / kSingles), before_(kBatch) {}

  void Pass(int sign) override {
    constexpr int kAdd = 0;    // ARMCIX_ADD
    constexpr int kInt64 = 1;  // ARMCIX_INT64
    size_t pending = 0;
    for (const Update& update : updates()) {
      const long value = long{update.value} * sign;
      ARMCIX_NbRmw(kAdd, kInt64, &before_[pending], &value, nullptr, At(update.owner, update.offset), update.owner,
                   nullptr);
      if (++pending == before_.size()) {
        ARMCI_WaitAll();
        pending = 0;
      }
    }
    ARMCI_Barrier();
  }

 private:
  std::vector<long> before_;
};

class Exchanges : public Way {
 public:
  Exchanges(const Session& session, const Problem& problem)
      : Way(session, problem, problem.count), part_(static_cast<size_t>(problem.table.entries)), out_(kBatch * kLongs) {
    const auto processes = static_cast<size_t>(session.size());
    for (auto* counts : {&sent_, &received_, &sent_from_, &received_at_}) counts->resize(processes);
  }

  long* part() override { return part_.data(); }

  // All have as many batches.
  void Pass(int sign) override {
    ForBatches([&](const ByOwner& batch) {
      Pack(batch, sign);
      MPI_Alltoall(sent_.data(), 1, MPI_INT, received_.data(), 1, MPI_INT, MPI_COMM_WORLD);
      int total = 0;
      for (size_t p = 0; p < received_.size(); ++p) {
        received_at_[p] = total;
        total += received_[p];
      }
      in_.resize(std::max(in_.size(), static_cast<size_t>(total)));
      MPI_Alltoallv(out_.data(), sent_.data(), sent_from_.data(), MPI_LONG, in_.data(), received_.data(),
                    received_at_.data(), MPI_LONG, MPI_COMM_WORLD);
      for (size_t i = 0; i < static_cast<size_t>(total); i += kLongs) part_[static_cast<size_t>(in_[i])] += in_[i + 1];
    });
  }

 private:
  void Pack(const ByOwner& batch, int sign) {
    for (int owner = 0; owner < table().processes; ++owner) {
      const auto p = static_cast<size_t>(owner);
      sent_from_[p] = static_cast<int>(batch.begin(owner)) * kLongs;
      sent_[p] = static_cast<int>(batch.end(owner) - batch.begin(owner)) * kLongs;
      for (long i = batch.begin(owner); i < batch.end(owner); ++i) {
        out_[static_cast<size_t>(i * kLongs)] = batch[i].offset;
        out_[static_cast<size_t>(i * kLongs + 1)] = long{batch[i].value} * sign;
      }
    }
  }

  std::vector<long> part_;
  std::vector<long> out_;
  std::vector<long> in_;
  std::vector<int> sent_;
  std::vector<int> received_;
  std::vector<int> sent_from_;
  std::vector<int> received_at_;
};

Action Extrapolated(const Action& action, long factor) {
  return {action.name, action.role,
          [=](long iterations) { return static_cast<double>(factor) * action.seconds_for(iterations); }};
}

struct NamedWay {
  const char* name;
  Role role;
  Way* way;
  bool is_part;  // of the updates: kSingles times the time is that of all
};

Case Updates(const Session& session, const Problem& problem, const std::vector<NamedWay>& ways) {
  const auto actions = [=, &session] {
    std::vector<Action> all;
    for (const NamedWay& one : ways) {
      const Action action = session.Whole(one.name, one.role, [=] { one.way->BothWays(); });
      all.push_back(one.is_part ? OfTheLibrary(Extrapolated(action, kSingles)) : action);
    }
    return all;
  };
  const auto verify = [=]() -> std::string {
    // All of them, as they are collective.
    std::string fault;
    for (const NamedWay& one : ways) {
      const std::string of_one = one.way->Fault();
      if (!of_one.empty()) fault = std::string(one.name) + ": " + of_one;
    }
    return fault;
  };
  const std::string size = std::to_string(2 * problem.count) + " updates";
  return WholeCase({"random updates", size, ""}, actions, verify);
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"gups", "random updates of a distributed table", 1, /*between_nodes=*/true});
  const bool quick = session.options().quick;
  const Problem problem = {{1L << (quick ? 18 : 21), session.size()}, 1L << (quick ? 16 : 18)};
  {
    Accumulates accumulates(session, problem);
    Exchanges exchanges(session, problem);
    Singles singles(session, problem);
    NonBlockingSingles non_blocking(session, problem);
    std::vector<NamedWay> ways = {{"ARMCI_AccV", Role::kSubject, &accumulates, false},
                                  {"MPI_Alltoallv", Role::kBaseline, &exchanges, false},
                                  {"ARMCI_Rmw", Role::kContext, &singles, true}};
    if (LibraryHas("ARMCIX_NbRmw")) ways.push_back({"ARMCIX_NbRmw", Role::kContext, &non_blocking, true});
    for (const NamedWay& one : ways) one.way->Start();
    session.Run({Updates(session, problem, ways)});
  }
  return session.Finish();
}
