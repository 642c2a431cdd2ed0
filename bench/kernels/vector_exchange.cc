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

class ArmciExchange : public VectorExchange {
 public:
  ArmciExchange(const Session& session, const RowShare& share, bool aggregated)
      : share_(share),
        aggregated_(aggregated),
        length_(LongestOf(share)),
        region_(session, static_cast<size_t>(length_) * kVectors * sizeof(double)),
        handles_(static_cast<size_t>(OwnersIn(share))) {}

  double* vector(int which) override { return At(share_.part, which); }
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
      ARMCI_NbGet(At(owner, which) + stretch.first, At(share_.part, which) + stretch.place,
                  static_cast<int>(stretch.length * static_cast<long>(sizeof(double))), owner, &*handle);
    }
    // The aggregates of all owners are issued before the first wait.
    if (aggregated_) {
      for (armci_hdl_t& each : handles_) ARMCI_UNSET_AGGREGATE_HANDLE(&each);
    }
    for (armci_hdl_t& each : handles_) ARMCI_Wait(&each);
  }

 private:
  double* At(int process, int which) const { return reinterpret_cast<double*>(region_.on(process)) + which * length_; }

  const RowShare& share_;
  bool aggregated_;
  long length_;
  Region region_;
  std::vector<armci_hdl_t> handles_;
};

// The elements that go to or come from one process.
struct Packet {
  int process;
  std::vector<long> elements;  // of ours that are sent
  std::vector<double> packed;
  long place = 0;  // of what is received, in the vector
  long length = 0;
};

class MpiExchange : public VectorExchange {
 public:
  explicit MpiExchange(const RowShare& share) : share_(share) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    for (auto& vector : vectors_) vector.resize(static_cast<size_t>(share.length()));
    Plan();
    requests_.resize(incoming_.size() + outgoing_.size());
  }
  ~MpiExchange() override { MPI_Comm_free(&comm_); }

  double* vector(int which) override { return vectors_[which].data(); }
  // A message is not sent before its values are there.
  void Synchronize() override {}

  void Fetch(int which) override {
    MPI_Request* next = requests_.data();
    for (const Packet& packet : incoming_) {
      MPI_Irecv(vector(which) + packet.place, static_cast<int>(packet.length), MPI_DOUBLE, packet.process, 0, comm_,
                next++);
    }
    const double* own = vector(which);
    for (Packet& packet : outgoing_) {
      for (size_t i = 0; i < packet.elements.size(); ++i) packet.packed[i] = own[packet.elements[i]];
      MPI_Isend(packet.packed.data(), static_cast<int>(packet.packed.size()), MPI_DOUBLE, packet.process, 0, comm_,
                next++);
    }
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

 private:
  // Each owner receives the list of elements that the others need from it.
  void Plan() {
    const auto parts = static_cast<size_t>(share_.blocks.parts);
    std::vector<std::vector<long>> wanted(parts);
    for (const Stretch& stretch : share_.stretches) {
      for (long i = 0; i < stretch.length; ++i) {
        wanted[static_cast<size_t>(stretch.owner)].push_back(stretch.first + i);
      }
    }
    std::vector<long> wanted_lengths(parts);
    std::vector<long> given_lengths(parts);
    for (size_t p = 0; p < parts; ++p) wanted_lengths[p] = static_cast<long>(wanted[p].size());
    MPI_Alltoall(wanted_lengths.data(), 1, MPI_LONG, given_lengths.data(), 1, MPI_LONG, comm_);
    long place = share_.owned();
    std::vector<MPI_Request> sends;
    for (size_t p = 0; p < parts; ++p) {
      if (wanted[p].empty()) continue;
      incoming_.push_back({static_cast<int>(p), {}, {}, place, wanted_lengths[p]});
      place += wanted_lengths[p];
      MPI_Isend(wanted[p].data(), static_cast<int>(wanted_lengths[p]), MPI_LONG, static_cast<int>(p), 0, comm_,
                &sends.emplace_back());
    }
    for (size_t p = 0; p < parts; ++p) {
      const auto length = static_cast<size_t>(given_lengths[p]);
      if (length == 0) continue;
      outgoing_.push_back({static_cast<int>(p), std::vector<long>(length), std::vector<double>(length)});
      MPI_Recv(outgoing_.back().elements.data(), static_cast<int>(length), MPI_LONG, static_cast<int>(p), 0, comm_,
               MPI_STATUS_IGNORE);
    }
    MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE);
  }

  const RowShare& share_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::vector<double> vectors_[kVectors];
  std::vector<Packet> incoming_;
  std::vector<Packet> outgoing_;
  std::vector<MPI_Request> requests_;
};

}  // namespace

std::unique_ptr<VectorExchange> MakeArmciExchange(const Session& session, const RowShare& share, bool aggregated) {
  return std::make_unique<ArmciExchange>(session, share, aggregated);
}

std::unique_ptr<VectorExchange> MakeMpiExchange(const RowShare& share) { return std::make_unique<MpiExchange>(share); }

}  // namespace armci::bench
