#include "bench/kernels/vector_exchange.h"

#include <algorithm>

#include "armci.h"

namespace armci::bench {
namespace {

// Regions are as large everywhere, so that all know where the second vector begins.
long LongestOf(const RowShare& share) {
  long longest = share.length();
  MPI_Allreduce(MPI_IN_PLACE, &longest, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
  return longest;
}

// Stretches are in the order of their owners.
long OwnersIn(const RowShare& share) {
  long owners = 0;
  int last = -1;
  for (const Stretch& stretch : share.stretches) {
    if (stretch.owner != last) ++owners;
    last = stretch.owner;
  }
  return owners;
}

// The vectors of all processes, in memory of ARMCI.
class SharedVectors {
 public:
  SharedVectors(const Session& session, const RowShare& share)
      : length_(LongestOf(share)),
        region_(session, static_cast<size_t>(length_) * VectorExchange::kVectors * sizeof(double)) {}

  double* At(int process, int which) const { return reinterpret_cast<double*>(region_.on(process)) + which * length_; }

 private:
  long length_;
  Region region_;
};

class GetExchange : public VectorExchange {
 public:
  GetExchange(const Session& session, const RowShare& share, bool aggregated)
      : share_(share),
        aggregated_(aggregated),
        vectors_(session, share),
        handles_(static_cast<size_t>(OwnersIn(share))) {}

  double* vector(int which) override { return vectors_.At(share_.part, which); }
  void Synchronize() override { ARMCI_Barrier(); }

  void Fetch(int which) override {
    int owner = -1;
    // A handle for each owner that something is fetched from: some libraries take no wait for one without operations.
    auto handle = handles_.begin();
    for (const Stretch& stretch : share_.stretches) {
      if (stretch.owner != owner) {
        if (owner >= 0) ++handle;
        ARMCI_INIT_HANDLE(&*handle);
        if (aggregated_) ARMCI_SET_AGGREGATE_HANDLE(&*handle);
      }
      owner = stretch.owner;
      ARMCI_NbGet(vectors_.At(owner, which) + stretch.first, vector(which) + stretch.place,
                  static_cast<int>(stretch.length * static_cast<long>(sizeof(double))), owner, &*handle);
    }
    // The aggregates of all owners are issued before the first wait.
    if (aggregated_) {
      for (armci_hdl_t& each : handles_) ARMCI_UNSET_AGGREGATE_HANDLE(&each);
    }
    for (armci_hdl_t& each : handles_) ARMCI_Wait(&each);
  }

 private:
  const RowShare& share_;
  bool aggregated_;
  SharedVectors vectors_;
  std::vector<armci_hdl_t> handles_;
};

// A process that needs elements of this one, or has elements that this one needs.
struct Neighbour {
  int process;
  std::vector<long> elements = {};  // those of ours that it needs
  std::vector<double> packed = {};  // their values
  long place_there = 0;             // of the first of them, in its vector
  long place = 0;                   // of the first element that it has for us, in our vector
  long length = 0;                  // of what it has for us
};

// Each owner receives the list of elements that the others need from it, and the place where they keep them.
class Neighbourhood {
 public:
  explicit Neighbourhood(const RowShare& share) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    const auto parts = static_cast<size_t>(share.blocks.parts);
    std::vector<std::vector<long>> wanted(parts);  // the place, then the elements
    for (const Stretch& stretch : share.stretches) {
      std::vector<long>& list = wanted[static_cast<size_t>(stretch.owner)];
      if (list.empty()) list.push_back(stretch.place);
      for (long i = 0; i < stretch.length; ++i) list.push_back(stretch.first + i);
    }
    std::vector<int> lengths(parts);
    for (size_t p = 0; p < parts; ++p) lengths[p] = static_cast<int>(wanted[p].size());
    std::vector<int> given(parts);
    MPI_Alltoall(lengths.data(), 1, MPI_INT, given.data(), 1, MPI_INT, comm_);
    std::vector<MPI_Request> sends;
    for (size_t p = 0; p < parts; ++p) {
      if (lengths[p] > 0) {
        MPI_Isend(wanted[p].data(), lengths[p], MPI_LONG, static_cast<int>(p), 0, comm_, &sends.emplace_back());
      }
    }
    for (size_t p = 0; p < parts; ++p) {
      if (lengths[p] > 0 || given[p] > 0) neighbours_.push_back(ReceiveList(static_cast<int>(p), wanted[p], given[p]));
    }
    MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE);
  }
  ~Neighbourhood() { MPI_Comm_free(&comm_); }
  Neighbourhood(const Neighbourhood&) = delete;
  Neighbourhood& operator=(const Neighbourhood&) = delete;

