// Tests of the stable hash: keys in databases and bundles depend on these very numbers.
#include "base/hash.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace lehr {
namespace {

// FNV-1a 64 of "" and "a" are published as cbf29ce484222325 and af63dc4c8601ec8c; below they have gone
// through the splitmix64 finaliser, computed independently of this code.
TEST(StableHash, NeverChanges) {
  EXPECT_EQ(to_hex(stable_hash("")), "f52a15e9a9b5e89b");
  EXPECT_EQ(to_hex(stable_hash("a")), "02c0bdbf481420f8");
  EXPECT_EQ(to_hex(stable_hash("gemm m=16 n=4096 k=4096")), "51f79093016161c9");
  EXPECT_EQ(to_hex(stable_hash(std::string_view("\0\xff", 2))), "a70bee94c6c8447b");
  EXPECT_EQ(to_hex(hash_combine(1, 2)), "7018eb47a52c2595");
}

TEST(StableHash, TellsTextsApartThatDifferInOneBit) {
  const std::string text = "workload | device | config";
  std::set<std::uint64_t> seen = {stable_hash(text)};
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = text;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      EXPECT_TRUE(seen.insert(stable_hash(changed)).second) << changed;
    }
  }
}

TEST(StableHash, ChangesHalfOfItsBitsOnAverage) {
  int changed_bits = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t a = stable_hash("n=" + std::to_string(i));
    const std::uint64_t b = stable_hash("n=" + std::to_string(i + 1));
    changed_bits += __builtin_popcountll(a ^ b);
  }
  EXPECT_NEAR(changed_bits / 1000.0, 32, 1);
}

TEST(HashCombine, DependsOnTheOrder) {
  EXPECT_NE(hash_combine(1, 2), hash_combine(2, 1));
}

TEST(ToHex, WritesSixteenDigits) {
  EXPECT_EQ(to_hex(0), "0000000000000000");
  EXPECT_EQ(to_hex(0xdeadbeefULL), "00000000deadbeef");
  EXPECT_EQ(to_hex(~0ULL), "ffffffffffffffff");
}

}  // namespace
}  // namespace lehr
