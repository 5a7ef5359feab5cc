// The fuzzing targets without a fuzzer: every committed seed, whole, cut off, and with changed bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "base/rng.h"
#include "tests/fuzz/targets.h"

namespace lehr::test {
namespace {

constexpr int kChanges = 200;

std::map<std::string, std::string> seeds_of(std::string_view target) {
  std::map<std::string, std::string> seeds;
  const std::filesystem::path folder = std::filesystem::path(LEHR_SOURCE_DIR) / "tests/fuzz/seeds" / target;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    seeds[entry.path().filename()] = std::string(std::istreambuf_iterator<char>(file), {});
  }
  return seeds;
}

class FuzzSeeds : public ::testing::TestWithParam<FuzzTarget> {};

TEST_P(FuzzSeeds, AndTheirNeighboursAreAnswered) {
  const std::uint64_t seed = 1;
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed);
  const std::map<std::string, std::string> seeds = seeds_of(GetParam().name);
  ASSERT_FALSE(seeds.empty());
  for (const auto& [name, bytes] : seeds) {
    SCOPED_TRACE(name);
    EXPECT_NO_THROW(GetParam().run(bytes));
    for (int i = 0; i < kChanges && !bytes.empty(); ++i) {
      std::string changed = bytes;
      if (i % 4 == 0) changed.resize(rng.below(changed.size()));
      for (std::uint64_t count = rng.below(8); count > 0 && !changed.empty(); --count)
        changed[rng.below(changed.size())] = static_cast<char>(rng.below(256));
      EXPECT_NO_THROW(GetParam().run(changed)) << "change " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, FuzzSeeds, ::testing::ValuesIn(fuzz_targets().begin(), fuzz_targets().end()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace lehr::test