  MPI_Comm comm() const { return comm_; }
  size_t size() const { return neighbours_.size(); }
  std::vector<Neighbour>::iterator begin() { return neighbours_.begin(); }
  std::vector<Neighbour>::iterator end() { return neighbours_.end(); }

 private:
  // Receives the list of elements that `process` needs.
  Neighbour ReceiveList(int process, const std::vector<long>& wanted, int given) const {
    Neighbour neighbour = {process};
    if (!wanted.empty()) {
      neighbour.place = wanted.front();
      neighbour.length = static_cast<long>(wanted.size()) - 1;
    }
    if (given == 0) return neighbour;
    std::vector<long> list(static_cast<size_t>(given));
    MPI_Recv(list.data(), given, MPI_LONG, process, 0, comm_, MPI_STATUS_IGNORE);
    neighbour.place_there = list.front();
    neighbour.elements.assign(list.begin() + 1, list.end());
    neighbour.packed.resize(neighbour.elements.size());
    return neighbour;
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  std::vector<Neighbour> neighbours_;
};

void Pack(const double* own, Neighbour* neighbour) {
  for (size_t i = 0; i < neighbour->elements.size(); ++i) neighbour->packed[i] = own[neighbour->elements[i]];
}

class MpiExchange : public VectorExchange {
 public:
  explicit MpiExchange(const RowShare& share) : neighbourhood_(share), requests_(2 * neighbourhood_.size()) {
    for (auto& vector : vectors_) vector.resize(static_cast<size_t>(share.length()));
  }

  double* vector(int which) override { return vectors_[which].data(); }
  // A message is not sent before its values are there.
  void Synchronize() override {}

  void Fetch(int which) override {
    MPI_Request* next = requests_.data();
    for (const Neighbour& from : neighbourhood_) {
      if (from.length == 0) continue;
      MPI_Irecv(vector(which) + from.place, static_cast<int>(from.length), MPI_DOUBLE, from.process, 0,
                neighbourhood_.comm(), next++);
    }
    for (Neighbour& to : neighbourhood_) {
      if (to.elements.empty()) continue;
      Pack(vector(which), &to);
      MPI_Isend(to.packed.data(), static_cast<int>(to.packed.size()), MPI_DOUBLE, to.process, 0, neighbourhood_.comm(),
                next++);
    }
    MPI_Waitall(static_cast<int>(next - requests_.data()), requests_.data(), MPI_STATUSES_IGNORE);
  }

 private:
  Neighbourhood neighbourhood_;
  std::vector<double> vectors_[kVectors];
  std::vector<MPI_Request> requests_;
};

// Neighbours notify each other in each exchange, also where elements go one way only. So a notification says too that
// the neighbour has read what it received in the exchange before.
class PushExchange : public VectorExchange {
 public:
  PushExchange(const Session& session, const RowShare& share)
      : share_(share), vectors_(session, share), neighbourhood_(share), handles_(neighbourhood_.size()) {}

  double* vector(int which) override { return vectors_.At(share_.part, which); }
  // An element is not put before its value is there.
  void Synchronize() override {}

  void Fetch(int which) override {
    auto handle = handles_.begin();
    for (Neighbour& to : neighbourhood_) {
      ARMCI_INIT_HANDLE(&*handle);
      if (!to.elements.empty()) {
        Pack(vector(which), &to);
        ARMCI_NbPut(to.packed.data(), vectors_.At(to.process, which) + to.place_there,
                    static_cast<int>(to.packed.size() * sizeof(double)), to.process, &*handle);
      }
      armci_notify(to.process);
      ++handle;
    }
    handle = handles_.begin();
    for (const Neighbour& from : neighbourhood_) {
      int count = 0;
      armci_notify_wait(from.process, &count);
      if (!from.elements.empty()) ARMCI_Wait(&*handle);
      ++handle;
    }
  }

 private:
  const RowShare& share_;
  SharedVectors vectors_;
  Neighbourhood neighbourhood_;
  std::vector<armci_hdl_t> handles_;
};

}  // namespace

std::unique_ptr<VectorExchange> MakeGetExchange(const Session& session, const RowShare& share, bool aggregated) {
  return std::make_unique<GetExchange>(session, share, aggregated);
}

std::unique_ptr<VectorExchange> MakePushExchange(const Session& session, const RowShare& share) {
  return std::make_unique<PushExchange>(session, share);
}

std::unique_ptr<VectorExchange> MakeMpiExchange(const RowShare& share) { return std::make_unique<MpiExchange>(share); }

}  // namespace armci::bench
