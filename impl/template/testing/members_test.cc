// Every member of the template that returns a status returns an error with the next step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "impl/template/transport.h"

namespace armci::template_port {
namespace {
using testing::HasSubstr;

void expect_refusal(Status status, const char* member, int level) {
  EXPECT_EQ(status.code(), Code::kUnsupported) << member;
  const std::string text = last_cause().text;
  EXPECT_THAT(text, testing::StartsWith(std::string(member) + " of the port template is not implemented"));
  EXPECT_THAT(text, HasSubstr("write it in impl/template/transport.cc"));
  EXPECT_THAT(text, HasSubstr("level " + std::to_string(level) + " of docs/porting.md"));
}

TEST(TemplateTest, initialise_and_registration_belong_to_level_1) {
  Transport transport;
  const runtime::World world;
  expect_refusal(transport.initialise(world), "initialise", 1);
  Transport::Key key;
  char memory[8] = {};
  expect_refusal(transport.register_memory(memory, sizeof memory, &key), "register_memory", 1);
}

TEST(TemplateTest, transfers_belong_to_level_2) {
  Transport transport;
  Transport::Completion completion;
  char remote[8] = {};
  char local[8] = {};
  bool done = false;
  expect_refusal(transport.put(0, {}, remote, local, sizeof local, &completion), "put", 2);
  expect_refusal(transport.get(0, {}, remote, local, sizeof local, &completion), "get", 2);
  expect_refusal(transport.test(&completion, &done), "test", 2);
  expect_refusal(transport.flush(0), "flush", 2);
}

TEST(TemplateTest, the_atomic_belongs_to_level_4_and_writes_nothing) {
  Transport transport;
  std::int64_t word = 1;
  std::int64_t before = 2;
  expect_refusal(transport.atomic64(0, {}, &word, runtime::AtomicOp::kFetchAdd, 3, 0, &before), "atomic64", 4);
  EXPECT_EQ(word, 1);
  EXPECT_EQ(before, 2);
}

TEST(TemplateTest, members_without_a_status_do_nothing) {
  Transport transport;
  transport.progress();
  transport.deregister_memory({});
  transport.finalise();
  transport.finalise();
}

}  // namespace
}  // namespace armci::template_port
