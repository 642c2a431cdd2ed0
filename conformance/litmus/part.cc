#include "conformance/litmus/part.h"

#include <sched.h>

#include <algorithm>
#include <cstdio>

#include "conformance/harness/test.h"

namespace conformance::litmus {
namespace {

constexpr Mode kBlockingModes[] = {Mode::kBlocking};
constexpr Mode kNonblockingModes[] = {Mode::kNonblocking, Mode::kImplicit, Mode::kAggregate};

// Mostly very short, now and then some microseconds: transfers of all sizes find each other in the middle. Where the
// threads share cores, only a yield lets another one come between two steps.
void Skew(bool cores_shared) {
  if (cores_shared && MyRng().Chance(1, 16)) sched_yield();
  for (std::uint64_t spin = MyRng().Below(std::uint64_t{1} << MyRng().Below(13)); spin > 0; --spin) {
    __asm__ volatile("");
  }
}

}  // namespace

long UnitOf(const Program& program) { return program.plain_numbers ? 1 : 0x0000000100000001; }

std::string ValueText(long raw, long unit) {
  if (raw >= 0 && raw % unit == 0 && raw / unit < 100) return std::to_string(raw / unit);
  char text[24];
  std::snprintf(text, sizeof text, "0x%016lx", static_cast<unsigned long>(raw));
  return text;
}

Part::Part(const Litmus& litmus, const Program& program, int thread, const Form& form, const Layout& layout,
           const Memory& memory, const Cast& cast, bool cores_shared)
    : calls_of_program_(litmus.calls),
      program_(program),
      steps_(program.threads[static_cast<std::size_t>(thread)]),
      form_(form),
      layout_(layout),
      memory_(memory),
      cast_(cast),
      cores_shared_(cores_shared),
      unit_(UnitOf(program)) {
  long largest = 0;
  for (const auto& thread_steps : program.threads) {
    for (const Step& step : thread_steps) largest = std::max(largest, step.value);
  }
  for (long value = 0; value <= largest; ++value) sources_.emplace_back(layout.LocalBytes() / 8, value * unit_);
  for (const Step& step : steps_) calls_.push_back(CallsOf(step));
}

Part::Calls Part::CallsOf(const Step& step) const {
  Calls calls;
  const bool reads = step.act == Act::kRead;
  if (!reads && step.act != Act::kStore && step.act != Act::kForward && step.act != Act::kAccumulate) return calls;
  const Op store = step.act == Act::kAccumulate ? Op::kAcc : layout_.StoreOp();
  const auto add = [&](Mode mode) {
    for (bool brief : {false, true}) {
      auto& list = brief ? calls.brief : calls.whole;
      list.push_back(reads ? std::make_unique<Transfer>(layout_.ReadPlan(brief), Op::kGet, mode)
                           : std::make_unique<Transfer>(layout_.StorePlan(brief), store, mode));
      list.back()->SetAcc(kAccTypes[1], UnitScale(kAccTypes[1]));
    }
  };
  if (IsNonblocking(step)) {
    for (Mode mode : kNonblockingModes) add(mode);
  } else {
    for (Mode mode : kBlockingModes) add(mode);
  }
  if (reads) calls.local.assign(layout_.LocalBytes() / 8, 0);
  return calls;
}

// The same on all ranks.
Layout::Element Part::ElementOf(long iteration, int variable) const {
  Rng choice(cast_.seed ^ (static_cast<std::uint64_t>(iteration) * 64 + static_cast<std::uint64_t>(variable)));
  return choice.Chance(1, 2) ? layout_.First() : layout_.Last();
}

bool Part::IsLaterStore(std::size_t index) const {
  return std::any_of(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(index),
                     [](const Step& step) { return step.act == Act::kStore; });
}

void Part::Run(const Place& place, long iteration, std::size_t slot, long* registers) {
  Skew(cores_shared_);
  for (std::size_t index = 0; index < steps_.size(); ++index) {
    if (MyRng().Chance(1, 4)) Skew(cores_shared_);
    Do(index, place, iteration, slot, registers);
  }
  Complete(registers);
}

void Part::Do(std::size_t index, const Place& place, long iteration, std::size_t slot, long* registers) {
  const Step& step = steps_[index];
  if (step.act == Act::kWait) return Complete(registers);
  if (step.variable < 0) return Synchronise(step);
  const int letter = program_.variables[static_cast<std::size_t>(step.variable)].letter;
  const int host = place.host[static_cast<std::size_t>(letter)];
  if (step.act == Act::kFence) {
    const PendingNote inside({.what = "ARMCI_Fence", .proc = host});
    return ARMCI_Fence(host);
  }
  if (step.act == Act::kRead && place.by_load && SameNode(host)) {
    const char* at = memory_.At(host, step.variable, slot) + ElementOf(iteration, step.variable).dst;
    registers[step.reg] = FromMemory(step, LoadShared<long>(at));
    return;
  }
  Access(index, host, iteration, slot, registers);
}

void Part::Synchronise(const Step& step) {
  const auto with_host = [&](const char* what) {
    return PendingCall{.what = what, .mutex = 0, .proc = cast_.lock_host};
  };
  if (step.act == Act::kAllFence) {
    const PendingNote inside({.what = "ARMCI_AllFence"});
    return ARMCI_AllFence();
  }
  if (step.act == Act::kLock) {
    const PendingNote inside(with_host("ARMCI_Lock"));
    return ARMCI_Lock(0, cast_.lock_host);
  }
  if (step.act == Act::kUnlock) {
    const PendingNote inside(with_host("ARMCI_Unlock"));
    return ARMCI_Unlock(0, cast_.lock_host);
  }
  if (step.act == Act::kBarrier) {
    const PendingNote inside({.what = "ARMCI_Barrier"});
    return ARMCI_Barrier();
  }
  Tell(step);
}

// Another thread, or hears of it.
void Part::Tell(const Step& step) {
  constexpr int kTag = 1;
  const int other = cast_.threads[static_cast<std::size_t>(step.thread)];
  int count = 0;
  switch (step.act) {
    case Act::kNotify: {
      const PendingNote inside({.what = "armci_notify", .proc = other});
      return Check(armci_notify(other), "armci_notify");
    }
    case Act::kSend: {
      const PendingNote inside({.what = "armci_msg_snd", .proc = other});
      return armci_msg_snd(kTag, &count, sizeof count, other);
    }
    case Act::kReceive: {
      const PendingNote inside({.what = "armci_msg_rcv", .proc = other});
      int length = 0;
      return armci_msg_rcv(kTag, &count, sizeof count, &length, other);
    }
    default: {
      const PendingNote inside({.what = "armci_notify_wait", .proc = other});
      return Check(armci_notify_wait(other, &count), "armci_notify_wait");
    }
  }
}

void Part::Access(std::size_t index, int host, long iteration, std::size_t slot, long* registers) {
  const Step& step = steps_[index];
  char* variable = memory_.At(host, step.variable, slot);
  const Layout::Element element = ElementOf(iteration, step.variable);
  const bool brief = MyRng().Chance(1, 2);
  switch (step.act) {
    case Act::kStore:
    case Act::kAccumulate:
      return Store(index, step.value, variable, element, host, brief && IsLaterStore(index));
    case Act::kStoreFlag:
      return StoreFlag(step, variable, memory_.At(host, step.flag, slot) + ElementOf(iteration, step.flag).dst, host);
    case Act::kForward:
      return Store(index, registers[step.reg] / unit_, variable, element, host, brief);
    case Act::kFetchAdd:
    case Act::kSwapZero:
      return Atomic(step, variable + element.dst, host, registers);
    default:
      return Read(index, variable, element, host, registers);
  }
}

void Part::StoreFlag(const Step& step, char* variable, char* flag, int host) {
  const PendingNote inside({.what = "a put with its flag", .proc = host});
  // The source never changes, so no wait is needed.
  char* source = reinterpret_cast<char*>(sources_[static_cast<std::size_t>(step.value)].data());
  Check(calls_of_program_.put_flag(layout_.StorePlan(false), source, variable, flag, host, IsNonblocking(step)),
        "the put with its flag");
}

void Part::Atomic(const Step& step, char* at, int host, long* registers) {
  const PendingNote inside({.what = "an RMW", .proc = host});
  long before = -1;
  if (step.act == Act::kSwapZero) {
    Check(calls_of_program_.swap_zero(&before, step.value, at, host), "the compare-and-swap");
  } else {
    Check(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, at, static_cast<int>(step.value), host), "ARMCI_Rmw");
  }
  if (step.reg >= 0) registers[step.reg] = before;
}

