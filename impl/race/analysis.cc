#include "impl/race/analysis.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <numeric>
#include <tuple>

#include "impl/race/source_lines.h"

namespace armci::race {
namespace {

// A contiguous datatype of the size of a record, so that counts of records fit into an int.
class RecordType {
 public:
  explicit RecordType(std::size_t bytes) {
    MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &type_);
    MPI_Type_commit(&type_);
  }
  ~RecordType() { MPI_Type_free(&type_); }
  RecordType(const RecordType&) = delete;
  RecordType& operator=(const RecordType&) = delete;
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

std::vector<int> offsets_of(const std::vector<int>& counts) {
  std::vector<int> offsets(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), 0);
  return offsets;
}

std::size_t total(const std::vector<int>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0},
                         [](std::size_t sum, int count) { return sum + static_cast<std::size_t>(count); });
}

// The records of all processes, in the order of their ranks, on each.
template <class Record>
Status gather_all(MPI_Comm comm, int size, const std::vector<Record>& mine, std::vector<Record>* all,
                  std::vector<int>* counts) {
  const int count = static_cast<int>(mine.size());
  counts->resize(static_cast<std::size_t>(size));
  ARMCI_MPI(MPI_Allgather(&count, 1, MPI_INT, counts->data(), 1, MPI_INT, comm));
  all->resize(total(*counts));
  const RecordType type(sizeof(Record));
  const std::vector<int> offsets = offsets_of(*counts);
  ARMCI_MPI(
      MPI_Allgatherv(mine.data(), count, type.get(), all->data(), counts->data(), offsets.data(), type.get(), comm));
  return kSuccess;
}

// Each access to the process that owns the memory.
Status send_to_owners(MPI_Comm comm, int size, std::vector<Access> mine, std::vector<Access>* own) {
  std::stable_sort(mine.begin(), mine.end(),
                   [](const Access& one, const Access& other) { return one.owner < other.owner; });
  std::vector<int> sent(static_cast<std::size_t>(size));
  for (const Access& access : mine) ++sent[static_cast<std::size_t>(access.owner)];
  std::vector<int> received(sent.size());
  ARMCI_MPI(MPI_Alltoall(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT, comm));
  own->resize(total(received));
  const RecordType type(sizeof(Access));
  const std::vector<int> from = offsets_of(sent);
  const std::vector<int> to = offsets_of(received);
  ARMCI_MPI(MPI_Alltoallv(mine.data(), sent.data(), from.data(), type.get(), own->data(), received.data(), to.data(),
                          type.get(), comm));
  return kSuccess;
}

struct Site {
  int process;
  std::uint32_t number;
  auto operator<=>(const Site&) const = default;
};

constexpr const char* kMain = " in main";  // the callers of main say nothing

// The stacks of this process's sites, in the order of `sites`: innermost call first.
std::vector<std::string> texts_of(const std::vector<Site>& sites, int rank, Recorder* recorder) {
  std::vector<const void*> addresses;
  std::vector<std::size_t> ends;
  for (const Site& site : sites) {
    if (site.process != rank) continue;
    for (const void* frame : recorder->site(site.number).frames) {
      if (frame != nullptr) addresses.push_back(frame);
    }
    ends.push_back(addresses.size());
  }
  const std::vector<std::string> lines = source_lines(addresses);
  std::vector<std::string> texts;
  std::size_t next = 0;
  for (const std::size_t end : ends) {
    std::string text = lines[next++];
    for (; next < end && !text.ends_with(kMain); ++next) text += "\n      called at " + lines[next];
    next = end;
    texts.push_back(text);
  }
  return texts;
}

