#include "bench/kernels/call_mix.h"

#include <algorithm>
#include <utility>

#include "bench/kernels/draw.h"

namespace armci::bench {
namespace {

long DrawLength(long mean, Draw& draw) {
  if (mean == 0) return 0;
  const long most = draw.Below(2) == 0 ? mean : kLongestOfMean * mean;
  return 1 + static_cast<long>(draw.Below(static_cast<uint64_t>(most)));
}

long AreaOf(CallKind kind) { return kind == CallKind::kGet ? kGetArea : kAccumulateArea; }

Call DrawCall(CallKind kind, long mean, int processes, Draw& draw) {
  Call call = {kind, static_cast<int>(draw.Below(static_cast<uint64_t>(processes))), 0, DrawLength(mean, draw), 0};
  if (kind == CallKind::kAccumulate || kind == CallKind::kGet) {
    call.offset = static_cast<long>(draw.Below(static_cast<uint64_t>(AreaOf(kind) - call.length + 1)));
  }
  call.pattern = static_cast<long>(draw.Below(kPatternPlaces));
  return call;
}

}  // namespace

CallMix MakeCallMix(int processes) {
  CallMix mix;
  std::vector<long> put_ends(static_cast<size_t>(processes));
  for (int process = 0; process < processes; ++process) {
    Draw draw(static_cast<uint64_t>(process) + 1);
    std::vector<Call> calls;
    for (const KindOfCall& kind : kCallKinds) {
      const int more = kind.kind == CallKind::kFetchAndAdd ? process % 2 : 0;
      for (int i = 0; i < kind.calls + more; ++i) calls.push_back(DrawCall(kind.kind, kind.mean, processes, draw));
    }
    draw.Shuffle(calls, 0, calls.size());
    for (Call& call : calls) {
      if (call.kind != CallKind::kPut) continue;
      long& end = put_ends[static_cast<size_t>(call.target)];
      call.offset = end;
      end += call.length;
    }
    mix.calls.push_back(std::move(calls));
  }
  mix.put_area = *std::max_element(put_ends.begin(), put_ends.end());
  return mix;
}

}  // namespace armci::bench
