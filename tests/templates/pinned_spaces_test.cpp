// Holds the spaces of all families against hashes (tests/golden/spaces.txt). A change of how schedules are
// described must change neither the schedules, nor their order, nor what the same seed draws.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/hash.h"
#include "base/limits.h"
#include "base/rng.h"
#include "cpu_problems.h"
#include "target/cuda/archs.h"
#include "templates/catalog.h"
#include "tests/support/golden.h"

namespace lehr {
namespace {

// Small and large, few rows, odd sizes, batches, layouts, gates, pools, groups, all operands of tensor cores.
const std::vector<std::string> kWorkloads = {
    "gemm m=1 n=1 k=1",
    "gemm m=33 n=65 k=17 epilogue=bias+relu",
    "gemm m=1 n=4096 k=4096",
    "gemm m=2 n=130 k=8 batch=2 b=f32:column",
    "gemm m=3 n=47 k=500 c=f32:column",
    "gemm m=512 n=512 k=512 a=f32:column",
    "gemm m=100 n=31 k=70 b=f32:column",
    "gemm m=16 n=256 k=40 batch=20 a=f32:column b=f32:column",
    "gemm m=64 n=192 k=96 epilogue=bias+swiglu",
    "gemm m=64 n=192 k=512 b=f32:column epilogue=swiglu",
    "gemm m=4096 n=4096 k=4096",
    "gemm m=60 n=64 k=4224",
    "gemm m=16 n=200 k=384 b=f32:row:constant",
    "gemm m=1 n=512 k=512 b=f32:column:constant epilogue=bias",
    "gemm m=512 n=640 k=384 math=tf32 b=f32:column",
    "gemm m=100 n=64 k=1000 math=3xtf32",
    "gemm m=4096 n=4096 k=4096 a=bf16:row b=bf16:column c=bf16:row",
    "gemm m=16 n=4096 k=4096 a=f16:row b=f16:row c=f16:row",
    "gemm m=2 n=256 k=1024 a=bf16:row b=bf16:column c=bf16:row",
    "gemm m=200 n=1000 k=120 batch=3 a=bf16:column b=bf16:row c=f32:row epilogue=bias+gelu",
    "gemm m=256 n=192 k=512 a=f16:row b=f16:column c=f16:row epilogue=swiglu",
    "gemm m=96 n=512 k=8192 a=s8:row b=s8:column c=s32:row accum=s32",
    "gemm m=256 n=1920 k=512 a=e4m3:row b=e4m3:column c=bf16:row math=two_level",
    "gemm m=300 n=520 k=2048 a=e5m2:row b=e5m2:column c=f32:row",
    "conv2d h=1 w=1 c=1 k=1 r=1 s=1",
    "conv2d h=7 w=9 c=5 k=37 r=3 s=3 pad=1 layout=nhwc",
    "conv2d h=11 w=13 c=3 k=10 r=7 s=7 stride=2 pad=3 epilogue=bias+relu",
    "conv2d n=2 h=10 w=10 c=12 k=18 r=3 s=3 pad=1 groups=3",
    "conv2d n=2 h=14 w=14 c=24 k=70 r=3 s=3 pad=1 epilogue=bias+relu+maxpool(2)",
    "conv2d h=12 w=20 c=16 k=48 r=3 s=3 pad=1 layout=nhwc epilogue=maxpool(2)",
    "conv2d h=14 w=15 c=6 k=9 r=3 s=3 pad=2 dilation=2",
    "conv2d h=56 w=56 c=64 k=64 r=3 s=3 pad=1",
    "conv2d n=8 h=28 w=28 c=128 k=128 r=3 s=3 pad=1 layout=nhwc",
    "conv2d h=7 w=7 c=512 k=512 r=3 s=3 pad=1",
    "conv2d h=10 w=17 c=33 k=20 r=1 s=1 stride=2",
    "conv2d h=56 w=56 c=64 k=64 r=1 s=1",
    "conv2d n=2 h=5 w=7 c=19 k=40 r=1 s=1 layout=nhwc",
    "conv2d h=13 w=12 c=16 k=16 r=3 s=3 stride=2 pad=1 groups=16",
    "conv2d h=24 w=21 c=2 k=4 r=19 s=19 pad=9 groups=2",
    "conv2d h=112 w=112 c=32 k=32 r=3 s=3 pad=1 groups=32 layout=nhwc",
    "conv2d n=2 h=8 w=9 c=24 k=24 r=3 s=3 pad=1x0x2x1 groups=24 layout=nhwc x=f16 f=f16 y=f16",
    "conv2d n=4 h=15 w=16 c=96 k=128 r=3 s=3 stride=2x1 pad=1 dilation=1x2 layout=nhwc x=bf16 f=bf16 y=bf16",
    "conv2d n=32 h=56 w=56 c=256 k=64 r=1 s=1 layout=nhwc x=f16 f=f16 y=f16 epilogue=bias+relu",
    "conv2d n=3 h=5 w=5 c=24 k=33 r=3 s=3 stride=2 pad=1 layout=nhwc x=f16 f=f16 y=f32 epilogue=bias",
    "conv2d n=2 h=9 w=7 c=16 k=40 r=3 s=3 pad=1 x=f16 f=f16 y=f16",
    "conv2d h=16 w=16 c=12 k=24 r=3 s=3 pad=1 layout=nhwc x=bf16 f=bf16 y=bf16 epilogue=maxpool(2)",
    "conv2d h=12 w=13 c=144 k=72 r=3 s=3 pad=2 dilation=2 layout=nhwc x=e4m3 f=e4m3 y=bf16",
    "conv2d n=2 h=3 w=2 c=256 k=24 r=3 s=3 pad=1 layout=nhwc x=s8 f=s8 y=s32 accum=s32",
    "conv2d h=8 w=9 c=12 k=24 r=3 s=3 pad=1 layout=nhwc math=tf32",
};

std::vector<Limits> devices() {
  using testing::cpu_limits;
  return {cpu_limits(16, 1),    cpu_limits(32, 2),    cpu_limits(64, 16),   cuda_limits("sm_75"),
          cuda_limits("sm_80"), cuda_limits("sm_89"), cuda_limits("sm_90a")};
}

/// A hash of all texts that it is given, in order.
class Digest {
 public:
  void add(std::string_view text) { hash_ = hash_combine(hash_, stable_hash(text)); }
  std::string text() const { return to_hex(hash_).substr(0, 8); }

