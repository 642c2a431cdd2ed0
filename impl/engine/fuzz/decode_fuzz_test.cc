// The target of fuzzing on its seeds, with the build's own compiler: a change of the messages that it does not follow
// shows here, without clang.
#include <gtest/gtest.h>

#include "impl/engine/fuzz/seeds.h"
#include "impl/engine/request.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t length);

namespace armci::engine::fuzz {
namespace {

TEST(DecodeFuzz, SeedsAreAcceptedAndHarmless) {
  ASSERT_GT(seeds().size(), 20u);
  for (const Seed& seed : seeds()) {
    Request request;
    EXPECT_TRUE(decode(seed.message, is_inside, kBounds, &request).ok()) << seed.name << ": " << last_cause().text;
    EXPECT_EQ(LLVMFuzzerTestOneInput(reinterpret_cast<const unsigned char*>(seed.message.data()), seed.message.size()),
              0);
  }
}

}  // namespace
}  // namespace armci::engine::fuzz
