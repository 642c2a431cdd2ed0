// LC-1: the generated litmus programs, a part of them in each test. The short run takes as many of the part as there is
// time for, drawn by the seed; the full run takes all.

#include "conformance/litmus/shapes.h"

#include "conformance/harness/test.h"

namespace conformance::litmus {
namespace {

const bool registered [[maybe_unused]] = AddShapeTests(
    {"LC",
     "LC1_generated_litmus",
     MakeSpec("LC-1", "LC-3", "LC-4", "ORD-1", "ORD-4", "ORD-5", "ORD-6", "CMPL-2", "FENCE-1", "FENCE-2", "FENCE-4",
              "FENCE-8", "ACC-2", "RMW-2", "RMW-5", "MUTEX-2", NeedsRanks(2), DeadlineSeconds(7200)),
     8,
     ShapeTexts(),
     {PutFlag, nullptr},
     Stores::kContiguousOrStridedFlag,
     {"ARMCI_Put_flag", "ARMCI_PutS_flag"}});

}  // namespace
}  // namespace conformance::litmus