long Part::FromMemory(const Step& step, long raw) const {
  if (!program_.variables[static_cast<std::size_t>(step.variable)].is_flag || raw == 0) return raw;
  // A flag is a plain 1; anything else stays what it is, and is never taken for one.
  return raw == 1 ? unit_ : raw == unit_ ? -1 : raw;
}

void Part::Store(std::size_t index, long value, char* variable, const Layout::Element& element, int host, bool brief) {
  // A number that no program writes is in the outcome already; the store only has to go on.
  if (value < 0 || value >= static_cast<long>(sources_.size())) value = 0;
  const auto& list = brief ? calls_[index].brief : calls_[index].whole;
  Transfer* transfer = list[MyRng().Below(list.size())].get();
  char* source = reinterpret_cast<char*>(sources_[static_cast<std::size_t>(value)].data());
  Start(transfer, source, variable + (brief ? element.dst : 0), host, nullptr, steps_[index], nullptr);
}

void Part::Read(std::size_t index, char* variable, const Layout::Element& element, int host, long* registers) {
  Calls& calls = calls_[index];
  const bool brief = MyRng().Chance(1, 2);
  const auto& list = brief ? calls.brief : calls.whole;
  char* local = reinterpret_cast<char*>(calls.local.data());
  long* value = brief ? calls.local.data() : reinterpret_cast<long*>(local + element.src);
  // A value that an earlier iteration read must not pass for this one's.
  *value = -1;
  Start(list[MyRng().Below(list.size())].get(), variable + (brief ? element.dst : 0), local, host, value, steps_[index],
        registers);
}

