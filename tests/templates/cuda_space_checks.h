// Checks that hold for every CUDA family's space of schedules.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "base/rng.h"
#include "target/cuda/archs.h"
#include "templates/template.h"
#include "tests/support/sample_config.h"
#include "tests/support/verify.h"

namespace lehr::testing {

inline constexpr std::uint64_t kSpaceSeed = 20251121;

/// Samples ten thousand schedules, on all architectures, over `workloads`, all of which Ampere and newer ones
/// serve. Each lowers to a kernel that the verifier accepts, with as many threads, as much shared memory and
/// as many blocks as the device has. `check(workload, config, kernel)` checks more of each.
template <typename Check>
void expect_legal_schedules(const Template& family, const std::vector<Workload>& workloads,
                            const Check& check) {
  SCOPED_TRACE(::testing::Message() << "seed " << kSpaceSeed);
  const std::vector<std::string> archs = known_cuda_archs();
  const int samples = 10000 / static_cast<int>(archs.size() * workloads.size()) + 1;
  for (const std::string& arch : archs) {
    const Limits limits = cuda_limits(arch);
    Rng rng(kSpaceSeed);
    for (const Workload& workload : workloads) {
      const auto refused = family.why_not(workload, limits);
      if (refused && !limits.has(Ability::kAsyncCopies)) continue;
      ASSERT_EQ(refused, std::nullopt) << arch << " " << to_text(workload);
      const FamilySpace space = family.space(workload, limits);
      for (int i = 0; i < samples; ++i) {
        const auto config = testing::sample_config(space, rng);
        ASSERT_TRUE(config) << to_text(workload) << ": no schedule found";
        SCOPED_TRACE(to_text(workload) + " " + to_text(*config));
        const ir::Kernel kernel = testing::lowered(family, workload, *config, limits);
        const auto malformed = ir::why_malformed(kernel);
        ASSERT_FALSE(malformed) << *malformed;
        const ir::Launch launch = ir::launch_of(kernel);
        ASSERT_LE(launch.block[0] * launch.block[1] * launch.block[2], limits.max_threads_per_block);
        ASSERT_LE(launch.shared_bytes, limits.shared_bytes_per_block);
        ASSERT_LE(launch.shared_bytes * kernel.min_blocks_per_core, limits.shared_bytes_per_core);
        ASSERT_LE(launch.grid[1], 65535);
        ASSERT_LE(launch.grid[2], 65535);
        check(workload, *config, kernel);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

inline void expect_default_in_space(const Template& family, const std::vector<Workload>& workloads) {
  const Limits limits = cuda_limits("sm_90a");
  for (const Workload& workload : workloads) {
    const Config config = testing::default_of(family, workload, limits);
    EXPECT_EQ(family.space(workload, limits).why_invalid(config), std::nullopt)
        << to_text(workload) << " " << to_text(config);
  }
}

inline void expect_every_value_is_reached(const FamilySpace& space) {
  std::vector<std::set<std::int64_t>> seen(space.knobs().size());
  Rng rng(kSpaceSeed);
  for (int i = 0; i < 4000; ++i) {
    const auto config = testing::sample_config(space, rng);
    ASSERT_TRUE(config);
    for (std::size_t knob = 0; knob < seen.size(); ++knob) seen[knob].insert(config->knobs[knob].value);
  }
  for (std::size_t knob = 0; knob < seen.size(); ++knob)
    EXPECT_EQ(seen[knob].size(), space.knobs()[knob].values.size()) << space.knobs()[knob].name;
}

inline void expect_the_same_kernel_twice(const Template& family, const Workload& workload) {
  const Limits limits = cuda_limits("sm_80");
  const Config config = testing::default_of(family, workload, limits);
  EXPECT_EQ(testing::lowered(family, workload, config, limits),
            testing::lowered(family, workload, config, limits));
}

}  // namespace lehr::testing
