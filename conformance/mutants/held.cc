#include "conformance/mutants/held.h"

#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace conformance::mutants {
namespace {

// Work is done under the lock: threads keep the order, too.
std::mutex held_mutex;
std::deque<Work> held;

void TakeIf(const std::function<bool(const Work&)>& which, bool run) {
  const std::lock_guard<std::mutex> lock(held_mutex);
  std::deque<Work> kept;
  for (Work& work : held) {
    if (!which(work)) {
      kept.push_back(std::move(work));
    } else if (run) {
      work.run();
    }
  }
  held = std::move(kept);
}

}  // namespace

void Hold(Work work) {
  const std::lock_guard<std::mutex> lock(held_mutex);
  held.push_back(std::move(work));
}

void RunHeld() {
  TakeIf([](const Work&) { return true; }, true);
}

void RunHeldIf(const std::function<bool(const Work&)>& which) { TakeIf(which, true); }

void RunHeldTo(int proc) {
  TakeIf([proc](const Work& work) { return work.proc == proc; }, true);
}

void DropHeldIf(const std::function<bool(const Work&)>& which) { TakeIf(which, false); }

Work OwnedPut(const Move& move) {
  auto data = std::make_shared<std::vector<char>>();
  data->reserve(move.TotalBytes());
  for (const Piece& piece : move.pieces) data->insert(data->end(), piece.src, piece.src + piece.bytes);
  Move copy = move;
  char* at = data->data();
  for (Piece& piece : copy.pieces) {
    piece.src = at;
    at += piece.bytes;
  }
  return {move.proc, move.blocking, move.handle, [copy = std::move(copy), data] { RightPut(copy); }};
}

void HoldStores(Calls* calls) {
  PrecedeRemoteCalls<RunHeld>(calls);
  RoutePuts(calls, [](const Move& move) {
    Hold(OwnedPut(move));
    return 0;
  });
}

}  // namespace conformance::mutants