void Part::Start(Transfer* transfer, char* src, char* dst, int host, const long* value, const Step& step,
                 long* registers) {
  Check(transfer->Start(src, dst, host), "a transfer");
  if (IsNonblocking(step)) {
    pending_.push_back({transfer, value, &step});
  } else if (value != nullptr) {
    registers[step.reg] = FromMemory(step, *value);
  }
}

void Part::Complete(long* registers) {
  for (const Pending& pending : pending_) {
    Check(pending.transfer->Wait(), "a wait");
    if (pending.value != nullptr) registers[pending.step->reg] = FromMemory(*pending.step, *pending.value);
  }
  pending_.clear();
}

long Part::Final(const Place& place, long iteration, std::size_t slot, int variable) const {
  const int host = place.host[static_cast<std::size_t>(program_.variables[static_cast<std::size_t>(variable)].letter)];
  char* at = memory_.At(host, variable, slot) + ElementOf(iteration, variable).dst;
  return place.by_load && SameNode(host) ? LoadShared<long>(at) : ARMCI_GetValueLong(at, host);
}

void Part::Check(int code, const char* call) {
  // Once is enough: what fails here fails thousands of times.
  if (code != 0 && !failed_) ADD_FAILURE() << call << " returned " << code << SeedText();
  failed_ |= code != 0;
}

}  // namespace conformance::litmus