// The source lines of call sites, each looked up by the process that has it, in the order of `sites`; on every process.
Status look_up(MPI_Comm comm, int size, int rank, const std::vector<Site>& sites, Recorder* recorder,
               std::map<Site, std::string>* lines) {
  std::vector<char> mine;
  for (const std::string& text : texts_of(sites, rank, recorder)) {
    mine.insert(mine.end(), text.c_str(), text.c_str() + text.size() + 1);
  }
  std::vector<char> all;
  std::vector<int> counts;
  ARMCI_RETURN_IF_ERROR(gather_all(comm, size, mine, &all, &counts));
  // `sites` is sorted by process, as the texts are.
  const char* text = all.data();
  for (const Site& site : sites) {
    (*lines)[site] = text;
    text += (*lines)[site].size() + 1;
  }
  return kSuccess;
}

const char* verb_of(const Access& access) {
  if (access.is_local) return access.kind == AccessKind::kWrite ? "writes its local buffer" : "reads its local buffer";
  switch (access.kind) {
    case AccessKind::kRead:
      return "reads";
    case AccessKind::kWrite:
      return "writes";
    case AccessKind::kAccumulate:
      return "accumulates";
    case AccessKind::kAtomic:
      return "updates atomically";
    case AccessKind::kFlag:
      return "writes a flag";
  }
  return "";
}

}  // namespace

Status Analysis::start(MPI_Comm comm, const char* const* call_names) {
  ARMCI_MPI(MPI_Comm_dup(comm, &comm_));
  ARMCI_MPI(MPI_Comm_rank(comm_, &rank_));
  ARMCI_MPI(MPI_Comm_size(comm_, &size_));
  call_names_ = call_names;
  known_.clear();
  printed_.clear();
  left_out_ = not_analysed_ = 0;
  return kSuccess;
}

Status Analysis::agree_all_complete(bool mine, bool* all) {
  int complete = mine ? 1 : 0;
  ARMCI_MPI(MPI_Allreduce(MPI_IN_PLACE, &complete, 1, MPI_INT, MPI_MIN, comm_));
  *all = complete != 0;
  return kSuccess;
}

Status Analysis::run(Recorder* recorder) {
  Recorder::Records records = recorder->take();
  left_out_ += records.left_out;
  // The number of processes that have accesses, and of those whose records are not whole.
  int counted[] = {records.accesses.empty() ? 0 : 1, records.is_whole ? 0 : 1};
  ARMCI_MPI(MPI_Allreduce(MPI_IN_PLACE, counted, std::size(counted), MPI_INT, MPI_SUM, comm_));
  not_analysed_ += counted[1] > 0 ? 1 : 0;
  if (counted[0] == 0 || counted[1] > 0) return kSuccess;
  ARMCI_RETURN_IF_ERROR(drop_other_words(&records.syncs));
  std::vector<Sync> syncs;
  std::vector<int> counts;
  ARMCI_RETURN_IF_ERROR(gather_all(comm_, size_, records.syncs, &syncs, &counts));
  std::vector<Access> own;
  ARMCI_RETURN_IF_ERROR(send_to_owners(comm_, size_, std::move(records.accesses), &own));
  const HappensBefore order(size_, syncs);
  const std::vector<Race> mine = find_races(std::move(own), order);
  std::vector<Race> races;
  ARMCI_RETURN_IF_ERROR(gather_all(comm_, size_, mine, &races, &counts));
  races = new_ones(races);
  return races.empty() ? kSuccess : print(races, recorder);
}

Status Analysis::drop_other_words(std::vector<Sync>* syncs) const {
  const auto less = [](const Place& one, const Place& other) {
    return std::tie(one.region, one.offset, one.owner) < std::tie(other.region, other.offset, other.owner);
  };
  std::set<Place, decltype(less)> mine(less);
  for (const Sync& sync : *syncs) {
    if (sync.kind == SyncKind::kSignal) mine.insert(sync.word);
  }
  std::vector<Place> all;
  std::vector<int> counts;
  ARMCI_RETURN_IF_ERROR(gather_all(comm_, size_, std::vector<Place>(mine.begin(), mine.end()), &all, &counts));
  const std::set<Place, decltype(less)> words(all.begin(), all.end(), less);
  std::erase_if(*syncs, [&](const Sync& sync) { return sync.kind == SyncKind::kSee && words.count(sync.word) == 0; });
  return kSuccess;
}

