#include "impl/ucx/regions.h"

#include <mpi.h>

#include <numeric>

#include "impl/common/agree.h"

namespace armci::ucx {

using common::Exposed;
using common::GroupView;
using common::kSuccess;
using common::Status;

Regions::~Regions() {
  for (Region& region : regions_) unmap(&region);
}

void Regions::unmap(Region* region) {
  if (region->memory != nullptr) ucp_mem_unmap(context_.get(), region->memory);
  region->memory = nullptr;
}

Status Regions::expose(const Exposed& part, Region* region, std::vector<char>* packed) {
  if (part.bytes == 0) return kSuccess;
  ucp_mem_map_params_t wanted{};
  wanted.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
  wanted.address = part.base;
  wanted.length = part.bytes;
  ucs_status_t status = ucp_mem_map(context_.get(), &wanted, &region->memory);
  if (status != UCS_OK) {
    region->memory = nullptr;
    if (status == UCS_ERR_NO_MEMORY) {
      return common::fail(common::Code::kMemory, nullptr,
                          "ucp_mem_map of %zu bytes: %s; raise the limit of locked memory (ulimit -l)", part.bytes,
                          ucs_status_string(status));
    }
    return fail_ucx(status, "ucp_mem_map");
  }
  void* bytes = nullptr;
  std::size_t length = 0;
  status = ucp_rkey_pack(context_.get(), region->memory, &bytes, &length);
  if (status != UCS_OK) return fail_ucx(status, "ucp_rkey_pack");
  packed->assign(static_cast<const char*>(bytes), static_cast<const char*>(bytes) + length);
  ucp_rkey_buffer_release(bytes);
  return kSuccess;
}

Status Regions::add(const GroupView& group, std::span<const Exposed> parts, Region** made) {
  Region& region = regions_.emplace_back();
  std::vector<char> mine;
  Status status = common::agree(group.comm, expose(parts[static_cast<std::size_t>(group.rank)], &region, &mine),
                                "registering memory with UCX");
  std::vector<int> lengths(parts.size());
  std::vector<int> places(parts.size());
  std::vector<char> all;
  if (status.ok()) {
    const int length = static_cast<int>(mine.size());
    ARMCI_MPI(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, group.comm));
    std::exclusive_scan(lengths.begin(), lengths.end(), places.begin(), 0);
    all.resize(static_cast<std::size_t>(places.back() + lengths.back()));
    ARMCI_MPI(
        MPI_Allgatherv(mine.data(), length, MPI_BYTE, all.data(), lengths.data(), places.data(), MPI_BYTE, group.comm));
  }
  if (!status.ok()) {
    remove(&region);
    return status;
  }
  region.parts.resize(parts.size());
  for (std::size_t r = 0; r < parts.size(); ++r) {
    region.parts[r].region = &region;
    const auto from = all.begin() + places[r];
    region.parts[r].packed.assign(from, from + lengths[r]);
  }
  *made = &region;
  return kSuccess;
}

void Regions::remove(Region* region) {
  unmap(region);
  regions_.remove_if([region](const Region& one) { return &one == region; });
}

}  // namespace armci::ucx
