// One rank's part of a litmus program, carried out over and over.
//
// Thread safety: belongs to the thread that runs the test.
#ifndef CONFORMANCE_LITMUS_PART_H_
#define CONFORMANCE_LITMUS_PART_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "conformance/harness/region.h"
#include "conformance/litmus/form.h"
#include "conformance/litmus/places.h"
#include "conformance/litmus/program.h"

namespace conformance::litmus {

// The variables of all iterations: slot s of a variable belongs to iteration s of a round, and starts as 0.
struct Memory {
  const Region* region;
  std::size_t slots;
  std::size_t slot_bytes;

  static constexpr std::size_t kControlBytes = 64;  // before the variables, for the run itself
  char* At(int host, int variable, std::size_t slot) const {
    return region->At(host, kControlBytes + (static_cast<std::size_t>(variable) * slots + slot) * slot_bytes);
  }
};

// The data that all threads of a run share.
struct Cast {
  std::vector<int> threads;  // rank of each
  int lock_host;
  std::uint64_t seed;
};

class Part {
 public:
  Part(const Litmus& litmus, const Program& program, int thread, const Form& form, const Layout& layout,
       const Memory& memory, const Cast& cast, bool cores_shared);

  // The registers of this rank are put to `registers`, with the bytes that were in memory.
  void Run(const Place& place, long iteration, std::size_t slot, long* registers);
  // The value of a variable after a barrier.
  long Final(const Place& place, long iteration, std::size_t slot, int variable) const;

 private:
  // The transfers of one step, by length and by mode.
  struct Calls {
    std::vector<std::unique_ptr<Transfer>> whole;
    std::vector<std::unique_ptr<Transfer>> brief;
    std::vector<long> local;  // where a read leaves its data
  };
  struct Pending {
    Transfer* transfer;
    const long* value;
    const Step* step;
  };

  Calls CallsOf(const Step& step) const;
  bool IsNonblocking(const Step& step) const { return form_.nonblocking || step.nonblocking; }
  Layout::Element ElementOf(long iteration, int variable) const;
  void Do(std::size_t index, const Place& place, long iteration, std::size_t slot, long* registers);
  void Synchronise(const Step& step);
  void Tell(const Step& step);
  void Access(std::size_t index, int host, long iteration, std::size_t slot, long* registers);
  void StoreFlag(const Step& step, char* variable, char* flag, int host);
  void Atomic(const Step& step, char* at, int host, long* registers);
  // The register value for the bytes that a read found in memory.
  long FromMemory(const Step& step, long raw) const;
  void Store(std::size_t index, long value, char* variable, const Layout::Element& element, int host, bool brief);
  void Read(std::size_t index, char* variable, const Layout::Element& element, int host, long* registers);
  // `value`: where the transfer leaves what the step reads, or nullptr.
  void Start(Transfer* transfer, char* src, char* dst, int host, const long* value, const Step& step, long* registers);
  void Complete(long* registers);
  void Check(int code, const char* call);
  bool IsLaterStore(std::size_t index) const;

  const SpecialCalls calls_of_program_;
  const Program& program_;
  const std::vector<Step>& steps_;
  const Form form_;
  const Layout& layout_;
  const Memory memory_;
  const Cast cast_;
  const bool cores_shared_;
  const long unit_;
  std::vector<Calls> calls_;
  std::vector<std::vector<long>> sources_;  // local buffers, one for each value that the program stores, 0 too
  std::vector<Pending> pending_;
  bool failed_ = false;
};

// The bytes in memory for the value 1. Both halves are alike, so that a torn element is seen, except where RMW adds
// or stores a plain number.
long UnitOf(const Program& program);
// The value as tables of outcomes have it, or the bare bits in hexadecimal.
std::string ValueText(long raw, long unit);

}  // namespace conformance::litmus

#endif  // CONFORMANCE_LITMUS_PART_H_
