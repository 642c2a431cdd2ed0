#include "conformance/harness/own_core.h"

namespace conformance {

OwnCore::OwnCore(int index, int threads) {
  CPU_ZERO(&before_);
  if (index < 0 || index >= threads || sched_getaffinity(0, sizeof before_, &before_) != 0) return;
  enough_ = CPU_COUNT(&before_) >= threads;
  if (!enough_) return;
  int core = -1;
  for (int left = index; left >= 0; --left) {
    do ++core;
    while (!CPU_ISSET(core, &before_));
  }
  cpu_set_t mine;
  CPU_ZERO(&mine);
  CPU_SET(core, &mine);
  bound_ = sched_setaffinity(0, sizeof mine, &mine) == 0;
}

OwnCore::~OwnCore() {
  if (bound_) sched_setaffinity(0, sizeof before_, &before_);
}

}  // namespace conformance
