// Tests of the part of a problem's memory that is in the caches when a layer of a network begins.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure/host/host_buffers.h"
#include "tune/workload_problem.h"

namespace lehr::testing {
namespace {

/// Returns the numbers of the fresh tensors, in the order in which they are read.
std::vector<std::size_t> fresh_tensors(const char* text) {
  Problem problem = asked_problem(parse_workload(text), 1);
  make(problem, 1);
  const HostBuffers buffers(problem);
  std::vector<std::size_t> numbers;
  for (const FreshBytes& each : buffers.fresh())
    for (std::size_t i = 0; i < problem.arguments.size(); ++i)
      if (buffers.pointers()[i] == each.data) numbers.push_back(i);
  return numbers;
}

TEST(FreshBytes, AreWhatLayersHaveJustWrittenAndNoWeights) {
  using ::testing::ElementsAre;
  EXPECT_THAT(fresh_tensors("conv2d n=1 h=6 w=6 c=8 k=8 r=3 s=3 pad=1 epilogue=bias+residual+relu"),
              ElementsAre(4, 2, 0))
      << "image, output and what is added; neither filter nor bias";
  EXPECT_THAT(fresh_tensors("gemm m=4 n=8 k=8 b=f32:row:constant"), ElementsAre(2, 0));
  EXPECT_THAT(fresh_tensors("gemm m=4 n=8 k=8"), ElementsAre(2, 1, 0))
      << "attention's B is made by a layer, too";
}

}  // namespace
}  // namespace lehr::testing
