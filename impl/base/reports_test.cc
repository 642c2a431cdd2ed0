// Lines of reports, which need no memory.
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "impl/base/report_line.h"

namespace armci {
namespace {

std::string written(ReportLine& line) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  line.write_to(ends[1]);
  char text[1024];
  const ssize_t length = read(ends[0], text, sizeof text);
  close(ends[0]);
  close(ends[1]);
  return std::string(text, static_cast<std::size_t>(length < 0 ? 0 : length));
}

TEST(ReportLineTest, NamesTheRankAndEndsTheLine) {
  set_message_rank(7);
  ReportLine line;
  line << "holds mutex " << -3 << " of " << std::size_t{18446744073709551615u};
  EXPECT_EQ(written(line), "armci: rank 7: holds mutex -3 of 18446744073709551615\n");
}

TEST(ReportLineTest, WritesAddressesInHexadecimal) {
  set_message_rank(0);
  ReportLine line;
  line.hex(0).hex(0xfedcba9876543210);
  EXPECT_EQ(written(line), "armci: rank 0: 0x00xfedcba9876543210\n");
}

TEST(ReportLineTest, SaysThatThereIsNoRankYet) {
  set_message_rank(-1);
  ReportLine line;
  EXPECT_EQ(written(line), "armci: rank -: \n");
}

TEST(ReportLineTest, CutsWhatIsTooLong) {
  set_message_rank(0);
  ReportLine line;
  const std::size_t left = line.bytes_left();
  line << std::string(left - 1, 'a') << "bc" << 123;
  EXPECT_EQ(line.bytes_left(), 0u);
  EXPECT_EQ(written(line), "armci: rank 0: " + std::string(left - 1, 'a') + "b\n");
}

}  // namespace
}  // namespace armci
