// Tests of the facts of a device as the log keeps them.
#include "base/limits_json.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

namespace lehr {
namespace {

using nlohmann::json;

/// Returns limits in which each member is another number.
Limits numbered() {
  Limits limits;
  limits.target = kTargets.back();
  limits.arch = "sm_90a";
  int next = 1;
  const auto set = [&next](const char*, auto& member) {
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(member)>>)
      member = static_cast<std::remove_cvref_t<decltype(member)>>(next++);
  };
  describe(set, set, limits);
  return limits;
}

TEST(LimitsJson, GivesBackEveryFactAndRate) {
  const Limits limits = numbered();
  const json facts = facts_of(limits);
  Limits back;
  ASSERT_TRUE(read_facts(json::parse(facts.dump()), back));
  EXPECT_EQ(facts_of(back), facts);
  EXPECT_EQ(back.shared_bytes_per_core, limits.shared_bytes_per_core);
  EXPECT_EQ(back.dram_gbytes_per_s, limits.dram_gbytes_per_s);
  EXPECT_FALSE(facts.contains("arch"));
}

// A row's name is made of the facts that it holds. A row that is read and written again keeps its name.
TEST(LimitsJson, TellsTheSameOfWhatIsNotKnownWhenItIsReadAgain) {
  Limits limits;
  const auto keep = [](const char*, const auto&) {};
  const auto forget = [](const char*, auto& rate) { rate = {}; };
  describe(keep, forget, limits);
  Limits back;
  ASSERT_TRUE(read_facts(facts_of(limits), back));
  EXPECT_EQ(facts_of(back), facts_of(limits));
}

// The names are stored in logs: with a changed name no earlier row would hold its fact.
TEST(LimitsJson, KeepsTheNamesOfFacts) {
  std::set<std::string> names;
  const json facts = facts_of(numbered());
  for (const auto& [name, value] : facts.items()) names.insert(name);
  for (const char* name :
       {"cores", "vector_bytes", "vector_registers", "l1_bytes", "warp_size", "max_threads_per_block",
        "max_threads_per_core", "max_blocks_per_core", "registers_per_core", "max_registers_per_thread",
        "shared_bytes_per_block", "shared_bytes_per_core", "l2_bytes", "l3_bytes", "peak_gflops_f32",
        "dram_gbytes_per_s"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST(LimitsJson, LeavesWhatIsNotToldAsItIs) {
  json facts = facts_of(numbered());
  facts.erase("l2_bytes");
  facts["warp_size"] = 0;
  facts.erase("peak_gflops_f32");
  facts["of a later version"] = {1, 2};
  Limits limits = numbered();
  limits.l2_bytes = 77;
  limits.warp_size = 78;
  ASSERT_TRUE(read_facts(facts, limits));
  EXPECT_EQ(limits.l2_bytes, 77);
  EXPECT_EQ(limits.warp_size, 78);
}

TEST(LimitsJson, KeepsAbilities) {
  Limits limits;
  limits.abilities = static_cast<int>(Ability::kInt8Dot) | static_cast<int>(Ability::kBf16Dot);
  const json facts = facts_of(limits);
  EXPECT_EQ(facts["abilities"], 768);
  Limits back;
  ASSERT_TRUE(read_facts(facts, back));
  EXPECT_TRUE(back.has(Ability::kInt8Dot) && back.has(Ability::kBf16Dot));
  EXPECT_EQ(facts_of(Limits())["abilities"], 0);
  for (const json& older : {facts_of(Limits()), json::object()}) {
    Limits read;
    ASSERT_TRUE(read_facts(older, read));
    EXPECT_EQ(read.abilities, 0);
  }
}

TEST(LimitsJson, RefusesWhatNoDeviceIs) {
  for (const json& bad : {json(-1), json(1.5), json("1"), json(nullptr), json(1e18),
                          json(std::uint64_t{1} << 40), json::array({1})}) {
    json facts = facts_of(numbered());
    facts["cores"] = bad;
    Limits limits;
    EXPECT_FALSE(read_facts(facts, limits)) << bad;
  }
  Limits limits;
  for (const json& bad : {json(), json(5), json::array(), json::parse("{", nullptr, false)})
    EXPECT_FALSE(read_facts(bad, limits)) << bad.is_discarded();
}

// Members of these kinds may join Limits.
TEST(LimitsJson, TakesListsTextsAndTruths) {
  using limits_json::fits;
  EXPECT_TRUE(fits<std::vector<int>>(json({1, 2, 3})));
  EXPECT_TRUE(fits<std::vector<int>>(json::array()));
  EXPECT_FALSE(fits<std::vector<int>>(json({1, -2})));
  EXPECT_FALSE(fits<std::vector<int>>(json(std::vector<int>(65, 1))));
  EXPECT_TRUE((fits<std::array<std::int64_t, 2>>(json({1, 2}))));
  EXPECT_FALSE((fits<std::array<std::int64_t, 2>>(json({1, 2, 3}))));
  EXPECT_TRUE((fits<std::array<double, 2>>(json({1.5, 2}))));
  EXPECT_TRUE(fits<bool>(json(true)));
  EXPECT_FALSE(fits<bool>(json(1)));
  EXPECT_TRUE(fits<std::string>(json("x")));
  EXPECT_FALSE(fits<std::string>(json(std::string(1000, 'x'))));
  EXPECT_TRUE(limits_json::is_empty(std::vector<int>{}));
  EXPECT_TRUE(limits_json::is_empty(std::array<int, 2>{0, 0}));
  EXPECT_FALSE(limits_json::is_empty(std::array<int, 2>{0, 1}));
}

}  // namespace
}  // namespace lehr
