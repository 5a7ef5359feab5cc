#include "base/fork_join.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace lehr {
namespace {

TEST(ForkJoin, VisitsEveryIndexOnceForAnyCountChunkAndThreads) {
  for (const int threads : {1, 2, 5}) {
    ForkJoin group(threads);
    for (const std::size_t count : {0, 1, 7, 64, 1000}) {
      for (const std::size_t chunk : {1, 3, 64}) {
        std::vector<std::atomic<int>> visits(count);
        std::vector<int> ends(static_cast<std::size_t>(threads), 0), used(ends);
        const auto visit_all = [&](std::size_t begin, std::size_t end, std::size_t thread) {
          used[thread] = 1;
          for (std::size_t i = begin; i < end; ++i) ++visits[i];
        };
        group.run(count, chunk, visit_all, [&](std::size_t thread) { ++ends[thread]; });
        for (const auto& visit : visits) ASSERT_EQ(visit, 1) << threads << ' ' << count << ' ' << chunk;
        for (std::size_t thread = 0; thread < ends.size(); ++thread) {
          ASSERT_LE(ends[thread], 1) << threads << ' ' << count << ' ' << chunk;
          ASSERT_GE(ends[thread], used[thread]) << threads << ' ' << count << ' ' << chunk;
        }
      }
    }
  }
}

}  // namespace
}  // namespace lehr
