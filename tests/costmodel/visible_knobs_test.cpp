// Tests that no knob is invisible: the row of a kernel changes with each of them.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "target/cuda/archs.h"
#include "templates/catalog.h"
#include "tests/costmodel/kernels.h"

namespace lehr {
namespace {

/// Returns the only knob by which the configs differ; empty where there are several.
std::string only_change(const Config& a, const Config& b) {
  std::string name;
  for (std::size_t i = 0; i < a.knobs.size(); ++i) {
    if (a.knobs[i] == b.knobs[i]) continue;
    if (!name.empty()) return "";
    name = a.knobs[i].name;
  }
  return name;
}

void expect_that_every_knob_shows(const std::string& workload_text, const Limits& limits, int moves) {
  constexpr std::uint64_t kSeed = 11;
  SCOPED_TRACE(::testing::Message() << workload_text << ", seed " << kSeed);
  const Workload workload = parse_workload(workload_text);
  const Space space = kernel_space(workload, limits).space;
  Rng rng(kSeed);
  struct Seen {
    int moves = 0, changed = 0;
  };
  std::map<std::string, Seen> knobs;
  for (int i = 0; i < moves; ++i) {
    const Point start = space.sample(rng);
    const auto moved = space.mutate(start, rng);
    if (!moved || moved->family != start.family) continue;
    const Config from = space.config_of(start), to = space.config_of(*moved);
    const std::string knob = only_change(from, to);
    if (knob.empty()) continue;
    Seen& seen = knobs[from.family + " " + knob];
    ++seen.moves;
    if (featurize(lower(workload, from, limits), limits) != featurize(lower(workload, to, limits), limits))
      ++seen.changed;
  }
  EXPECT_GT(knobs.size(), 10U);
  for (const auto& [knob, seen] : knobs) {
    if (seen.moves < 20) continue;
    EXPECT_GT(seen.changed, 0) << knob << " in " << seen.moves << " moves";
  }
}

TEST(VisibleKnobs, EveryKnobOfTheCpuFamiliesShows) {
  for (const char* workload : {"gemm m=1024 n=1024 k=1024", "gemm m=16 n=1024 k=1024 b=f32:row:constant",
                               "conv2d n=1 h=28 w=28 c=128 k=128 r=3 s=3"})
    expect_that_every_knob_shows(workload, test::cpu_test_limits(), 1000);
}

TEST(VisibleKnobs, EveryKnobOfTheCudaFamiliesShows) {
  for (const char* workload :
       {"gemm m=1024 n=1024 k=1024", "gemm m=2048 n=2048 k=1024 a=f16 b=f16",
        "gemm m=1 n=4096 k=4096 a=f16 b=f16", "conv2d n=1 h=56 w=56 c=64 k=64 r=3 s=3 pad=1",
        "conv2d n=8 h=28 w=28 c=128 k=256 r=3 s=3 pad=1 x=f16 f=f16 layout=nhwc"})
    expect_that_every_knob_shows(workload, cuda_limits("sm_90a"), 1500);
}

}  // namespace
}  // namespace lehr
