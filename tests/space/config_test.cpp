// Text, parser and hash of configs.
#include "space/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "base/rng.h"

namespace lehr {
namespace {

using ::testing::HasSubstr;

Config sample() {
  return {"gemm_cpu", {{"mr", 8}, {"nr", 2}, {"pad", -1}}};
}

Config random_config(Rng& rng) {
  Config config{"family." + std::to_string(rng.below(9)), {}};
  for (std::uint64_t i = 0, n = rng.below(8); i < n; ++i) {
    const auto value = rng.below(4) == 0 ? static_cast<std::int64_t>(rng.next())
                                         : static_cast<std::int64_t>(rng.below(1000)) - 500;
    config.knobs.push_back({"knob_" + std::to_string(i), value});
  }
  return config;
}

TEST(ConfigText, IsFamilyAndKnobs) {
  EXPECT_EQ(to_text(sample()), "gemm_cpu(mr=8, nr=2, pad=-1)");
  EXPECT_EQ(to_text(Config{"f", {}}), "f()");
}

TEST(ConfigText, ParsesBackToTheSameConfig) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Rng rng(seed);
    const Config config = random_config(rng);
    EXPECT_EQ(parse_config(to_text(config)), config) << "seed " << seed;
  }
  const Config extremes{
      "f",
      {{"a", std::numeric_limits<std::int64_t>::min()}, {"b", std::numeric_limits<std::int64_t>::max()}}};
  EXPECT_EQ(parse_config(to_text(extremes)), extremes);
}

TEST(ConfigText, TakesAnyBlanks) {
  EXPECT_EQ(parse_config("  gemm_cpu ( mr = 8,nr=2 ,\tpad=-1 )\n"), sample());
  EXPECT_EQ(parse_config("f( )"), (Config{"f", {}}));
}

TEST(ConfigText, SaysWhatIsMalformed) {
  const auto message = [](std::string_view text) -> std::string {
    try {
      parse_config(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUser) << text;
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message(""), HasSubstr("family(knob=value"));
  EXPECT_THAT(message("gemm"), HasSubstr("family(knob=value"));
  EXPECT_THAT(message("gemm(a=1"), HasSubstr("family(knob=value"));
  EXPECT_THAT(message("(a=1)"), HasSubstr("not a family's name"));
  EXPECT_THAT(message("gemm(a)"), HasSubstr("\"a\" has no '='"));
  EXPECT_THAT(message("gemm(a=1,)"), HasSubstr("has no '='"));
  EXPECT_THAT(message("gemm(=1)"), HasSubstr("not a knob's name"));
  EXPECT_THAT(message("gemm(a=x)"), HasSubstr("\"x\" of a is not an integer"));
  EXPECT_THAT(message("gemm(a=1.5)"), HasSubstr("not an integer"));
  EXPECT_THAT(message("gemm(a=99999999999999999999)"), HasSubstr("not an integer"));
  EXPECT_THAT(message("gemm(a=1, a=2)"), HasSubstr("a twice"));
  EXPECT_THAT(message("gemm(a=1) trailing"), HasSubstr("family(knob=value"));
}

TEST(ConfigKnobs, AreFoundByName) {
  EXPECT_EQ(sample().at("nr"), 2);
  EXPECT_EQ(sample().find("mr"), 8);
  EXPECT_EQ(sample().find("kc"), std::nullopt);
  EXPECT_THROW(sample().at("kc"), Error);
}

}  // namespace
}  // namespace lehr
