// ORD-2, ORD-3, LC-2: what stores without an order may do, and what they may not.

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "conformance/mutants/held.h"
#include "conformance/mutants/mutants.h"
#include "conformance/mutants/pause.h"

namespace conformance::mutants {
namespace {

// More leave: what has to be looked through for each new one is short.
constexpr int kHeldMax = 16;

struct HeldStores {
  int all = 0;
  int to_target = 0;
};

HeldStores CountHeld(int target) {
  HeldStores held;
  RunHeldIf([&](const Work& work) {
    ++held.all;
    held.to_target += work.proc == target;
    return false;
  });
  return held;
}

// A put goes in front of what is held for other targets, never in front of what is held for its own.
int PutPastOtherTargets(const Move& move) {
  const HeldStores held = CountHeld(move.proc);
  if (held.all > kHeldMax) RunHeld();
  if (held.all == 0 || held.all > kHeldMax || held.to_target > 0) {
    Hold(OwnedPut(move));
    return 0;
  }
  const int code = RightPut(move);
  LetOthersLook();
  return code;
}

MUTANT(targets_are_stored_to_in_any_order, "ORD-2", "a store overtakes earlier ones to other targets, up to a fence",
       Legal{}, Tests{"^(FENCE|ORD|CMPL|AGG|LC|MUTEX|RMW|ACC)\\."}) {
  PrecedeRemoteCalls<RunHeld>(calls);
  RoutePuts(calls, PutPastOtherTargets);
}

MUTANT(fence_orders_nothing_between_targets, "ORD-2",
       "a store overtakes earlier ones to other targets, fenced or not") {
  PrecedeRemoteCalls<RunHeld>(calls);
  RoutePuts(calls, PutPastOtherTargets);
  calls->ARMCI_Fence = [](int) {};
}

MUTANT(store_to_another_target_repeats_the_last, "ORD-2",
       "with a store to another target the one before is sent again") {
  static std::vector<Work> last;
  PrecedeRemoteCalls<RunHeld>(calls);
  RoutePuts(calls, [](const Move& move) {
    const int code = RightPut(move);
    if (last.size() == 2 && last.back().proc != move.proc) last.front().run();
    last.push_back(OwnedPut(move));
    if (last.size() > 2) last.erase(last.begin());
    return code;
  });
}

// Non-blocking stores that have not left: those of one epoch were issued without a completed wait in between.
struct Pending {
  Move move;
  Work work;
  long epoch;
};
std::deque<Pending> pending;
long epoch = 0;

bool Overlap(const Move& a, const Move& b) {
  if (a.proc != b.proc) return false;
  return std::any_of(a.pieces.begin(), a.pieces.end(), [&](const Piece& one) {
    return std::any_of(b.pieces.begin(), b.pieces.end(), [&](const Piece& two) {
      return one.dst < two.dst + two.bytes && two.dst < one.dst + one.bytes;
    });
  });
}

// The newest first, but what a wait has put in an order at one place stays in it: the origin has seen it complete.
void RunPending() {
  while (!pending.empty()) {
    auto chosen = pending.end();
    for (auto candidate = pending.rbegin(); candidate != pending.rend() && chosen == pending.end(); ++candidate) {
      const bool free = std::none_of(pending.begin(), pending.end(), [&](const Pending& other) {
        return other.epoch < candidate->epoch && Overlap(other.move, candidate->move);
      });
      if (free) chosen = std::prev(candidate.base());
    }
    chosen->work.run();
    pending.erase(chosen);
    LetOthersLook();
  }
}

int PutInAnyOrder(const Move& move) {
  if (!move.blocking) {
    if (pending.size() > kHeldMax) RunPending();
    pending.push_back({move, OwnedPut(move), epoch});
    return 0;
  }
  // A blocking store does not wait for the others, unless it goes where one of them goes.
  if (std::any_of(pending.begin(), pending.end(), [&](const Pending& other) { return Overlap(other.move, move); })) {
    RunPending();
  }
  return RightPut(move);
}

// Each of a call's own; the waits complete nothing remotely, but what comes later is another epoch.
void StoreInAnyOrder(Calls* calls) {
  PrecedeRemoteCalls<RunPending>(calls);
  calls->ARMCI_Wait = [](armci_hdl_t* hdl) {
    ++epoch;
    return PARMCI_Wait(hdl);
  };
  calls->ARMCI_WaitAll = [] {
    ++epoch;
    return PARMCI_WaitAll();
  };
  calls->ARMCI_WaitProc = [](int proc) {
    ++epoch;
    return PARMCI_WaitProc(proc);
  };
  calls->ARMCI_Test = [](armci_hdl_t* hdl) {
    ++epoch;
    return PARMCI_Test(hdl);
  };
  RoutePuts(calls, PutInAnyOrder);
}

// The threads of THR would need a queue each; the tests chosen have one.
MUTANT(nonblocking_stores_go_in_any_order, "ORD-3", "non-blocking stores leave the newest first, blocking ones pass by",
       Legal{}, Tests{"^(FENCE|ORD|CMPL|AGG|LC|MUTEX|RMW|ACC)\\."}) {
  StoreInAnyOrder(calls);
}

MUTANT(fence_leaves_nonblocking_stores_unordered, "ORD-3", "a non-blocking store arrives after one behind the fence",
       Tests{"^ORD\\.ORD3"}) {
  StoreInAnyOrder(calls);
  calls->ARMCI_Fence = [](int) {};
  calls->ARMCI_Get = [](void* src, void* dst, int bytes, int proc) {
    // A pending store can be read, and arrives later.
    const int code = PARMCI_Get(src, dst, bytes, proc);
    for (const Pending& one : pending) {
      if (one.move.proc == proc && one.move.pieces[0].dst == src) one.work.run();
    }
    return pending.empty() ? code : PARMCI_Get(src, dst, bytes, proc);
  };
  RoutePuts(calls, [](const Move& move) {
    if (!move.blocking) return PutInAnyOrder(move);
    const int code = RightPut(move);
    RunPending();
    return code;
  });
}

MUTANT(stores_in_flight_to_one_place_are_mixed, "ORD-3",
       "of two non-blocking stores to one place neither arrives whole", Tests{"^ORD\\.ORD3"}) {
  static std::vector<char> former;
  static const char* former_place = nullptr;
  PrecedeRemoteCalls<RunHeld>(calls);
  RoutePuts(calls, [](const Move& move) {
    Move mixed = move;
    const Piece& piece = move.pieces[0];
    std::vector<char> data(piece.src, piece.src + piece.bytes);
    if (!move.blocking && former_place == piece.dst && former.size() == data.size()) {
      for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(data[i] | former[i]);
      mixed.pieces[0].src = data.data();
    }
    former.assign(piece.src, piece.src + piece.bytes);
    former_place = move.blocking ? nullptr : piece.dst;
    return RightPut(mixed);
  });
}

// The data of strided gets, by place and length of the first segment.
std::map<std::pair<void*, std::size_t>, std::vector<char>> read_before;

MUTANT(strided_gets_are_kept, "LC-2", "every fourth strided get is answered with what the one before it read there",
       Tests{"LC2_histories"}) {
  RouteGets(calls, [](const Move& move) {
    static long count = 0;
    const int code = RightGet(move);
    if (move.form != Form::kStrided || code != 0) return code;
    std::vector<char>& known = read_before[{move.pieces[0].src, move.TotalBytes()}];
    std::vector<char> now;
    for (const Piece& piece : move.pieces) now.insert(now.end(), piece.dst, piece.dst + piece.bytes);
    if (known.size() == now.size() && ++count % 4 == 0) {
      const char* from = known.data();
      for (const Piece& piece : move.pieces) {
        std::memcpy(piece.dst, from, piece.bytes);
        from += piece.bytes;
      }
    }
    known = now;
    return code;
  });
}

MUTANT(message_overtakes_fenced_stores, "LC-2", "a message arrives before the stores fenced in front of it",
       Tests{"LC2_histories_with_messages"}) {
  HoldStores(calls);
  calls->ARMCI_Fence = [](int) {};
  calls->ARMCI_AllFence = [] {};
}

MUTANT(vector_stores_are_hidden_by_older_ones, "LC-2", "a vector put is followed by the one before it to that target",
       Tests{"LC[12]_(histories|random)"}) {
  static std::map<int, Work> last;
  RoutePuts(calls, [](const Move& move) {
    if (move.form != Form::kVector) return RightPut(move);
    const int code = RightPut(move);
    if (const auto former = last.find(move.proc); former != last.end()) former->second.run();
    last.insert_or_assign(move.proc, OwnedPut(move));
    return code;
  });
}

}  // namespace
}  // namespace conformance::mutants
