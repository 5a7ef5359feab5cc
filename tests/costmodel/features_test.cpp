// The feature table and rows of ordinary and odd kernels.
#include "costmodel/features.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "base/error.h"
#include "target/cuda/archs.h"
#include "tests/costmodel/kernels.h"

namespace lehr {
namespace {

using namespace lehr::ir;  // NOLINT

void expect_finite(const std::vector<float>& row) {
  ASSERT_EQ(row.size(), feature_table().size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    EXPECT_TRUE(std::isfinite(row[i])) << feature_table()[i].name << " = " << row[i];
  }
}

TEST(FeatureTable, NamesAreUniqueAndEveryColumnHasUnitAndMeaning) {
  std::set<std::string_view> names;
  for (const FeatureInfo& info : feature_table()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name << " twice";
    EXPECT_FALSE(info.name.empty());
    EXPECT_FALSE(info.unit.empty()) << info.name;
    EXPECT_GT(info.meaning.size(), 5u) << info.name;
    EXPECT_EQ(info.meaning.find('\n'), std::string_view::npos) << info.name;
  }
  EXPECT_GE(names.size(), 100u);
  EXPECT_LE(names.size(), 200u);
}

TEST(FeatureTable, FindsAColumnByNameAndRefusesAnUnknownOne) {
  EXPECT_EQ(feature_table()[feature_index("occupancy")].name, "occupancy");
  EXPECT_THROW(feature_index("ocupancy"), Error);
}

TEST(FeatureRow, IsFiniteForGemmsOnBothTargets) {
  expect_finite(featurize(test::cpu_gemm({}), test::cpu_test_limits()));
  expect_finite(featurize(test::cuda_gemm({}), cuda_limits("sm_90a")));
}

TEST(FeatureRow, IsTheSameFromAnAnalysisAtHand) {
  const Kernel kernel = test::cuda_gemm({});
  const Limits limits = cuda_limits("sm_80");
  EXPECT_EQ(featurize(kernel, limits), featurize(analyze(kernel), kernel, limits));
}

TEST(FeatureRow, IsFiniteForAKernelWithoutLoopsAndWithoutAccesses) {
  for (const Target target : {Target::kCpu, Target::kCuda}) {
    KernelBuilder empty;
    empty.kernel.target = target;
    expect_finite(featurize(empty.kernel, test::cpu_test_limits()));
    expect_finite(featurize(empty.kernel, cuda_limits("sm_80")));
    expect_finite(featurize(empty.kernel, Limits{}));

    KernelBuilder loops;
    loops.kernel.target = target;
    const VarId i = loops.var("i");
    loops.kernel.body = block(loop(i, 8, LoopKind::kSerial, Block{}));
    expect_finite(featurize(loops.kernel, cuda_limits("sm_80")));

    KernelBuilder flat;
    flat.kernel.target = target;
    const BufferId in = flat.param("in", DType::kF32, 4, Direction::kIn);
    const BufferId out = flat.param("out", DType::kF32, 4, Direction::kOut);
    flat.kernel.body = block(Store{out, integer(0), load(in, integer(0), 4), 4, {}});
    expect_finite(featurize(flat.kernel, test::cpu_test_limits()));
    expect_finite(featurize(flat.kernel, cuda_limits("sm_80")));
  }
}

TEST(FeatureRow, IsFiniteForHugeAndEmptyExtents) {
  for (const std::int64_t extent : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1} << 40}) {
    for (const LoopKind kind :
         {LoopKind::kSerial, LoopKind::kUnrolled, LoopKind::kThreadX, LoopKind::kBlockX}) {
      KernelBuilder b;
      b.kernel.target = Target::kCuda;
      const BufferId in = b.param("in", DType::kF64, std::int64_t{1} << 50, Direction::kIn);
      const BufferId out = b.param("out", DType::kF64, std::int64_t{1} << 50, Direction::kOut);
      const VarId i = b.var("i"), j = b.var("j");
      Stmt body = Store{out, var(i) * 1024 + var(j), load(in, var(j) * 1048576 + var(i)), 1, {}};
      b.kernel.body =
          block(loop(i, extent, kind, block(loop(j, extent, LoopKind::kSerial, block(std::move(body))))));
      expect_finite(featurize(b.kernel, cuda_limits("sm_90a")));
    }
  }
}

TEST(FeatureRow, IsFiniteForHandMadeAnalysesOfAnyNumbers) {
  const Kernel kernel = test::cuda_gemm({});
  Analysis a = analyze(kernel);
  a.flops = std::numeric_limits<double>::infinity();
  a.barriers = std::nan("");
  a.launch.block = {0, 0, 0};
  a.launch.grid = {1 << 30, 65535, 65535};
  for (Access& access : a.accesses) {
    access.strides.clear();
    access.footprint.clear();
  }
  expect_finite(featurize(a, kernel, cuda_limits("sm_90a")));
}

TEST(FeatureRow, HasMoreLoopsThanSlotsWithoutHarm) {
  KernelBuilder b;
  const BufferId out = b.param("out", DType::kF32, 1 << 12, Direction::kOut);
  Expr index = integer(0);
  std::vector<VarId> vars;
  for (int i = 0; i < 12; ++i) {
    vars.push_back(b.var("i"));
    index = std::move(index) + var(vars.back()) * (std::int64_t{1} << i);
  }
  Block body = block(Store{out, index, zero(DType::kF32), 1, {}});
  for (const VarId v : vars) body = block(loop(v, 2, LoopKind::kSerial, std::move(body)));
  b.kernel.body = std::move(body);
  const auto row = featurize(b.kernel, test::cpu_test_limits());
  expect_finite(row);
  EXPECT_FLOAT_EQ(test::feature(row, "serial7_extent"), std::log2(3.0f));
  EXPECT_EQ(test::feature(row, "chain_depth"), 12);
}

TEST(FeatureMatrixTest, RefusesARowOfAnotherLength) {
  FeatureMatrix matrix(3);
  matrix.append(std::vector<float>{1, 2, 3});
  EXPECT_THROW(matrix.append(std::vector<float>{1, 2}), Error);
  EXPECT_EQ(matrix.rows(), 1u);
  EXPECT_EQ(matrix.row(0)[2], 3);
}

}  // namespace
}  // namespace lehr
