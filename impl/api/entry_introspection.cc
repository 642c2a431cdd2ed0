// Entry points: progress, addresses, access modes, and what the library says about itself.
#include <span>

#include "armcix.h"
#include "impl/api/entry.h"
#include "impl/api/library.h"
#include "impl/api/totals.h"
#include "impl/api/version.h"
#include "impl/runtime/config.h"
#include "impl/runtime/stats.h"

namespace armci::runtime::api {
namespace {

Status ARMCIX_Progress() {
  runtime().poll();
  return kSuccess;
}

void* ARMCIX_Ptr(int proc, const void* addr) { return runtime().direct_pointer(proc, addr); }

Status ARMCIX_Region_mode(void* base, armcix_mode_t mode, ARMCI_Group* handle) {
  Group* group = &groups().world();
  if (handle != nullptr) ARMCI_RETURN_IF_ERROR(groups().find(handle, &group));
  if (static_cast<unsigned>(mode) > ARMCIX_MODE_PUT_ONLY) {
    // The others are in the call: take part with a base that no region has, so that all fail.
    (void)runtime().set_mode(*group, &runtime(), AccessMode::kDefault);
    return fail(Code::kType, "MODE-1", "argument mode = %d is outside 0..%d; pass a constant of armcix_mode_t",
                static_cast<int>(mode), ARMCIX_MODE_PUT_ONLY);
  }
  return runtime().set_mode(*group, base, static_cast<AccessMode>(mode));
}

const char* ARMCIX_Implementation() { return SelectedTransport::kTraits.name; }

Status ARMCIX_Version(int* major, int* minor, int* patch) {
  if (major != nullptr) *major = kVersionMajor;
  if (minor != nullptr) *minor = kVersionMinor;
  if (patch != nullptr) *patch = kVersionPatch;
  return kSuccess;
}

std::uint64_t ARMCIX_Capabilities() {
  constexpr TransportTraits traits = SelectedTransport::kTraits;
  std::uint64_t bits = ARMCIX_CAP_LOAD_STORE | ARMCIX_CAP_CHECKING;
  if (traits.reaches_nodes) bits |= ARMCIX_CAP_MULTI_NODE | ARMCIX_CAP_SIMULATED_NODES;
  if (traits.atomicity == Atomicity::kNodeCpu) {
    bits |= ARMCIX_CAP_ASYNC_PROGRESS | ARMCIX_CAP_NATIVE_STRIDED | ARMCIX_CAP_NATIVE_VECTOR | ARMCIX_CAP_NATIVE_ACC |
            ARMCIX_CAP_NATIVE_RMW | ARMCIX_CAP_NATIVE_LOCK;
  }
  if (MovesShapes<SelectedTransport>) bits |= ARMCIX_CAP_NATIVE_STRIDED | ARMCIX_CAP_NATIVE_VECTOR;
  if (Accumulates<SelectedTransport>) bits |= ARMCIX_CAP_NATIVE_ACC;
  if (!library_initialised() || library_thread_level() == MPI_THREAD_MULTIPLE) bits |= ARMCIX_CAP_THREAD_MULTIPLE;
  return bits;
}

Status ARMCIX_Query_thread(int* provided) {
  if (provided == nullptr)
    return fail(Code::kNull, "ERR-1", "argument provided is NULL; pass the address for the result");
  *provided = library_thread_level();
  return kSuccess;
}

// --- statistics

Status ARMCIX_Stats_get(armcix_stats_t* out) {
  if (out == nullptr) return fail(Code::kNull, "ERR-1", "argument out is NULL; pass the address for the result");
  if (out->struct_bytes < sizeof out->struct_bytes) {
    return fail(Code::kLength, "EXT-7",
                "argument out->struct_bytes = %zu is too small; set it to sizeof(armcix_stats_t)", out->struct_bytes);
  }
  armcix_stats_t totals = snapshot_totals();
  totals.regions_live = runtime().region_usage().live;
  totals.region_bytes_live = runtime().region_usage().bytes;
  totals.region_bytes_max = runtime().region_usage().bytes_max;
  totals.buffer_bytes = runtime().buffer_bytes();
  totals.struct_bytes = std::min(out->struct_bytes, sizeof totals);
  std::memcpy(out, &totals, totals.struct_bytes);
  return kSuccess;
}

Status ARMCIX_Stats_call(const char* call_name, armcix_call_stats_t* out) {
  if (call_name == nullptr || out == nullptr) {
    return fail(Code::kNull, "ERR-1", "argument %s is NULL; pass a valid address",
                call_name == nullptr ? "call_name" : "out");
  }
  const int call = find_call(call_name);
  if (call < 0) {
    return fail(Code::kType, "EXT-7",
                "argument call_name = \"%.100s\" is no function of the library; pass a name such as ARMCI_Put",
                call_name);
  }
  *out = armcix_call_stats_t{};
  if (!stats().enabled()) return kSuccess;
  const CallStats one = stats().snapshot(call);
  out->calls = one.calls;
  out->bytes = one.bytes;
  out->seconds = static_cast<double>(one.nanoseconds) * 1e-9;
  static_assert(sizeof out->histogram == sizeof one.histogram);
  std::memcpy(out->histogram, one.histogram, sizeof one.histogram);
  return kSuccess;
}

void ARMCIX_Stats_reset() {
  stats().reset();
  reset_totals();
}

// The end of the list is no error: no line is printed.
Valued<int> ARMCIX_Setting(int index, armcix_setting_t* out) {
  if (out == nullptr) {
    Status status = fail(Code::kNull, "ERR-1", "argument out is NULL; pass the address for the result");
    return {status, status.value()};
  }
  SettingView view;
  if (!setting(index, &view)) return {kSuccess, ARMCI_PENDING};
  *out = {view.name, view.type, view.unit, view.default_value, view.value, view.text};
  return {kSuccess, 0};
}

// Copies item number `index` of a list of the transport, converted by `convert`. The end of the list is no error, so
// the call prints no line.
template <class Item, class Out, class Convert>
Valued<int> copy_item(std::span<const Item> items, int index, Out* out, const Convert& convert) {
  if (out == nullptr) {
    Status status = fail(Code::kNull, "ERR-1", "argument out is NULL; pass the address for the result");
    return {status, status.value()};
  }
  if (index < 0 || static_cast<std::size_t>(index) >= items.size()) return {kSuccess, ARMCI_PENDING};
  *out = convert(items[static_cast<std::size_t>(index)]);
  return {kSuccess, 0};
}

Valued<int> ARMCIX_Finding(int index, armcix_finding_t* out) {
  return copy_item(runtime().findings(), index, out, [](const Finding& one) {
    return armcix_finding_t{one.name, one.text, one.instead};
  });
}

Valued<int> ARMCIX_Choice(int index, armcix_choice_t* out) {
  return copy_item(runtime().choices(), index, out, [](const Choice& one) {
    return armcix_choice_t{one.name, one.value};
  });
}

}  // namespace
}  // namespace armci::runtime::api

ARMCI_API_INTROSPECTION(ARMCI_DEFINE_ENTRY)