 private:
  std::uint64_t hash_ = 0;
};

std::string knobs_of(const FamilySpace& family) {
  Digest digest;
  for (const Knob& knob : family.knobs())
    digest.add(fmt::format("{}: {} ({})", knob.name, knob.meaning, fmt::join(knob.values, " ")));
  return digest.text();
}

/// Returns the config's text, as the hashes were made of.
std::string text_of(const Space& space, const std::optional<Point>& point) {
  return point ? to_text(space.config_of(*point)) : "none";
}

std::string walk_of(const Space& space) {
  Digest digest;
  GridCursor cursor(space);
  for (int i = 0; i < 400; ++i) digest.add(text_of(space, cursor.next()));
  return digest.text();
}

std::string samples_of(const Space& space) {
  Digest digest;
  Rng rng(1);
  for (int i = 0; i < 60; ++i) digest.add(text_of(space, space.try_sample(rng)));
  digest.add(fmt::format("{} {}", space.families()[0].product_size(), rng.next()));
  return digest.text();
}

/// Returns a point that takes each knob from `a` or `b`, repaired: steps that are wider than a mutation's.
std::optional<Point> between(const Space& space, const Point& a, const Point& b, Rng& rng) {
  if (a.family != b.family) return std::nullopt;
  const FamilySpace& family = space.families()[a.family];
  Point child = a;
  for (std::size_t i = 0; i < family.knobs().size(); ++i)
    if (rng.below(2) == 0) child.knobs[i] = b.knobs[i];
  if (!family.knobs().empty() && !family.repair(child, 0)) return std::nullopt;
  return child;
}

std::string moves_of(const Space& space, Point at) {
  Digest digest;
  Rng rng(2);
  Point other = at;
  for (int i = 0; i < 200; ++i) {
    const auto moved = space.mutate(at, rng);
    digest.add(text_of(space, moved));
    const auto child = between(space, moved.value_or(at), other, rng);
    digest.add(text_of(space, child));
    other = at;
    at = child.value_or(moved.value_or(at));
  }
  digest.add(fmt::format("{}", rng.next()));
  return digest.text();
}

std::string neighbours_of(const Space& space) {
  Digest digest;
  Rng rng(3);
  for (int i = 0; i < 8; ++i)
    if (const auto point = space.try_sample(rng))
      for (const Point& near : space.neighbours(*point)) digest.add(text_of(space, near));
  return digest.text();
}

/// Returns the sentences on valid configs with one value changed, and on values drawn at random.
std::string sentences_of(const Space& space) {
  const FamilySpace& family = space.families()[0];
  Digest digest;
  Rng rng(4);
  const auto any = [&](const Knob& knob) { return knob.values[rng.below(knob.values.size())]; };
  for (int i = 0; i < 10; ++i) {
    const Config config = space.config_of(space.sample(rng));
    Config drawn = config;
    for (std::size_t knob = 0; knob < config.knobs.size(); ++knob) {
      Config changed = config;
      changed.knobs[knob].value = drawn.knobs[knob].value = any(family.knobs()[knob]);
      digest.add(family.why_invalid(changed).value_or("valid"));
    }
    digest.add(family.why_invalid(drawn).value_or("valid"));
  }
  return digest.text();
}

/// Calls `visit(family, limits, text, space)` for every workload that a family serves on a device.
template <typename Visit>
void for_each_space(const Visit& visit) {
  for (const Template& family : catalog())
    for (const Limits& limits : devices())
      for (const std::string& text : kWorkloads) {
        const Workload workload = parse_workload(text);
        if (!why_unserved(family, workload, limits))
          visit(family, limits, text, Space({family.space(workload, limits)}));
      }
}

TEST(PinnedSpaces, AreWhatTheyWereWalkedSampledAndMovedIn) {
  std::string lines;
  for_each_space(
      [&](const Template& family, const Limits& limits, const std::string& text, const Space& space) {
        const Config first = family.default_in(space.families()[0], parse_workload(text), limits);
        Digest default_config;
        default_config.add(to_text(first));
        lines += fmt::format(
            "{} {}x{} \"{}\": knobs {} walk {} samples {} moves {} neighbours {} default {} "
            "sentences {}\n",
            family.name, limits.arch, limits.cores, text, knobs_of(space.families()[0]), walk_of(space),
            samples_of(space), moves_of(space, space.point_of(first)), neighbours_of(space),
            default_config.text(), sentences_of(space));
      });
  testing::expect_golden("spaces.txt", lines);
}

TEST(PinnedSpaces, AskNoRuleBeforeTheKnobsThatItReads) {
  Rng rng(5);
  for_each_space([&](const Template& family, const Limits&, const std::string& text, const Space& space) {
    const FamilySpace& only = space.families()[0];
    for (int i = 0; i < 10; ++i) {
      const Point others = space.sample(rng);
      Point point = space.sample(rng);
      for (std::size_t knob = i % 2 == 0 ? only.knobs().size() : 0; knob < only.knobs().size(); ++knob)
        if (rng.below(4) == 0)  // a near miss
          point.knobs[knob] = static_cast<std::uint16_t>(rng.below(only.knobs()[knob].values.size()));
      ASSERT_EQ(only.read_ahead(point, others), std::nullopt) << family.name << " " << text;
    }
  });
}

}  // namespace
}  // namespace lehr
