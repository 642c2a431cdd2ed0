#include "impl/mpi-rma/preflight/testing/defects.h"

#include <mpi.h>

#include <functional>
#include <vector>

namespace armci::rma::testing {
namespace {

constexpr DefectRow kTable[] = {
    {Defect::kGetNoncontiguous, "get, vector", Fault::kGetStrided},
    {Defect::kGetNoncontiguous, "get, indexed", Fault::kGetIndexed},
    {Defect::kPutNoncontiguous, "put, vector", Fault::kPutStrided},
    {Defect::kPutNoncontiguous, "put, indexed", Fault::kPutIndexed},
    {Defect::kAccumulateNoncontiguous, "accumulate, vector", Fault::kAccumulateStrided},
    {Defect::kAccumulateNoncontiguous, "accumulate, indexed", Fault::kAccumulateIndexed},
    {Defect::kRgetNoncontiguous, "rget", Fault::kRgetNoncontiguous},
    {Defect::kFetchAndOp4, "fetch_and_op of 4 bytes", Fault::kFetchAndOp},
    {Defect::kCompareAndSwap, "compare_and_swap", Fault::kCompareAndSwap},
    {Defect::kReplaceLate, "accumulate after fetch_and_op", Fault::kAccumulateOrder},
    {Defect::kAttach, "attach", Fault::kDynamicBroken},
    {Defect::kAllocate, "base of allocate", Fault::kAllocateUnequal},
};

Defect active = Defect::kNone;
std::vector<std::function<void()>> late;

bool noncontiguous(MPI_Datatype type) {
  MPI_Aint low = 0;
  MPI_Aint extent = 0;
  int bytes = 0;
  MPI_Type_get_true_extent(type, &low, &extent);
  MPI_Type_size(type, &bytes);
  return extent != bytes;
}

bool hits(Defect defect, MPI_Datatype here, MPI_Datatype there) {
  return active == defect && (noncontiguous(here) || noncontiguous(there));
}

}  // namespace

std::span<const DefectRow> defect_table() { return kTable; }

void set_defect(Defect defect) { active = defect; }

}  // namespace armci::rma::testing

namespace defects = armci::rma::testing;
using defects::active;
using defects::Defect;
using defects::hits;
using defects::late;

extern "C" {

[[gnu::visibility("default")]] int MPI_Get(void* data, int count, MPI_Datatype type, int target, MPI_Aint place,
                                           int count_there, MPI_Datatype type_there, MPI_Win win) {
  if (hits(Defect::kGetNoncontiguous, type, type_there)) return MPI_SUCCESS;
  return PMPI_Get(data, count, type, target, place, count_there, type_there, win);
}

[[gnu::visibility("default")]] int MPI_Put(const void* data, int count, MPI_Datatype type, int target, MPI_Aint place,
                                           int count_there, MPI_Datatype type_there, MPI_Win win) {
  if (hits(Defect::kPutNoncontiguous, type, type_there)) return MPI_SUCCESS;
  return PMPI_Put(data, count, type, target, place, count_there, type_there, win);
}

[[gnu::visibility("default")]] int MPI_Accumulate(const void* data, int count, MPI_Datatype type, int target,
                                                  MPI_Aint place, int count_there, MPI_Datatype type_there, MPI_Op op,
                                                  MPI_Win win) {
  if (hits(Defect::kAccumulateNoncontiguous, type, type_there)) return MPI_SUCCESS;
  if (active == Defect::kReplaceLate && op == MPI_REPLACE) {
    late.emplace_back([=] { PMPI_Accumulate(data, count, type, target, place, count_there, type_there, op, win); });
    return MPI_SUCCESS;
  }
  return PMPI_Accumulate(data, count, type, target, place, count_there, type_there, op, win);
}

[[gnu::visibility("default")]] int MPI_Rget(void* data, int count, MPI_Datatype type, int target, MPI_Aint place,
                                            int count_there, MPI_Datatype type_there, MPI_Win win,
                                            MPI_Request* request) {
  if (!hits(Defect::kRgetNoncontiguous, type, type_there)) {
    return PMPI_Rget(data, count, type, target, place, count_there, type_there, win, request);
  }
  late.emplace_back([=] { PMPI_Get(data, count, type, target, place, count_there, type_there, win); });
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

[[gnu::visibility("default")]] int MPI_Fetch_and_op(const void* operand, void* before, MPI_Datatype type, int target,
                                                    MPI_Aint place, MPI_Op op, MPI_Win win) {
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  if (active == Defect::kFetchAndOp4 && bytes == 4) {
    late.emplace_back([=] {
      PMPI_Win_flush(target, win);
      ++*static_cast<unsigned*>(before);  // wraps like the sum it spoils
    });
  }
  return PMPI_Fetch_and_op(operand, before, type, target, place, op, win);
}

[[gnu::visibility("default")]] int MPI_Compare_and_swap(const void* swap, const void* compare, void* before,
                                                        MPI_Datatype type, int target, MPI_Aint place, MPI_Win win) {
  if (active != Defect::kCompareAndSwap) return PMPI_Compare_and_swap(swap, compare, before, type, target, place, win);
  return PMPI_Fetch_and_op(compare, before, type, target, place, MPI_NO_OP, win);
}

[[gnu::visibility("default")]] int MPI_Win_flush(int target, MPI_Win win) {
  for (const auto& action : late) action();
  late.clear();
  return PMPI_Win_flush(target, win);
}

[[gnu::visibility("default")]] int MPI_Win_attach(MPI_Win win, void* base, MPI_Aint bytes) {
  return active == Defect::kAttach ? MPI_ERR_RMA_ATTACH : PMPI_Win_attach(win, base, bytes);
}

[[gnu::visibility("default")]] int MPI_Win_allocate(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void* base,
                                                    MPI_Win* win) {
  const int code = PMPI_Win_allocate(bytes, unit, info, comm, base, win);
  if (active == Defect::kAllocate && bytes > 8) *static_cast<char**>(base) += 8;
  return code;
}

}  // extern "C"
