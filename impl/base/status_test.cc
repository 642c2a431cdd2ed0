#include "impl/base/status.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <thread>
#include <vector>

namespace armci {
namespace {

// Returns the text that `print` writes on stderr.
template <class Print>
std::string printed(Print print) {
  ::testing::internal::CaptureStderr();
  print();
  return ::testing::internal::GetCapturedStderr();
}

TEST(StatusTest, SuccessIsZeroAndASingleInteger) {
  EXPECT_TRUE(kSuccess.ok());
  EXPECT_EQ(kSuccess.value(), 0);
  static_assert(sizeof(Status) == sizeof(int));
}

TEST(StatusTest, FailRecordsCodeClauseAndText) {
  const Status status = fail(Code::kProc, "ERR-1", "argument proc = %d is outside 0..%d", 7, 3);
  EXPECT_EQ(status.code(), Code::kProc);
  EXPECT_EQ(last_cause().code, Code::kProc);
  EXPECT_STREQ(last_cause().clause, "ERR-1");
  EXPECT_STREQ(last_cause().text, "argument proc = 7 is outside 0..3");
}

TEST(StatusTest, NotePutsItsContextInFrontAndKeepsTheRest) {
  const Status status = note(fail(Code::kMemory, "MEM-8", "no memory"), "while attaching %s", "x");
  EXPECT_EQ(status.code(), Code::kMemory);
  EXPECT_STREQ(last_cause().text, "while attaching x: no memory");
  EXPECT_STREQ(last_cause().clause, "MEM-8");
}

TEST(StatusTest, ErrnoComesWithItsTextAndNumber) {
  EXPECT_EQ(fail_errno(EACCES, "cannot open %s", "it").code(), Code::kLayerBelow);
  EXPECT_STREQ(last_cause().text, "cannot open it: Permission denied (errno 13)");
}

TEST(StatusTest, ErrnoOfAResourceThatRanOutIsAMemoryError) {
  for (int error : {ENOMEM, ENOSPC, EMFILE, ENFILE, EAGAIN, EDQUOT}) {
    EXPECT_EQ(fail_errno(error, "x").code(), Code::kMemory) << error;
  }
}

TEST(StatusTest, TextsThatAreTooLongAreCutNotOverrun) {
  const std::string longer(5000, 'x');
  (void)note(fail(Code::kNull, "ERR-1", "%s", longer.c_str()), "%s", longer.c_str());
  const std::string text = last_cause().text;
  EXPECT_LT(text.size(), 2000u);
  EXPECT_EQ(text.find_first_not_of('x'), std::string::npos);
}

TEST(StatusTest, TheCauseBelongsToTheThread) {
  (void)fail(Code::kNull, "ERR-1", "mine");
  std::thread([] { (void)fail(Code::kProc, "ERR-2", "the other's"); }).join();
  EXPECT_STREQ(last_cause().text, "mine");
}

TEST(StatusTest, ReturnIfErrorPassesOnWhatFailed) {
  const auto call = [](Status inner) -> Status {
    ARMCI_RETURN_IF_ERROR(inner);
    return Status(Code::kGroup);
  };
  EXPECT_EQ(call(Status(Code::kNull)).code(), Code::kNull);
  EXPECT_EQ(call(kSuccess).code(), Code::kGroup);
}

TEST(PrintTest, OneLineWithRankCallTextAndClause) {
  set_message_rank(3);
  EXPECT_EQ(printed([] {
              print_failure("ARMCI_Put", {Code::kProc, "ERR-1", "argument proc = 7 is outside 0..3"});
            }),
            "armci: rank 3: ARMCI_Put: argument proc = 7 is outside 0..3 [ERR-1]\n");
  EXPECT_EQ(printed([] {
              print_failure("ARMCI_Put", {Code::kMemory, nullptr, "x"});
            }),
            "armci: rank 3: ARMCI_Put: x\n");
  EXPECT_EQ(printed([] { warn("beware of %d", 5); }), "armci: rank 3: warning: beware of 5\n");
  set_message_rank(-1);
}

TEST(PrintTest, BeforeTheWorldIsKnownTheRankIsADash) {
  EXPECT_EQ(printed([] {
              print_failure("ARMCI_Init", {Code::kState, nullptr, "x"});
            }),
            "armci: rank -: ARMCI_Init: x\n");
}

TEST(PrintTest, LinesOfThreadsDoNotMix) {
  const std::string lines = printed([] {
    std::vector<std::thread> threads;
    for (char letter : {'a', 'b', 'c', 'd'}) {
      threads.emplace_back([letter] {
        for (int i = 0; i < 200; ++i) warn("%s", std::string(300, letter).c_str());
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 800);
  std::size_t begin = 0;
  for (std::size_t end = lines.find('\n'); end != std::string::npos; begin = end + 1, end = lines.find('\n', begin)) {
    const std::string text = lines.substr(end - 300, 300);
    ASSERT_EQ(text, std::string(300, text[0]));
  }
}

}  // namespace
}  // namespace armci
