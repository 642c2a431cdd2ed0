// Ranks that race against each other at the same time: each on a core of its own, where there are enough.
//
// Ranks that wait for each other by yielding may share one core for long, and then one rank's part never meets the
// other's halfway: no store buffer, no race of two instructions would ever be seen.
#ifndef CONFORMANCE_HARNESS_OWN_CORE_H_
#define CONFORMANCE_HARNESS_OWN_CORE_H_

#include <sched.h>

namespace conformance {

// Binds the calling thread from construction to destruction.
class OwnCore {
 public:
  // The caller is number `index` of `threads`; any other number: none of them, and stays where it is.
  OwnCore(int index, int threads);
  ~OwnCore();
  OwnCore(const OwnCore&) = delete;
  OwnCore& operator=(const OwnCore&) = delete;

  // Whether all threads have the cores they need, as far as this one can see. False for one that is none of them.
  bool enough() const { return enough_; }
  // Looks of a Gate before it yields: about 50 us where there are enough cores, as the others come soon.
  int close_looks() const { return enough_ ? 5000 : 0; }

 private:
  cpu_set_t before_;
  bool bound_ = false;
  bool enough_ = false;
};

}  // namespace conformance

#endif  // CONFORMANCE_HARNESS_OWN_CORE_H_
