#include "impl/ucx/regions.h"

#include <cstring>
#include <string>

#include "impl/node/agree.h"
#include "impl/ucx/allgather.h"

namespace armci::ucx {

using runtime::Exposed;
using runtime::GroupView;

Status Regions::register_memory(void* base, std::size_t bytes, PackedKey* key) {
  std::string packed;
  *key = {};
  ARMCI_RETURN_IF_ERROR(memory_.register_memory(base, bytes, &key->number, &packed));
  key->set(packed.data(), packed.size());
  return kSuccess;
}

Status Regions::register_all(const GroupView& group, std::span<const Exposed> parts, std::span<PackedKey> keys) {
  const Exposed& own = parts[static_cast<std::size_t>(group.rank)];
  std::uint32_t number = 0;
  std::string packed;
  Status status;
  if (own.bytes > 0) status = memory_.register_memory(own.base, own.bytes, &number, &packed);
  std::vector<std::string> all;
  if (status.ok()) packed.insert(0, reinterpret_cast<const char*>(&number), sizeof number);
  status = node::agree(group.comm, status, "exposing memory by UCX");
  if (status.ok()) status = node::agree(group.comm, allgather_strings(group.comm, packed, &all), "exchanging keys");
  if (!status.ok()) {
    if (number != 0) memory_.deregister(number);
    return status;
  }
  Region region;
  region.mine = number;
  std::lock_guard lock(mutex_);
  ++last_;
  for (std::size_t r = 0; r < parts.size(); ++r) {
    PackedKey& key = keys[r];
    key = {};
    key.region = last_;
    std::memcpy(&key.number, all[r].data(), sizeof key.number);
    if (key.number == 0) continue;
    std::string of_part = all[r].substr(sizeof key.number);
    key.set(of_part.data(), of_part.size());
    if (key.length == 0) {
      client_.with_lock([&] { wire_.add_key(parts[r].proc, key.number, std::move(of_part)); });
    }
    region.parts.emplace_back(parts[r].proc, key.number);
  }
  regions_.emplace(last_, std::move(region));
  return kSuccess;
}

void Regions::deregister_all(const PackedKey& key) {
  std::lock_guard lock(mutex_);
  const auto found = regions_.find(key.region);
  if (found == regions_.end()) return;
  client_.with_lock([&] {
    for (const auto& [process, number] : found->second.parts) wire_.remove_key(process, number);
  });
  if (found->second.mine != 0) memory_.deregister(found->second.mine);
  regions_.erase(found);
}

}  // namespace armci::ucx
