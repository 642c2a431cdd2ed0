// Regions as UCX knows them: the memory of this process, and the remote keys of that of others.
//
// Packed remote keys have no fixed length, so a region's are gathered once, when it is made; the Key that Runtime keeps
// points to them. One is unpacked when it is used first, for the one connection that it is used on.
//
// Thread safety: making and ending is collective, by one thread; a Part is used under the client's lock.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <list>
#include <span>
#include <vector>

#include "impl/common/status.h"
#include "impl/common/transport.h"
#include "impl/ucx/context.h"

namespace armci::ucx {

struct Region;

// One process's part.
struct Part {
  Region* region = nullptr;
  std::vector<char> packed;  // empty: no remote key
  ucp_rkey_h key = nullptr;  // once it is unpacked
  bool refused = false;      // the connection cannot use it: by request
};

struct Region {
  ucp_mem_h memory = nullptr;
  std::vector<Part> parts;
};

class Regions {
 public:
  explicit Regions(const Context& context) : context_(context) {}
  ~Regions();
  Regions(const Regions&) = delete;
  Regions& operator=(const Regions&) = delete;

  // Collective over the group; one result for all.
  common::Status add(const common::GroupView& group, std::span<const common::Exposed> parts, Region** made);
  // Its keys are not used any more.
  void remove(Region* region);

 private:
  common::Status expose(const common::Exposed& part, Region* region, std::vector<char>* packed);
  void unmap(Region* region);

  const Context& context_;
  std::list<Region> regions_;
};

}  // namespace armci::ucx
