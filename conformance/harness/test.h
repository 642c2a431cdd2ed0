// The header for a test file.
#ifndef CONFORMANCE_HARNESS_TEST_H_
#define CONFORMANCE_HARNESS_TEST_H_

#include <gtest/gtest.h>
#include <mpi.h>

#include "armci.h"
#include "armci_message.h"
#include "conformance/harness/arena.h"
#include "conformance/harness/collect.h"
#include "conformance/harness/compare.h"
#include "conformance/harness/layout.h"
#include "conformance/harness/missing.h"
#include "conformance/harness/pending.h"
#include "conformance/harness/plan.h"
#include "conformance/harness/random.h"
#include "conformance/harness/region.h"
#include "conformance/harness/registry.h"
#include "conformance/harness/session.h"

#endif  // CONFORMANCE_HARNESS_TEST_H_
