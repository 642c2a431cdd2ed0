// Entry points: global and local memory.
#include <cstdlib>
#include <set>
#include <string>
#include <unordered_set>

#include "armci.h"
#include "impl/api/entry.h"

namespace armci::runtime::api {
namespace {

// A process with a bad argument takes part all the same: the others are in a collective call and must fail with it.
Status allocate(Group& group, void** ptr, armci_size_t bytes) {
  if (ptr != nullptr) return runtime().allocate(group, bytes, ptr);
  constexpr armci_size_t kRefused = -1;
  std::vector<void*> nowhere(static_cast<std::size_t>(group.size()));
  (void)runtime().allocate(group, kRefused, nowhere.data());
  return fail(Code::kNull, "ERR-1", "argument ptr is NULL; pass an array of one pointer for each process");
}

// Kinds of memory by name: there is one, so every other name gets it, with one warning.
void note_device(const char* device) {
  static std::set<std::string> warned;
  static std::mutex mutex;
  if (device == nullptr || *device == '\0' || std::string(device) == "host") return;
  std::lock_guard lock(mutex);
  if (warned.insert(device).second && world().rank() == 0) {
    warn("memory kind \"%s\" is not known; the library uses the default, host memory [MEM-13]", device);
  }
}

Status ARMCI_Malloc(void* ptr[], armci_size_t bytes) { return allocate(groups().world(), ptr, bytes); }
Status ARMCI_Free(void* ptr) { return runtime().release(groups().world(), ptr); }

Status ARMCI_Malloc_group(void* ptr[], armci_size_t bytes, ARMCI_Group* handle) {
  Group* group = nullptr;
  ARMCI_RETURN_IF_ERROR(groups().find(handle, &group));
  return allocate(*group, ptr, bytes);
}
Status ARMCI_Free_group(void* ptr, ARMCI_Group* handle) {
  Group* group = nullptr;
  ARMCI_RETURN_IF_ERROR(groups().find(handle, &group));
  return runtime().release(*group, ptr);
}

Status ARMCI_Malloc_memdev(void* ptr[], armci_size_t bytes, const char* device) {
  note_device(device);
  return ARMCI_Malloc(ptr, bytes);
}
Status ARMCI_Malloc_group_memdev(void* ptr[], armci_size_t bytes, ARMCI_Group* group, const char* device) {
  note_device(device);
  return api::ARMCI_Malloc_group(ptr, bytes, group);
}
Status ARMCI_Free_memdev(void* ptr) { return ARMCI_Free(ptr); }

// The blocks of ARMCI_Malloc_local, so that freeing any other address is an error and not a broken heap.
std::mutex local_mutex;
std::unordered_set<void*> local_memory;

Valued<void*> ARMCI_Malloc_local(armci_size_t bytes) {
  if (bytes < 0)
    return {fail(Code::kLength, "ERR-1", "argument bytes = %ld is negative; pass 0 or more", bytes), nullptr};
  void* memory = nullptr;
  const std::size_t wanted = bytes > 0 ? static_cast<std::size_t>(bytes) : 1;
  if (posix_memalign(&memory, kPartAlignment, wanted) != 0) {
    return {
        fail(Code::kMemory, "MEM-8",
             "argument bytes = %ld: the system has no memory for it; raise ulimit -v, or free memory of the machine",
             bytes),
        nullptr};
  }
  runtime().note_local(memory, wanted);
  std::lock_guard lock(local_mutex);
  local_memory.insert(memory);
  return {kSuccess, memory};
}
Status ARMCI_Free_local(void* ptr) {
  if (ptr == nullptr) return kSuccess;
  std::lock_guard lock(local_mutex);
  if (local_memory.erase(ptr) == 0) {
    return fail(Code::kAddress, "MEM-9",
                "argument ptr = %p is not from ARMCI_Malloc_local, or was freed; pass what that call returned, once",
                ptr);
  }
  runtime().forget_local(ptr);
  free(ptr);
  return kSuccess;
}

Status ARMCI_Memget(std::size_t bytes, armci_meminfo_t* info, int) {
  if (info == nullptr)
    return fail(Code::kNull, "ERR-1", "argument info is NULL; pass the address of an armci_meminfo_t");
  if (bytes == 0) {
    *info = armci_meminfo_t{nullptr, nullptr, 0, world().rank(), {}};
    return kSuccess;
  }
  return runtime().memget(bytes, info);
}

Valued<void*> ARMCI_Memat(armci_meminfo_t* info, long offset) {
  Valued<void*> result;
  if (info == nullptr) {
    result.status = fail(Code::kNull, "ERR-1", "argument info is NULL; pass the address of an armci_meminfo_t");
  } else if (offset < 0 || static_cast<std::size_t>(offset) >= info->size) {
    result.status =
        fail(Code::kAddress, "MEM-14",
             "argument offset = %ld is outside the memory of %zu bytes; pass a smaller offset", offset, info->size);
  } else {
    result.status = runtime().memattach(*info, &result.value);
    if (result.status.ok()) result.value = static_cast<char*>(result.value) + offset;
  }
  return result;
}

Status ARMCI_Memdt(armci_meminfo_t* info, int) {
  if (info == nullptr)
    return fail(Code::kNull, "ERR-1", "argument info is NULL; pass the address of an armci_meminfo_t");
  if (info->size == 0) return kSuccess;
  ARMCI_RETURN_IF_ERROR(info->cpid == world().rank() ? runtime().memdelete(*info) : runtime().memdetach(*info));
  *info = armci_meminfo_t{};
  return kSuccess;
}

Status ARMCI_Memctl(armci_meminfo_t* info) {
  return info != nullptr ? kSuccess
                         : fail(Code::kNull, "ERR-1", "argument info is NULL; pass the address of an armci_meminfo_t");
}

Status ARMCI_Copy(void* src, void* dst, int n) {
  if (n < 0) return fail(Code::kLength, "ERR-1", "argument n = %d is negative; pass 0 or more", n);
  if (n == 0) return kSuccess;
  if (src == nullptr || dst == nullptr) {
    return fail(Code::kNull, "ERR-1", "argument %s is NULL; pass a valid address", src == nullptr ? "src" : "dst");
  }
  node::copy(dst, src, static_cast<std::size_t>(n));
  return kSuccess;
}

// Whether same-node processes reach each other's memory by load and store: they always do.
int ARMCI_Uses_shm() { return 1; }
Valued<int> ARMCI_Uses_shm_grp(ARMCI_Group* handle) {
  Group* group = nullptr;
  Status status = groups().find(handle, &group);
  return {status, status.ok() ? 1 : 0};
}

// The limit is that of ARMCI_SHM_DIR; a program's own idea of it, in the classic call, changes nothing.
void ARMCI_Set_shm_limit(unsigned long) {}

// The owner's loads and stores are ordered against what others did and will do [DLA-1]. Memory ordering: sequentially
// consistent fences.
Status check_access(const void* ptr) { return runtime().check_remote("ptr", ptr, 1, world().rank()); }
Status ARMCI_Access_begin(void* ptr) {
  ARMCI_RETURN_IF_ERROR(check_access(ptr));
  return runtime().fence(world().rank());
}
Status ARMCI_Access_end(void* ptr) {
  ARMCI_RETURN_IF_ERROR(check_access(ptr));
  return runtime().fence(world().rank());
}

}  // namespace
}  // namespace armci::runtime::api

ARMCI_API_MEMORY(ARMCI_DEFINE_ENTRY)
