// What does one small transfer cost, against a call of memcpy with 8 bytes?
//
// Cases, all on memory of rank 1, which sleeps:
//   put, get               8 bytes, blocking
//   put + fence            the allowance is one full memory barrier, timed by itself
//   put value, get value   one long
//   accumulate             one double
//   nb put + wait          one explicit handle
//
// The baseline of every case is memcpy called with a length the compiler cannot know, so that the call stays a call
// of the C library; what one load and one store behind a call cost is given as context.
#include <cstring>

#include "armci.h"
#include "bench/baseline/atomics.h"
#include "bench/baseline/copies.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

constexpr int kTarget = 1;
constexpr int kBytes = 8;

struct Buffers {
  char* local;
  char* remote;
};

void MemcpyCall(void* dst, const void* src) {
  size_t bytes = kBytes;
  asm volatile("" : "+r"(bytes));
  std::memcpy(dst, src, bytes);
}

// The subject and the raw ways of moving 8 bytes from `src` to `dst`.
template <typename Body>
std::vector<Action> AgainstMemcpy(const char* name, void* dst, const void* src, Body body) {
  return {Loop(name, Role::kSubject, body), Loop("memcpy", Role::kBaseline, [=] { MemcpyCall(dst, src); }),
          Loop("load+store call", Role::kContext, [=] { CopyEightCall(dst, src); })};
}

std::vector<Action> PutFence(Buffers at) {
  std::vector<Action> actions = AgainstMemcpy("ARMCI_Put+Fence", at.remote, at.local, [=] {
    ARMCI_Put(at.local, at.remote, kBytes, kTarget);
    ARMCI_Fence(kTarget);
  });
  actions.push_back(Loop("barrier", Role::kAllowance, [] { FullBarrier(); }));
  actions.push_back(Loop("memcpy+barrier", Role::kContext, [=] {
    MemcpyCall(at.remote, at.local);
    FullBarrier();
  }));
  return actions;
}

std::vector<Action> Accumulate(Buffers at) {
  return AgainstMemcpy("ARMCI_Acc", at.remote, at.local, [=] {
    double scale = 1;
    ARMCI_Acc(ARMCI_ACC_DBL, &scale, at.local, at.remote, kBytes, kTarget);
  });
}

std::vector<Action> NbPutWait(Buffers at) {
  return AgainstMemcpy("ARMCI_NbPut+Wait", at.remote, at.local, [=] {
    armci_hdl_t handle;
    ARMCI_INIT_HANDLE(&handle);
    ARMCI_NbPut(at.local, at.remote, kBytes, kTarget, &handle);
    ARMCI_Wait(&handle);
  });
}

std::string Differs(Buffers at) { return std::memcmp(at.local, at.remote, kBytes) == 0 ? "" : "8 bytes differ"; }

std::vector<Case> Cases(Buffers at) {
  const auto differs = [=] { return Differs(at); };
  const auto put = [=] {
    return AgainstMemcpy("ARMCI_Put", at.remote, at.local, [=] { ARMCI_Put(at.local, at.remote, kBytes, kTarget); });
  };
  const auto get = [=] {
    return AgainstMemcpy("ARMCI_Get", at.local, at.remote, [=] { ARMCI_Get(at.remote, at.local, kBytes, kTarget); });
  };
  const auto put_value = [=] {
    return AgainstMemcpy("ARMCI_PutValueLong", at.remote, at.local,
                         [=] { ARMCI_PutValueLong(42, at.remote, kTarget); });
  };
  const auto get_value = [=] {
    return AgainstMemcpy("ARMCI_GetValueLong", at.local, at.remote, [=] {
      const long value = ARMCI_GetValueLong(at.remote, kTarget);
      std::memcpy(at.local, &value, sizeof value);
    });
  };
  return {{{"put", "8 B", "put_8"}, Crew::kAlone, put, differs},
          {{"get", "8 B", "get_8"}, Crew::kAlone, get, differs},
          {{"put + fence", "8 B", "put_fence_8"}, Crew::kAlone, [=] { return PutFence(at); }, differs},
          {{"put value", "8 B", "put_value"}, Crew::kAlone, put_value},
          {{"get value", "8 B", ""}, Crew::kAlone, get_value, differs},
          {{"accumulate", "8 B", "acc_8"}, Crew::kAlone, [=] { return Accumulate(at); }},
          {{"nb put + wait", "8 B", ""}, Crew::kAlone, [=] { return NbPutWait(at); }, differs}};
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"small", "latency of transfers of 8 bytes", 2});
  {
    Region region(session, 4096);
    alignas(64) char local[64] = {};
    const double one = 1;
    std::memcpy(local, &one, sizeof one);
    session.Run(Cases({local, region.on(kTarget)}));
  }
  return session.Finish();
}
