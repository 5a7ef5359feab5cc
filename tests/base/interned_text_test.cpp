// Interned texts: what is equal, and from several threads.
#include "base/interned_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace lehr {
namespace {

TEST(InternedText, IsEqualToWhatReadsTheSame) {
  std::string letters = "bm";
  const InternedText kept = letters;
  letters = "bn";
  EXPECT_EQ(kept.text(), "bm");
  EXPECT_TRUE(kept == InternedText("bm"));
  EXPECT_EQ(&kept.text(), &InternedText(std::string_view("bmx").substr(0, 2)).text());
  EXPECT_FALSE(kept == InternedText(letters));
  EXPECT_TRUE(kept == "bm" && kept != letters && kept != "b" && std::string_view("bm") == kept);
  EXPECT_EQ(InternedText().text(), "");
  EXPECT_EQ(fmt::format("{:>4}|", kept), "  bm|");
}

TEST(InternedText, IsOneFromAllThreads) {
  constexpr int kNames = 200;
  std::vector<std::vector<InternedText>> seen(4);
  {
    std::vector<std::jthread> threads;
    for (auto& mine : seen)
      threads.emplace_back([&mine] {
        for (int i = 0; i < kNames; ++i) mine.emplace_back(fmt::format("of a thread {}", i));
      });
  }
  for (const auto& mine : seen) EXPECT_EQ(mine, seen.front());
}

}  // namespace
}  // namespace lehr
