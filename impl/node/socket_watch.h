// SocketWatch: wakes a thread when data arrives at a network socket of this process, or when a socket that was full
// takes data again.
//
// MPI opens its sockets itself and offers no call that waits for them. Linux lists them in /proc/self/fd. The watch
// is edge-triggered: data that stays unread, as that of a socket of the program may, wakes a thread once.
//
// The watch sees nothing where the network needs no sockets, as between processes that share memory: every sleep has a
// limit.
//
// Thread safety: all of it by any thread. One arrival may wake one thread only.
#pragma once

#include <atomic>
#include <cstdint>

namespace armci::node {

// Between two scans: a millisecond after one that added sockets, but at least ten times the length of the scan. After
// each scan that added none it is twice as long, up to 10 s.
std::int64_t scan_pause_us(std::int64_t last_us, int added, std::int64_t took_us);

class SocketWatch {
 public:
  SocketWatch();
  ~SocketWatch();
  SocketWatch(const SocketWatch&) = delete;
  SocketWatch& operator=(const SocketWatch&) = delete;

  // Adds the sockets that were opened since the last scan. Costs about a microsecond for each open file.
  void scan();
  // The same where scan_pause_us() has passed since the last scan. MPI opens sockets when it addresses a process for
  // the first time.
  void scan_when_due();

  // Sleeps until a socket has an edge, wake() is called or `timeout_us` have passed. True: there was an edge. Each
  // socket has an edge after the scan that adds it.
  bool sleep(std::int64_t timeout_us);
  // The same, but arrivals do not wake it.
  void sleep_through(std::int64_t timeout_us) const;
  // Ends all sleeps, for good.
  void wake() const;

 private:
  int arrivals_;  // an epoll instance; -1: the system has none to spare
  int wake_;      // an eventfd, -1 likewise
  std::atomic<std::int64_t> scan_at_us_{0};
  std::atomic<std::int64_t> scan_pause_us_{0};
};

}  // namespace armci::node