std::vector<Race> Analysis::new_ones(const std::vector<Race>& races) {
  std::vector<Race> found;
  for (const Race& race : races) {
    const Side first(race.first.origin, race.first.site);
    const Side second(race.second.origin, race.second.site);
    if (known_.insert(std::minmax(first, second)).second) found.push_back(race);
  }
  return found;
}

Status Analysis::print(const std::vector<Race>& races, Recorder* recorder) {
  std::set<Site> wanted;
  for (const Race& race : races) {
    for (const Access& access : {race.first, race.second}) wanted.insert({access.origin, access.site});
  }
  std::map<Site, std::string> lines;
  ARMCI_RETURN_IF_ERROR(look_up(comm_, size_, rank_, {wanted.begin(), wanted.end()}, recorder, &lines));
  if (rank_ != 0) return kSuccess;
  for (const Race& race : races) {
    const std::string& first = lines[{race.first.origin, race.first.site}];
    const std::string& second = lines[{race.second.origin, race.second.site}];
    // One line of the program races on many processes: that is one race to mend.
    const std::pair<std::string, std::string> sides =
        std::minmax(first + call_names_[race.first.call], second + call_names_[race.second.call]);
    if (printed_.insert(sides).second) std::fputs(describe(race, first, second).c_str(), stderr);
  }
  return kSuccess;
}

std::string Analysis::describe(const Race& race, const std::string& first, const std::string& second) const {
  const auto side = [&](const Access& access, const std::string& line) {
    return "process " + std::to_string(access.origin) + ": " + call_names_[access.call] + " " + verb_of(access) + ", " +
           line;
  };
  const std::string owner = std::to_string(race.first.owner);
  const std::string origin = std::to_string(race.first.origin);
  const bool is_private = race.first.region == Place::kPrivate;
  std::string text =
      "armci: race " + std::to_string(printed_.size()) + " [LC-1], at " +
      (is_private ? "a private address"
                  : "byte " + std::to_string(race.byte) + " of region " + std::to_string(race.first.region)) +
      " of process " + owner + "\n  " + side(race.first, first) + "\n  " + side(race.second, second) + "\n  ";
  switch (race.reason) {
    case Reason::kNoOrder:
      text +=
          "nothing orders the two calls; synchronise the processes between them: ARMCI_Barrier, armci_notify, a "
          "mutex, a message";
      break;
    case Reason::kNoFence:
      text += "the second call follows the first, whose store need not be complete; call ARMCI_Fence(" + owner +
              ") on process " + origin + " between the store and the synchronisation";
      break;
    case Reason::kNoWait:
      text += "the second call follows the first, which need not be complete; process " + origin +
              " waits for it (ARMCI_Wait) before the second call";
      break;
  }
  return text + "\n";
}

Status Analysis::finish() {
  std::uint64_t sums[] = {left_out_, not_analysed_};
  ARMCI_MPI(MPI_Allreduce(MPI_IN_PLACE, sums, std::size(sums), MPI_UINT64_T, MPI_SUM, comm_));
  ARMCI_MPI(MPI_Comm_free(&comm_));
  if (rank_ != 0) return kSuccess;
  std::fprintf(stderr, "armci: data races: %zu%s\n", printed_.size(),
               printed_.empty() ? "" : ", each named above by its two calls");
  if (sums[0] != 0) {
    std::fprintf(stderr,
                 "armci: data races: %llu accesses were left out, as there were more than %zu on a process between two "
                 "calls of ARMCI_Barrier; races of theirs are not found\n",
                 static_cast<unsigned long long>(sums[0]), Recorder::kAccessesMost);
  }
  if (sums[1] != 0) {
    std::fprintf(
        stderr,
        "armci: data races: %llu times the calls between two barriers were not looked at, as a process had more "
        "than %zu synchronisations; call ARMCI_Barrier more often\n",
        static_cast<unsigned long long>(sums[1] / static_cast<std::uint64_t>(size_)), Recorder::kSyncsMost);
  }
  return kSuccess;
}

}  // namespace armci::race
