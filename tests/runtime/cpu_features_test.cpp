// Compares the processor's features as we find them with those that the compiler's library finds.
#include <gtest/gtest.h>

#include "runtime/cpu_features.h"
#include "runtime/cpu_levels.h"
#include "runtime/words.h"

namespace lehr::runtime {
namespace {

TEST(CpuFeatures, AreThoseThatTheCompilersLibrarySees) {
#if defined(__x86_64__)
  const CpuFeatures here = cpu_features_here();
  const auto has = [&](const char* name) { return (here & cpu_feature_named(name)) != 0; };
  EXPECT_EQ(has("sse4.2"), __builtin_cpu_supports("sse4.2") != 0);
  EXPECT_EQ(has("avx2"), __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ(has("fma"), __builtin_cpu_supports("fma") != 0);
  EXPECT_EQ(has("bmi2"), __builtin_cpu_supports("bmi2") != 0);
  EXPECT_EQ(has("avx512f"), __builtin_cpu_supports("avx512f") != 0);
  EXPECT_EQ(has("avx512bw"), __builtin_cpu_supports("avx512bw") != 0);
  EXPECT_EQ(has("avx512vnni"), __builtin_cpu_supports("avx512vnni") != 0);
  EXPECT_EQ(has("avx512bf16"), __builtin_cpu_supports("avx512bf16") != 0);
  EXPECT_EQ(cpu_feature_named("avx9000"), 0u);
#endif
}

TEST(CpuFeatures, MakeUpLevels) {
  CpuFeatures features = 0;
  for (const CpuLevel& level : kCpuLevels) {
    if (level.machine != cpu_machine()) continue;
    const std::string_view before = highest_cpu_level(features);
    Words words(level.features);
    for (std::string_view word; words.next(word);) {
      EXPECT_NE(highest_cpu_level(features), level.name) << "without " << word;
      EXPECT_NE(cpu_feature_named(word), 0U) << word;
      features |= cpu_feature_named(word);
    }
    EXPECT_GE(highest_cpu_level(features), level.name);
    EXPECT_GE(highest_cpu_level(features), before);
  }
}

}  // namespace
}  // namespace lehr::runtime
