// The verbs device of a process: which one, which port, by which address; and memory that it may read and write.
//
// Thread safety: open and close by one thread; the rest may be called by several.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "impl/base/status.h"

namespace armci::verbs {

// A failed call of libibverbs: `error` as errno has it.
Status fail_verbs(int error, const char* call);

// The calls that destroy objects of libibverbs, in the order of destruction.
struct Destroy {
  void operator()(ibv_context* context) const { ibv_close_device(context); }
  void operator()(ibv_pd* domain) const { ibv_dealloc_pd(domain); }
  void operator()(ibv_mr* region) const { ibv_dereg_mr(region); }
  void operator()(ibv_cq* queue) const { ibv_destroy_cq(queue); }
  void operator()(ibv_srq* queue) const { ibv_destroy_srq(queue); }
  void operator()(ibv_qp* pair) const { ibv_destroy_qp(pair); }
  void operator()(ibv_comp_channel* channel) const { ibv_destroy_comp_channel(channel); }
  void operator()(ibv_ah* way) const { ibv_destroy_ah(way); }
};
template <class Object>
using Owned = std::unique_ptr<Object, Destroy>;

class Device {
 public:
  // The one that the settings name, or the first with a port that is up. kUnsupported where there is none.
  Status open();

  ibv_context* context() const { return context_.get(); }
  ibv_pd* domain() const { return domain_.get(); }
  const ibv_device_attr& limits() const { return limits_; }
  const ibv_port_attr& port() const { return port_; }
  std::uint8_t port_number() const { return port_number_; }
  // Of the port: 0 where it is an Ethernet one.
  std::uint16_t lid() const { return port_.lid; }
  const ibv_gid& gid() const { return gid_; }
  int gid_index() const { return gid_index_; }
  bool is_ethernet() const { return port_.link_layer == IBV_LINK_LAYER_ETHERNET; }
  // Whether it is the kernel's CPU that stores what comes. It may store byte by byte.
  bool is_software() const;
  // A completion queue of `entries`, or of as many as the device can have.
  Status make_queue(std::size_t entries, ibv_comp_channel* channel, Owned<ibv_cq>* queue) const;
  const char* name() const { return ibv_get_device_name(context_->device); }

 private:
  Status choose_port(ibv_device* device, bool named);
  Status use_port(ibv_device* device, bool named);
  Status find_port(bool* up);
  Status choose_gid();

  Owned<ibv_context> context_;
  Owned<ibv_pd> domain_;
  ibv_device_attr limits_{};
  ibv_port_attr port_{};
  std::uint8_t port_number_ = 0;
  ibv_gid gid_{};
  int gid_index_ = -1;
};

}  // namespace armci::verbs
