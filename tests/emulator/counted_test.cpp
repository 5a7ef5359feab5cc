// Compares the results of ir::analyze for a kernel with what the emulator counts while the kernel's text
// runs: flops, bytes per parameter, and bytes of shared memory. For sampled schedules of every CUDA family.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "codegen/emit.h"
#include "ir/analyze.h"
#include "templates/family.h"
#include "templates/gemm/cuda/gemm_wgmma_space.h"
#include "tests/emulator/families.h"
#include "tests/emulator/program.h"
#include "tests/support/problem_for.h"
#include "tests/support/sample_config.h"
#include "tune/task.h"

namespace lehr {
namespace {

using lehr::testing::Sample;
using lehr::testing::Shape;

constexpr std::uint64_t kSeed = 11;

/// Bytes that the kernel moves between a buffer (all shared buffers together) and the threads. The analysis
/// counts guarded accesses as always executed. So the true number lies between its total without guarded
/// accesses and its total.
struct Bounds {
  double least = 0;
  double most = 0;
};

Bounds bytes_of(const ir::Kernel& kernel, const ir::Analysis& analysis, bool writes,
                const std::function<bool(ir::BufferId)>& chosen) {
  Bounds bounds;
  for (const ir::Access& access : analysis.accesses) {
    if (access.writes != writes || !chosen(access.buffer)) continue;
    const double bytes = access.executions * access.lanes * size_of(kernel.buffer(access.buffer).type);
    bounds.most += bytes;
    if (!access.guarded) bounds.least += bytes;
  }
  return bounds;
}

void expect_between(std::int64_t counted, const Bounds& bounds, const std::string& what) {
  EXPECT_LE(bounds.least, static_cast<double>(counted)) << what;
  EXPECT_GE(bounds.most, static_cast<double>(counted)) << what;
}

bool is_minimal(const Sample& sample) {
  return sample.family->name == "conv2d_winograd";
}

/// Compares the counts with the analysis. `spare_flops` is the fraction of the flops that may depend on a
/// condition that is false.
void compare(const Sample& sample, const ir::Kernel& kernel, const emulator::Result& counted,
             double spare_flops) {
  const ir::Analysis analysis = ir::analyze(kernel);
  const auto is_shared = [&](ir::BufferId id) { return kernel.buffer(id).scope == ir::Scope::kShared; };
  for (const bool writes : {false, true}) {
    const auto moved = [&](const emulator::Traffic& traffic) {
      return writes ? traffic.written_bytes : traffic.read_bytes;
    };
    const std::string verb = writes ? " written" : " read";
    for (std::size_t i = 0; i < kernel.params.size(); ++i) {
      const ir::BufferId param = kernel.params[i].buffer;
      expect_between(moved(counted.traffic.at(i)),
                     bytes_of(kernel, analysis, writes, [&](ir::BufferId id) { return id == param; }),
                     kernel.buffer(param).name + verb);
    }
    Bounds shared = bytes_of(kernel, analysis, writes, is_shared);
    // A load for several blocks is one access in the text, but counts once in each of the blocks.
    shared.most = writes ? analysis.shared.written_bytes : analysis.shared.read_bytes;
    expect_between(moved(counted.shared), shared, "shared" + verb);
  }
  EXPECT_EQ(static_cast<double>(counted.barriers),
            analysis.barriers * static_cast<double>(analysis.launch.grid[0] * analysis.launch.grid[1] *
                                                    analysis.launch.grid[2]));
  // Integer arithmetic outside of mma cannot be distinguished from the arithmetic of indices.
  EXPECT_LE(counted.flops, analysis.flops);
  if (lehr::testing::facts_of(sample.workload).accum == DType::kS32) return;
  // The images of convolutions are small here. The analysis counts a block that has tiles for only few of its
  // threads as a full block. Minimal filtering computes as little as a quarter of the products.
  const bool is_conv = sample.workload.op() == Operator::kConv2d;
  const double of_definition = is_minimal(sample) ? flops_of(sample.workload) / 4 : flops_of(sample.workload);
  EXPECT_GE(counted.flops * (1 + spare_flops), is_conv ? of_definition : analysis.flops);
}

/// Whether all blocks that split k get the same number of tiles. The analysis counts all of them as long as
/// the longest.
bool splits_evenly(const Sample& sample) {
  const std::int64_t work_items = sample.config.find("split_k").value_or(1);
  if (work_items == 1) return true;
  if (sample.config.find("k_atoms"))  // gemm_wgmma counts k in rows of the swizzle
    return gemm_wgmma_split_k(
               gemm_wgmma_problem(sample.workload),
               testing::schedule_of<gemm_wgmma_knobs>(sample.config, sample.workload, sample.limits))
                   .tiles %
               work_items ==
           0;
  const std::int64_t bk = sample.config.at("bk");
  const lehr::testing::Facts facts = lehr::testing::facts_of(sample.workload);
  // Minimal filtering sums only over the channels.
  const std::int64_t depth = is_minimal(sample) ? facts.depth / 9 : facts.depth;
  return (depth + bk - 1) / bk % work_items == 0;
}

class CountedFamily : public ::testing::TestWithParam<const Template*> {
 protected:
  static void hold(const std::vector<Shape>& shapes, std::size_t count, double spare_flops) {
    SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
    Rng rng(kSeed);
    std::vector<Sample> samples = lehr::testing::samples_of(*GetParam(), count, shapes, rng);
    std::erase_if(samples, [](const Sample& sample) { return !splits_evenly(sample); });
    ASSERT_FALSE(samples.empty());
    rng.shuffle(samples);
    if (is_minimal(samples.front())) count /= 2;  // long texts
    samples.resize(std::min(count, samples.size()), samples.front());
    std::vector<ir::Kernel> kernels;
    std::vector<Source> sources;
    for (const Sample& sample : samples) {
      kernels.push_back(lowered(sample));
      sources.push_back(emit(kernels.back()));
    }
    const emulator::Program program(sources, emulator::Count::kFlops);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      SCOPED_TRACE(to_text(samples[i]));
      const Problem problem = problem_for(samples[i].workload, kSeed);
      const std::vector<std::vector<float>> inputs = inputs_of(problem);
      const emulator::Result result = program.run(i, inputs);
      ASSERT_FALSE(result.fault) << *result.fault;
      compare(samples[i], kernels[i], result, spare_flops);
    }
  }
};

/// Tiles are whole, except along a dimension with fewer than 16 elements: there, partial sums of rows outside
/// of the matrix are not added (1 % of the flops).
TEST_P(CountedFamily, MovesAndComputesWhatItsAnalysisSaysWhereTilesAreWhole) {
  hold({{128, 128, 256, 1}, {8, 256, 512, 1}, {1, 256, 512, 2}, {256, 8, 256, 1}, {64, 64, 1024, 1}}, 16,
       0.01);
}

/// The analysis counts the arithmetic of a partial tile like that of a whole tile, and a kernel may leave
/// some of it out. Only products are tested, because the convolutions above have enough partial tiles.
class CountedProduct : public CountedFamily {};
TEST_P(CountedProduct, StaysWithinItsAnalysisAtPredicatedEdges) {
  hold({{130, 70, 200, 1}, {7, 130, 300, 2}, {1, 257, 300, 1}, {33, 65, 90, 3}}, 24, 1);
}

std::vector<const Template*> products() {
  std::vector<const Template*> families = lehr::testing::cuda_families();
  std::erase_if(families, [](const Template* family) { return family->op != Operator::kGemm; });
  return families;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, CountedFamily, ::testing::ValuesIn(lehr::testing::cuda_families()),
                         [](const auto& info) { return info.param->name; });
INSTANTIATE_TEST_SUITE_P(Catalogue, CountedProduct, ::testing::ValuesIn(products()),
                         [](const auto& info) { return info.param->name; });

}  // namespace
}  // namespace lehr
