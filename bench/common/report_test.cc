#include "bench/common/report.h"

#include <gtest/gtest.h>

namespace armci::bench {
namespace {

CaseResult Example() {
  Series armci;
  armci.name = "ARMCI_Put";
  armci.role = Role::kSubject;
  armci.seconds = {10e-9, 12e-9, 11e-9};
  Series raw;
  raw.name = "memcpy";
  raw.role = Role::kBaseline;
  raw.seconds = {2e-9, 2e-9, 2e-9};
  return Compare({"put", "8 B", "put_8", 0}, {Limit::kTimeAtMost, 5}, {armci, raw});
}

TEST(Report, SecondsHaveThreeDigitsAndAUnit) {
  EXPECT_EQ(FormatSeconds(1.234e-9), "1.23 ns");
  EXPECT_EQ(FormatSeconds(45.67e-6), "45.7 us");
  EXPECT_EQ(FormatSeconds(0.7891), "789 ms");
  EXPECT_EQ(FormatSeconds(2), "2.00 s");
}

TEST(Report, BytesKeepExactSizes) {
  EXPECT_EQ(FormatBytes(8), "8 B");
  EXPECT_EQ(FormatBytes(4096), "4 KiB");
  EXPECT_EQ(FormatBytes(4097), "4097 B");
  EXPECT_EQ(FormatBytes(size_t{64} << 20), "64 MiB");
}

TEST(Report, TableNamesEveryColumnAndCase) {
  EXPECT_EQ(FormatTable({Example()}),
            "case  size    ARMCI  baseline        ratio  target\n"
            "put   8 B   11.0 ns  2.00 ns memcpy   5.50  <= 5.00x  miss\n");
}

TEST(Report, BandwidthCasesShowRates) {
  CaseResult result = Example();
  result.label.bytes = 22;
  EXPECT_NE(FormatTable({result}).find("2.00 GB/s"), std::string::npos);
}

TEST(Report, SlowBandwidthKeepsItsDigits) {
  CaseResult result = Example();
  result.label.bytes = 0.22;
  EXPECT_NE(FormatTable({result}).find("20.0 MB/s"), std::string::npos);
}

TEST(Report, CountsAreWholeAndPartsAreNot) {
  const std::string whole = FormatTable({CountedCase({}, {Limit::kValueAtMost, 1 << 20}, 12345)});
  EXPECT_NE(whole.find("12345  -             -  <= 1048576"), std::string::npos) << whole;
  const std::string part = FormatTable({CountedCase({}, {Limit::kValueAtMost, 0.02}, 0.0123)});
  EXPECT_NE(part.find("0.012  -             -  <= 0.02"), std::string::npos) << part;
}

TEST(Report, JsonTellsTheLibraryFromRawLayers) {
  CaseResult result = Example();
  result.series[0].layer = Layer::kLibrary;
  const nlohmann::json json = CaseToJson(result);
  EXPECT_EQ(json["series"][0]["layer"], "library");
  EXPECT_EQ(json["series"][1]["layer"], "raw");
}

TEST(Report, JsonKeepsTheRawSamples) {
  const nlohmann::json json = CaseToJson(Example());
  EXPECT_EQ(json["verdict"], "miss");
  EXPECT_EQ(json["series"][0]["samples_ns"].size(), 3u);
  EXPECT_NEAR(json["series"][0]["samples_ns"][1].get<double>(), 12, 1e-9);
  EXPECT_NEAR(json["armci_ns"].get<double>(), 11, 1e-9);
}

}  // namespace
}  // namespace armci::bench
