// The table of targets: its names are stored in logs.
#include "base/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace lehr {
namespace {

TEST(Target, HasTheNameThatIsStored) {
  EXPECT_EQ(name_of(Target::kCpu), "cpu");
  EXPECT_EQ(name_of(Target::kCuda), "cuda");
}

TEST(Target, IsFoundByItsNameAndStandsInItsRow) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kTargets.size(); ++i) {
    EXPECT_EQ(kTargets[i].index(), i);
    EXPECT_EQ(target_named(name_of(kTargets[i])), kTargets[i]);
    EXPECT_TRUE(names.insert(name_of(kTargets[i])).second) << name_of(kTargets[i]) << " names two";
  }
  EXPECT_EQ(target_named("vulkan"), std::nullopt);
  EXPECT_EQ(target_named(""), std::nullopt);
}

TEST(Target, RunsTasksOrBlocks) {
  for (const Target target : kTargets)
    EXPECT_NE(target.has(Feature::kHostFunction), target.has(Feature::kBlocks)) << name_of(target);
}

TEST(Target, IsTheFirstRowUnlessOneIsNamed) {
  EXPECT_EQ(Target(), kTargets.front());
}

}  // namespace
}  // namespace lehr
