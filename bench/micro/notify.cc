// What does a notification cost, alone and behind the data it announces, against a message that carries them?
//
// Two processes, both of which wait for the other.
//   notify             armci_notify and armci_notify_wait, there and back; half a round trip
//   put + notify       a non-blocking put before it
//   exchange           both put and notify at once, as neighbours of a grid do; the time until both have the other's
// The baseline sends as many bytes with MPI_Send and MPI_Recv, and in the exchange with MPI_Irecv, MPI_Isend and
// MPI_Waitall.
#include "armci.h"
#include "bench/common/report.h"
#include "bench/session/notification.h"
#include "bench/session/session.h"

namespace armci::bench {
namespace {

constexpr int kPair = 2;
constexpr size_t kLargest = size_t{512} << 10;
constexpr int kSizes[] = {8, 4 << 10, 64 << 10, kLargest};
constexpr double kSample = 2e-3;

using Side = NotifyingSide;

void Send(const Side& side, int bytes) { MPI_Send(side.outgoing, bytes, MPI_CHAR, side.other, 0, MPI_COMM_WORLD); }

void Receive(const Side& side, int bytes) {
  MPI_Recv(side.own, bytes, MPI_CHAR, side.other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

Case Ping(const Session& session, const Side& side) {
  const auto actions = [=, &session]() -> std::vector<Action> {
    return {session.Each("armci_notify, _wait", Role::kSubject, kPair,
                         [=] {
                           RoundTrip(
                               side, [&] { Notify(side); }, [&] { AwaitNotification(side); });
                         }),
            session.Each("MPI_Send, MPI_Recv", Role::kBaseline, kPair, [=] {
              RoundTrip(
                  side, [&] { Send(side, 0); }, [&] { Receive(side, 0); });
            })};
  };
  return {{"notify", "-", ""}, Crew::kTogether, actions, {}, kSample};
}

void ExchangeOnce(const Side& side, int bytes) {
  PutNotify(side, bytes);
  AwaitNotification(side);
}

Case PutPing(const Session& session, const Side& side, int bytes) {
  const auto actions = [=, &session]() -> std::vector<Action> {
    return {session.Each("ARMCI_NbPut, armci_notify", Role::kSubject, kPair, [=] { PutNotifyRoundTrip(side, bytes); }),
            session.Each("MPI_Send, MPI_Recv", Role::kBaseline, kPair, [=] {
              RoundTrip(
                  side, [&] { Send(side, bytes); }, [&] { Receive(side, bytes); });
            })};
  };
  const auto verify = [=] { return VerifyNotifications(side, bytes, PutNotifyRoundTrip); };
  return {{"put + notify", FormatBytes(static_cast<size_t>(bytes)), ""}, Crew::kTogether, actions, verify, kSample};
}

void ExchangeMessages(const Side& side, int bytes) {
  MPI_Request requests[2];
  MPI_Irecv(side.own, bytes, MPI_CHAR, side.other, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(side.outgoing, bytes, MPI_CHAR, side.other, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

Case Exchange(const Session& session, const Side& side, int bytes) {
  const auto actions = [=, &session]() -> std::vector<Action> {
    return {session.Jointly("ARMCI_NbPut, armci_notify", Role::kSubject,
                            [=] {
                              if (side.other >= 0) ExchangeOnce(side, bytes);
                            }),
            session.Jointly("MPI_Isend, MPI_Irecv", Role::kBaseline, [=] {
              if (side.other >= 0) ExchangeMessages(side, bytes);
            })};
  };
  const auto verify = [=] { return VerifyNotifications(side, bytes, ExchangeOnce); };
  return {{"exchange", FormatBytes(static_cast<size_t>(bytes)), ""}, Crew::kTogether, actions, verify, kSample};
}

}  // namespace
}  // namespace armci::bench

int main(int argc, char** argv) {
  using namespace armci::bench;
  Session session(argc, argv, {"notify", "a notification, and data with one, against messages", kPair, true});
  {
    Region region(session, kLargest);
    const LocalBuffer outgoing(kLargest);
    const int rank = session.rank();
    const int other = rank < kPair ? 1 - rank : -1;
    const Side side = {other, rank == 0, other < 0 ? nullptr : region.on(other), region.on(rank), outgoing.data()};
    std::vector<Case> cases = {Ping(session, side)};
    for (const int bytes : kSizes) cases.push_back(PutPing(session, side, bytes));
    for (const int bytes : kSizes) cases.push_back(Exchange(session, side, bytes));
    session.Run(cases);
  }
  return session.Finish();
}
