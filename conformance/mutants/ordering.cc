// ORD, LC: stores that overtake each other, reads that are too old or too new, elements that never were.

#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "conformance/mutants/held.h"
#include "conformance/mutants/mutants.h"
#include "conformance/mutants/pause.h"

namespace conformance::mutants {
namespace {

constexpr std::size_t kLargeBytes = 4096;
constexpr std::size_t kElementsMax = 64;

// A blocking put of form `first` waits for the next call; if that is a put of form `second`, it goes after it.
template <Form first, Form second>
int OvertakenPut(const Move& move) {
  bool waiting = false;
  RunHeldIf([&](const Work&) {
    waiting = true;
    return false;
  });
  if (waiting && move.form == second) {
    const int code = RightPut(move);
    LetOthersLook();
    RunHeld();
    return code;
  }
  RunHeld();
  if (!move.blocking || move.form != first) return RightPut(move);
  Hold(OwnedPut(move));
  return 0;
}

template <Form first, Form second>
void InstallOvertaking(Calls* calls) {
  PrecedeRemoteCalls<RunHeld>(calls);
  RoutePuts(calls, OvertakenPut<first, second>);
}

constexpr const char* kFormNames[] = {"contiguous", "strided", "vector", "value"};

template <Form first, Form second>
bool AddOvertaking() {
  const std::string former = kFormNames[static_cast<int>(first)];
  const std::string latter = kFormNames[static_cast<int>(second)];
  Mutant mutant;
  mutant.name = "put_" + latter + "_overtakes_" + former;
  mutant.clause = "ORD-1";
  mutant.description = "a blocking " + latter + " put takes effect before the " + former + " one in front of it";
  mutant.install = InstallOvertaking<first, second>;
  mutant.tests = "ORD1_message_passing_" + former + "_then_" + latter + "$";
  return AddMutant(std::move(mutant));
}

template <Form first>
bool AddOvertakingOf() {
  return AddOvertaking<first, Form::kContiguous>() && AddOvertaking<first, Form::kStrided>() &&
         AddOvertaking<first, Form::kVector>() && AddOvertaking<first, Form::kValue>();
}

// One mutant for each pair of forms.
const bool pairs_registered [[maybe_unused]] = AddOvertakingOf<Form::kContiguous>() &&
                                               AddOvertakingOf<Form::kStrided>() && AddOvertakingOf<Form::kVector>() &&
                                               AddOvertakingOf<Form::kValue>();

MUTANT(put_overtakes_accumulate, "ORD-1", "a put takes effect before the accumulate in front of it",
       Tests{"ORD1_message_passing_accumulate_then_contiguous"}) {
  PrecedeAll<RunHeld>(calls);
  RouteAccumulates(calls, [](const Move& move) {
    RunHeld();
    auto data = std::make_shared<std::vector<char>>(move.pieces[0].src, move.pieces[0].src + move.pieces[0].bytes);
    if (move.pieces.size() != 1) return RightAccumulate(move);
    Hold({move.proc, true, nullptr, [move, data, scale = *static_cast<long*>(move.scale)] {
            Move copy = move;
            long own_scale = scale;
            copy.scale = &own_scale;
            copy.pieces[0].src = data->data();
            RightAccumulate(copy);
          }});
    return 0;
  });
  RoutePuts(calls, [](const Move& move) {
    const int code = RightPut(move);
    LetOthersLook();
    RunHeld();
    return code;
  });
}

MUTANT(small_put_overtakes_large_one, "ORD-1", "small and large puts take different ways without order between them",
       Tests{"^ORD\\.ORD1_(later_store|stores_of)"}) {
  PrecedeRemoteCalls<RunHeld>(calls);
  RoutePuts(calls, [](const Move& move) {
    if (move.TotalBytes() <= kLargeBytes) return RightPut(move);
    Hold(OwnedPut(move));
    return 0;
  });
}

// Where one process sees 1 and then 2, its neighbour sees 2 and then 1.
MUTANT(readers_see_orders_of_their_own, "LC-4",
       "every other process sees the stores to a location in the opposite order", Tests{"generated_litmus_1_of_8"}) {
  calls->ARMCI_Get = [](void* src, void* dst, int bytes, int proc) {
    const int code = Right().ARMCI_Get(src, dst, bytes, proc);
    constexpr std::uint64_t kOne = 0x0000000100000001;
    auto* words = static_cast<std::uint64_t*>(dst);
    for (int i = 0; Right().armci_msg_me() % 2 == 1 && i < bytes / 8; ++i) {
      if (words[i] == kOne || words[i] == 2 * kOne) words[i] = 3 * kOne - words[i];
    }
    return code;
  };
}

MUTANT(flag_comes_before_the_data, "ORD-5", "put with flag stores the flag first") {
  calls->ARMCI_Put_flag = [](void* src, void* dst, int bytes, int* flag, int value, int proc) {
    PARMCI_PutValueInt(value, flag, proc);
    LetOthersLook();
    return PARMCI_Put(src, dst, bytes, proc);
  };
}

MUTANT(strided_flag_comes_before_the_last_row, "ORD-5", "strided put with flag stores the last row after the flag") {
  calls->ARMCI_PutS_flag = [](void* src, int* src_stride, void* dst, int* dst_stride, int* count, int levels, int* flag,
                              int value, int proc) {
    Move move{Form::kStrided, true, proc, StridedPieces(src, src_stride, dst, dst_stride, count, levels)};
    const Piece last = move.pieces.back();
    move.pieces.pop_back();
    RightPut(move);
    PARMCI_PutValueInt(value, flag, proc);
    LetOthersLook();
    return PARMCI_Put(last.src, last.dst, static_cast<int>(last.bytes), proc);
  };
}

MUTANT(notify_overtakes_stores, "ORD-6", "a notification arrives before the stores issued in front of it") {
  HoldStores(calls);
  calls->armci_notify = parmci_notify;
  calls->armci_notify_wait = parmci_notify_wait;
}

MUTANT(get_sees_a_later_put, "ORD-4", "a non-blocking get reads after the wait, when the next put has been made") {
  PrecedeAll<RunHeld>(calls);
  RouteGets(calls, [](const Move& move) {
    RunHeld();
    if (move.blocking) return RightGet(move);
    Hold({move.proc, false, move.handle, [move] { RightGet(move); }});
    return 0;
  });
  calls->ARMCI_Wait = PARMCI_Wait;
  calls->ARMCI_WaitProc = PARMCI_WaitProc;
  RoutePuts(calls, [](const Move& move) {
    const int code = RightPut(move);
    RunHeld();
    return code;
  });
}

MUTANT(get_overtakes_own_put, "ORD-4", "a get reads before the blocking put in front of it has arrived") {
  HoldStores(calls);
  RouteGets(calls, RightGet);
}

MUTANT(rmw_overtakes_own_put, "RMW-5", "a read-modify-write happens before the blocking put in front of it") {
  HoldStores(calls);
  calls->ARMCI_Rmw = PARMCI_Rmw;
}

MUTANT(second_get_is_older, "ORD-4", "every fourth get answers with what the last but one has read",
       Tests{"ORD4_a_second_get"}) {
  calls->ARMCI_Get = [](void* src, void* dst, int bytes, int proc) {
    static std::map<std::pair<void*, int>, std::deque<std::vector<char>>> answers;
    static long count = 0;
    const int code = PARMCI_Get(src, dst, bytes, proc);
    std::deque<std::vector<char>>& past = answers[{src, bytes}];
    past.emplace_back(static_cast<char*>(dst), static_cast<char*>(dst) + bytes);
    if (past.size() > 3) past.pop_front();
    if (++count % 4 == 0 && past.size() == 3) std::memcpy(dst, past.front().data(), past.front().size());
    return code;
  };
}

// The value that a small contiguous transfer last read or wrote at an address.
std::map<std::pair<void*, int>, std::vector<char>> cache;

MUTANT(stale_get, "LC-1", "small gets are answered from a cache that only a barrier empties", Tests{"^(LC|MUTEX)\\."}) {
  const auto forget = [] {
    cache.clear();
    PARMCI_Barrier();
  };
  calls->ARMCI_Barrier = forget;
  calls->ARMCI_Get = [](void* src, void* dst, int bytes, int proc) {
    std::vector<char>& known = cache[{src, bytes}];
    if (known.empty()) {
      const int code = PARMCI_Get(src, dst, bytes, proc);
      known.assign(static_cast<char*>(dst), static_cast<char*>(dst) + bytes);
      return code;
    }
    std::memcpy(dst, known.data(), known.size());
    return 0;
  };
  calls->ARMCI_Put = [](void* src, void* dst, int bytes, int proc) {
    cache.clear();
    cache[{dst, bytes}].assign(static_cast<char*>(src), static_cast<char*>(src) + bytes);
    return PARMCI_Put(src, dst, bytes, proc);
  };
}

MUTANT(unlock_overtakes_stores, "LC-1", "stores and their fence are done after the lock has been handed on",
       Tests{"LC1_unlock_to_lock"}) {
  HoldStores(calls);
  calls->ARMCI_AllFence = [] {};
  calls->ARMCI_Unlock = [](int mutex, int proc) {
    PARMCI_Unlock(mutex, proc);
    LetOthersLook();
    RunHeld();
  };
}

// Whether the put consists of few whole, aligned 8-byte elements.
bool OfElements(const Move& move) {
  for (const Piece& piece : move.pieces) {
    if (piece.bytes % 8 != 0 || reinterpret_cast<std::uintptr_t>(piece.dst) % 8 != 0) return false;
  }
  return move.TotalBytes() <= 8 * kElementsMax;
}

MUTANT(elements_are_torn, "LC-3", "8-byte elements are stored in halves") {
  RoutePuts(calls, [](const Move& move) {
    if (!OfElements(move)) return RightPut(move);
    for (int half : {4, 0}) {
      for (const Piece& piece : move.pieces) {
        for (std::size_t at = 0; at < piece.bytes; at += 8) {
          PARMCI_Put(piece.src + at + half, piece.dst + at + half, 4, move.proc);
        }
      }
      if (half != 0) LetOthersLook();
    }
    return 0;
  });
}

MUTANT(values_out_of_thin_air, "LC-3", "a put shows other bytes for a moment before its own") {
  RoutePuts(calls, [](const Move& move) {
    if (!OfElements(move)) return RightPut(move);
    for (const Piece& piece : move.pieces) {
      std::vector<char> wrong(piece.src, piece.src + piece.bytes);
      for (char& byte : wrong) byte = static_cast<char>(byte ^ 0x55);
      PARMCI_Put(wrong.data(), piece.dst, static_cast<int>(piece.bytes), move.proc);
    }
    LetOthersLook();
    return RightPut(move);
  });
}

}  // namespace
}  // namespace conformance::mutants
