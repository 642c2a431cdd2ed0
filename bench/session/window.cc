#include "bench/session/window.h"

#include "armci.h"
#include "bench/common/verification.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

void Begin(const Window& window, int k) {
  char* const here = window.local + k * window.bytes;
  char* const there = window.remote + k * window.bytes;
  if (window.is_put) {
    ARMCI_NbPut(here, there, window.bytes, window.target, nullptr);
  } else {
    ARMCI_NbGet(there, here, window.bytes, window.target, nullptr);
  }
}

}  // namespace

void Transfer(const Window& window) {
  if (window.count > 1) {
    for (int k = 0; k < window.count; ++k) Begin(window, k);
    ARMCI_WaitAll();
  } else if (window.is_put) {
    ARMCI_Put(window.local, window.remote, window.bytes, window.target);
  } else {
    ARMCI_Get(window.remote, window.local, window.bytes, window.target);
  }
  if (window.is_put) ARMCI_Fence(window.target);
}

std::string Verify(const Window& window) {
  const Mirror mirror = MirrorOf(window.local, window.remote, static_cast<size_t>(window.total()), window.target);
  return (window.is_put ? VerifyPut : VerifyGet)(mirror, [&] { Transfer(window); });
}

}  // namespace armci::bench
