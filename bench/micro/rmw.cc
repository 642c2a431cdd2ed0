// What does a read-modify-write cost, against the processor's own instruction behind a call?
//
// Cases, on one location of rank 1:
//   fetch-and-add int, long      rank 1 asleep
//   swap long                    rank 1 asleep; no target
//   fetch-and-add, contended     ranks 0 and 1 at once on the same long, as rate of both together
#include "armci.h"
#include "bench/baseline/atomics.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

constexpr int kTarget = 1;
constexpr double kContendedSample = 4e-3;  // long against the few microseconds between the two starts

Case FetchAddInt(int* location) {
  const auto actions = [=]() -> std::vector<Action> {
    return {Loop("ARMCI_Rmw", Role::kSubject,
                 [=] {
                   int before;
                   ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &before, location, 1, kTarget);
                 }),
            Loop("atomic", Role::kBaseline, [=] { FetchAddCall(location, 1); })};
  };
  return {{"fetch-and-add int", "4 B", "fetch_add"}, Crew::kAlone, actions};
}

Case FetchAddLong(long* location) {
  const auto actions = [=]() -> std::vector<Action> {
    return {Loop("ARMCI_Rmw", Role::kSubject,
                 [=] {
                   long before;
                   ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, location, 1, kTarget);
                 }),
            Loop("atomic", Role::kBaseline, [=] { FetchAddCall(location, 1L); })};
  };
  const auto verify = [=]() -> std::string {
    const long expected = *location;
    long before = -1;
    ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, location, 5, kTarget);
    return before == expected && *location == expected + 5 ? "" : "fetch-and-add lost its value";
  };
  return {{"fetch-and-add long", "8 B", "fetch_add"}, Crew::kAlone, actions, verify};
}

Case SwapLong(long* location) {
  const auto actions = [=]() -> std::vector<Action> {
    return {Loop("ARMCI_Rmw", Role::kSubject,
                 [=] {
                   long value = 7;
                   ARMCI_Rmw(ARMCI_SWAP_LONG, &value, location, 0, kTarget);
                 }),
            Loop("atomic", Role::kBaseline, [=] { ExchangeCall(location, 7L); })};
  };
  return {{"swap long", "8 B", ""}, Crew::kAlone, actions};
}

Case Contended(const Session& session, long* location) {
  const auto actions = [=, &session]() -> std::vector<Action> {
    return {session.Each("ARMCI_Rmw", Role::kSubject, 2,
                         [=] {
                           long before;
                           ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &before, location, 1, kTarget);
                         }),
            session.Each("atomic", Role::kBaseline, 2, [=] { FetchAddCall(location, 1L); })};
  };
  return {
      {"fetch-and-add, 2 contending", "8 B", "fetch_add_contended"}, Crew::kTogether, actions, {}, kContendedSample};
}

std::vector<Case> Cases(const Session& session, long* location) {
  return {FetchAddInt(reinterpret_cast<int*>(location)), FetchAddLong(location), SwapLong(location),
          Contended(session, location)};
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"rmw", "read-modify-write against the raw atomic instruction", 2});
  {
    Region region(session, 4096);
    auto* location = reinterpret_cast<long*>(region.on(kTarget));
    if (session.rank() == kTarget) *location = 0;
    session.Run(Cases(session, location));
  }
  return session.Finish();
}
