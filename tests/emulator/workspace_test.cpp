// Tests of planted faults in kernels whose blocks pass sums to one another through a workspace. Each fault
// must be found, in whatever order the blocks run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "target/prelude.h"
#include "tests/emulator/kernel_text.h"
#include "tests/emulator/program.h"

namespace lehr::emulator {
namespace {

using lehr::testing::replaced;
using ::testing::HasSubstr;

constexpr int kThreads = 128;
constexpr int kBlocks = 5;

/// Computes c, the sum of the blocks' rows of a. The last block adds them up, in the order of the blocks.
constexpr const char* kBody = R"(
  float* part = partials + blockIdx.x * 128;
  part[t] = a[blockIdx.x * 128 + t];
  lehr_device_fence();
  __syncthreads();
  unsigned* ticket = reinterpret_cast<unsigned*>(lehr_shared);
  if (t == 0) lehr_atomic_inc_u32(ticket, counters, 4);
  __syncthreads();
  if (*ticket == 4) {
    lehr_device_fence();
    float sum = 0;
    for (int block = 0; block < 5; ++block) sum += partials[block * 128 + (t ^ 1)];
    c[t ^ 1] = sum;
  }
)";

Source source_of(const std::string& body, const std::string& prelude, int cluster) {
  Source source =
      lehr::testing::kernel_text({{"a", DType::kF32, kBlocks * kThreads, ir::Direction::kIn},
                                  {"c", DType::kF32, kThreads, ir::Direction::kOut},
                                  {"partials", DType::kF32, kBlocks * kThreads, ir::Direction::kWorkspace},
                                  {"counters", DType::kU32, 1, ir::Direction::kWorkspace}},
                                 kThreads, 16, body, prelude);
  source.launch.grid = {kBlocks, 1, 1};
  source.launch.cluster = cluster;
  return source;
}

struct Case {
  const char* name;
  const char* what;  ///< text in the body or the prelude that is replaced
  const char* instead;
  const char* fault;  ///< a part of the fault's text; "": there is no fault
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"Right", "float sum = 0;", "float sum = 0;", ""},
      {"NoFenceBehindTheWrites", "t];\n  lehr_device_fence();\n", "t];\n",
       "with no fence between that and its block's atomic"},
      {"AFenceBeforeTheWrites", "  part[t] = a[blockIdx.x * 128 + t];\n  lehr_device_fence();\n",
       "  lehr_device_fence();\n  part[t] = a[blockIdx.x * 128 + t];\n",
       "with no fence between that and its block's atomic"},
      {"NoBarrierBeforeTheAtomic", "lehr_device_fence();\n  __syncthreads();", "lehr_device_fence();",
       "with no fence between that and its block's atomic"},
      {"NoFenceBehindTheAtomic", "{\n    lehr_device_fence();", "{",
       "the reader makes no fence behind its own block's atomic"},
      {"NoBarrierBehindTheAtomic", "counters, 4);\n  __syncthreads();", "counters, 4);",
       "shared memory"},  // the ticket
      {"ACounterThatIsNotReset", "atomicInc(counter, static_cast<unsigned>(last))", "atomicAdd(counter, 1u)",
       "the second launch on the same workspace has another result"},
      {"TheFirstBlockAddsUp", "*ticket == 4", "*ticket == 0", "nobody has written it in this launch"},
      {"TheLastButOneAddsUp", "*ticket == 4", "*ticket == 3", "nobody has written it in this launch"},
      {"OneSlotForAll", "partials + blockIdx.x * 128;", "partials;", "has written"},
      {"ACounterWithoutAnAtomic", "lehr_atomic_inc_u32(ticket, counters, 4);", "*ticket = counters[0]++;",
       "nobody has written it in this launch"},
      {"ASlotThatIsUsedAsACounter", "ticket, counters, 4", "ticket, reinterpret_cast<unsigned*>(partials), 4",
       "as a counter"},
      {"SumsThatDependOnWhoIsLast", "partials[block * 128", "partials[(block + blockIdx.x) % 5 * 64",
       "has another result"},
  };
  return all;
}

/// Blocks run alone, or all of them in one cluster.
class Workspace : public ::testing::TestWithParam<std::tuple<Order, int>> {};

TEST_P(Workspace, FindsEachPlantedFaultAndNothingElse) {
  const auto [order, cluster] = GetParam();
  const std::string prelude = lehr::prelude(Target::kCuda, {"atomic_inc_u32", "base", "device_fence"});
  std::vector<Source> sources;
  for (const Case& each : cases()) {
    const std::string what = each.what;
    const bool in_prelude = prelude.find(what) != std::string::npos;
    sources.push_back(in_prelude ? source_of(kBody, replaced(prelude, what, each.instead), cluster)
                                 : source_of(replaced(kBody, what, each.instead), prelude, cluster));
  }
  const Program program(sources);
  std::vector<float> a;
  float sign = 1;
  for (int i = 0; i < kBlocks * kThreads; ++i) {
    a.push_back(sign / static_cast<float>(3 + i));
    sign = -sign;
  }
  for (std::size_t i = 0; i < cases().size(); ++i) {
    SCOPED_TRACE(cases()[i].name);
    const Result result = program.run(i, {a}, {order, 7});
    const std::string expected = cases()[i].fault;
    // Within a cluster the same block is the last in both launches.
    if (cluster > 1 && expected == "has another result") continue;
    ASSERT_EQ(result.fault.has_value(), !expected.empty()) << result.fault.value_or("nothing");
    if (result.fault) {
      // If blocks run at the same time, the emulator may find the fault in another way.
      if (cluster == 1) {
        EXPECT_THAT(*result.fault, HasSubstr(expected));
      }
      continue;
    }
    for (int t = 0; t < kThreads; ++t) {
      float sum = 0;
      for (int block = 0; block < kBlocks; ++block) sum += a[static_cast<std::size_t>(block * kThreads + t)];
      EXPECT_EQ(result.outputs[0][static_cast<std::size_t>(t)], sum);
    }
    EXPECT_EQ(result.traffic[2].written_bytes, kBlocks * kThreads * 4);
    EXPECT_EQ(result.traffic[2].read_bytes, kBlocks * kThreads * 4);
    EXPECT_EQ(result.traffic[3].written_bytes, kBlocks * 4);
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, Workspace,
                         ::testing::Combine(::testing::Values(Order::kForward, Order::kReverse,
                                                              Order::kRandom, Order::kWarpAhead),
                                            ::testing::Values(1, kBlocks)));

TEST(WorkspaceAtomics, NoOtherParameterTakesAtomics) {
  const Program program(std::vector<Source>{
      lehr::testing::kernel_text({{"c", DType::kU32, 1, ir::Direction::kOut}}, 1, 16, "atomicAdd(c, 1u);")});
  EXPECT_THAT(program.run(0, {}).fault.value_or(""),
              HasSubstr("makes an atomic on c, which is no workspace"));
}

}  // namespace
}  // namespace lehr::emulator
