#include "impl/runtime/reduce_ops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "message.h"

namespace armci::runtime {
namespace {

TEST(ParseOperatorTest, AllNamesAndFortranStrings) {
  const std::pair<const char*, Operator> cases[] = {
      {"+", Operator::kSum},       {"*", Operator::kProduct},      {"max", Operator::kMax},
      {"min", Operator::kMin},     {"absmax", Operator::kAbsMax},  {"absmin", Operator::kAbsMin},
      {"or", Operator::kBitOr},    {"bor", Operator::kBitOr},      {"|", Operator::kBitOr},
      {"||", Operator::kOr},       {"lor", Operator::kOr},         {"&", Operator::kBitAnd},
      {"band", Operator::kBitAnd}, {"&&", Operator::kAnd},         {"land", Operator::kAnd},
      {"&& ", Operator::kAnd},     {"& &", Operator::kBitAnd},     {"+  ", Operator::kSum},
      {"max   ", Operator::kMax},  {"absmin ", Operator::kAbsMin}, {"+x", Operator::kSum},
      {"maximum", Operator::kMax}, {"orr", Operator::kBitOr},      {"absmax\x01\xff", Operator::kAbsMax}};
  for (const auto& [text, expected] : cases) {
    Operator op = Operator::kSum;
    ASSERT_TRUE(parse_operator(text, &op).ok()) << text;
    EXPECT_EQ(op, expected) << text;
  }
}

TEST(ParseOperatorTest, OthersAreRefusedWithTheirText) {
  for (const char* text : {"", "-", "MAX", "ma", " +", "absma", "o"}) {
    Operator op = Operator::kProduct;
    EXPECT_FALSE(parse_operator(text, &op).ok()) << text;
    EXPECT_NE(std::string(last_cause().text).find("\"" + std::string(text) + "\""), std::string::npos);
    EXPECT_STREQ(last_cause().clause, "MSG-1");
    EXPECT_EQ(op, Operator::kProduct);
  }
  Operator op = Operator::kProduct;
  EXPECT_EQ(parse_operator(nullptr, &op).code(), Code::kNull);
}

TEST(ParseElementTest, RangeAndSizes) {
  Element element = Element::kInt;
  EXPECT_FALSE(parse_element(-1, &element).ok());
  EXPECT_FALSE(parse_element(5, &element).ok());
  const size_t bytes[] = {sizeof(int), sizeof(long), sizeof(armci_long_long_t), sizeof(float), sizeof(double)};
  for (int type = ARMCI_INT; type <= ARMCI_DOUBLE; ++type) {
    ASSERT_TRUE(parse_element(type, &element).ok());
    EXPECT_EQ(static_cast<int>(element), type);
    EXPECT_EQ(element_bytes(element), bytes[type]);
  }
}

TEST(CheckReductionTest, BitsAndTruthValuesAreOfIntegers) {
  for (Operator op : {Operator::kAnd, Operator::kOr, Operator::kBitAnd, Operator::kBitOr}) {
    EXPECT_TRUE(check_reduction(op, Element::kLongLong).ok());
    EXPECT_FALSE(check_reduction(op, Element::kFloat).ok());
    EXPECT_NE(std::string(last_cause().text).find(std::string(operator_name(op)) + "\" is for integers"),
              std::string::npos);
    EXPECT_FALSE(check_reduction(op, Element::kDouble).ok());
  }
  EXPECT_TRUE(check_reduction(Operator::kAbsMax, Element::kDouble).ok());
}

TEST(TruthTest, IsZeroOrOne) {
  const long from[] = {0, 1, -1, LONG_MIN, 2};
  long to[5];
  prepare_operands(Operator::kAnd, Element::kLong, from, to, 5);
  EXPECT_EQ(std::vector<long>(to, to + 5), (std::vector<long>{0, 1, 1, 1, 1}));
}

TEST(MagnitudeTest, IntegersIncludingTheLeastOne) {
  const int from[] = {-3, 0, 7, INT_MAX, INT_MIN + 1, INT_MIN};
  int to[6];
  prepare_operands(Operator::kAbsMax, Element::kInt, from, to, 6);
  EXPECT_EQ(std::vector<int>(to, to + 6), (std::vector<int>{3, 0, 7, INT_MAX, INT_MAX, INT_MIN}));
  // As unsigned, which is how it is compared, it is the greatest of them.
  EXPECT_EQ(*std::max_element(reinterpret_cast<unsigned*>(to), reinterpret_cast<unsigned*>(to) + 6), 0x80000000u);
}

TEST(MagnitudeTest, OtherTypesInPlace) {
  long longs[] = {-5, LONG_MAX};
  prepare_operands(Operator::kAbsMax, Element::kLong, longs, longs, 2);
  EXPECT_EQ(longs[0], 5);
  EXPECT_EQ(longs[1], LONG_MAX);
  float floats[] = {-1.5f, -0.0f};
  prepare_operands(Operator::kAbsMax, Element::kFloat, floats, floats, 2);
  EXPECT_EQ(floats[0], 1.5f);
  EXPECT_FALSE(std::signbit(floats[1]));
  double doubles[] = {-1e300, std::numeric_limits<double>::infinity()};
  prepare_operands(Operator::kAbsMax, Element::kDouble, doubles, doubles, 1);
  EXPECT_EQ(doubles[0], 1e300);
}

template <class T>
int winner(Operator op, Element element, const std::vector<T>& keys) {
  Candidate best;
  for (size_t i = 0; i < keys.size(); ++i) {
    const Candidate next = make_candidate(op, element, static_cast<int>(i), &keys[i]);
    if (wins(next, best)) best = next;
  }
  return best.rank;
}

TEST(CandidateTest, ExtremeWinsAndTiesGoToTheLowerRank) {
  EXPECT_EQ(winner<int>(Operator::kMax, Element::kInt, {3, -9, 7, 7, 2}), 2);
  EXPECT_EQ(winner<int>(Operator::kMin, Element::kInt, {3, -9, 7, -9}), 1);
  EXPECT_EQ(winner<int>(Operator::kAbsMax, Element::kInt, {3, -9, 7, 9}), 1);
  EXPECT_EQ(winner<int>(Operator::kAbsMax, Element::kInt, {INT_MAX, INT_MIN}), 1);
  EXPECT_EQ(winner<double>(Operator::kAbsMin, Element::kDouble, {-3, 2.5, -0.5, 1}), 2);
  EXPECT_EQ(winner<long>(Operator::kMax, Element::kLong, {LONG_MIN, LONG_MAX - 1, LONG_MAX}), 2);
  EXPECT_EQ(winner<float>(Operator::kMin, Element::kFloat, {1.f, -1.f}), 1);
}

TEST(CandidateTest, NotTakingPartNeverWins) {
  const double least = -std::numeric_limits<double>::infinity();
  const Candidate absent;
  const Candidate present = make_candidate(Operator::kMax, Element::kDouble, 5, &least);
  EXPECT_TRUE(wins(present, absent));
  EXPECT_FALSE(wins(absent, present));
  EXPECT_FALSE(wins(absent, absent));
}

TEST(CandidateTest, TotalOrderWithNan) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double keys[] = {nan, 1.0, -2.0, nan, 1.0, 0.0};
  for (Operator op : {Operator::kMax, Operator::kMin, Operator::kAbsMax, Operator::kAbsMin}) {
    std::vector<Candidate> all;
    for (int i = 0; i < 6; ++i) all.push_back(make_candidate(op, Element::kDouble, i, &keys[i]));
    for (const Candidate& a : all) {
      for (const Candidate& b : all) {
        EXPECT_EQ(wins(a, b) + wins(b, a), a.rank == b.rank ? 0 : 1) << a.rank << " " << b.rank;
        for (const Candidate& c : all) EXPECT_TRUE(!(wins(a, b) && wins(b, c)) || wins(a, c));
      }
    }
    EXPECT_FALSE(wins(all[0], all[1])) << "NaN beats a number";
  }
}

}  // namespace
}  // namespace armci::runtime
