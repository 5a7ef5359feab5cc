// KernelBuilder's names, launch shapes, deep copies.
#include "ir/kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "base/error.h"
#include "ir/print.h"
#include "tests/ir/sample_kernels.h"

namespace lehr::ir {
namespace {

TEST(KernelBuilder, KeepsNamesUniqueAmongVariablesAndBuffers) {
  KernelBuilder b;
  const VarId first = b.var("i");
  const VarId second = b.var("i");
  const BufferId buffer = b.buffer("i", DType::kF32, Scope::kRegister, 4);
  const BufferId third = b.buffer("i", DType::kF32, Scope::kRegister, 4);
  const VarId other = b.var("row_of_2x2");
  EXPECT_EQ(b.kernel.buffer(buffer).name, "i");
  EXPECT_EQ(b.kernel.buffer(third).name, "i_2");
  EXPECT_EQ(b.kernel.name_of(first), "i_3");
  EXPECT_EQ(b.kernel.name_of(second), "i_4");
  EXPECT_EQ(var_names(b.kernel), (std::vector<std::string>{"i_3", "i_4", b.kernel.name_of(other)}));
  b.var("i_2");
  EXPECT_THROW(var_names(b.kernel), Error);
}

// A template that makes two variables in the arguments of one call makes them in an order that the compiler
// chooses.
TEST(KernelBuilder, NumbersVariablesAsTheTextBindsThemAndNotAsTheyWereMade) {
  const auto text = [](bool swapped) {
    KernelBuilder b;
    VarId first = b.var("i"), second = b.var("i");
    if (swapped) std::swap(first, second);
    const BufferId out = b.param("out", DType::kF32, 4, Direction::kOut);
    const auto fill = [&](VarId i) {
      return loop(i, 4, LoopKind::kSerial, block(Store{out, var(i), Float{1, DType::kF32}, 1, std::nullopt}));
    };
    b.kernel.prepack = block(fill(b.var("i")));
    b.kernel.body = block(fill(first), fill(second));
    return to_text(b.kernel);
  };
  EXPECT_EQ(text(false), text(true));
  EXPECT_THAT(text(false), ::testing::HasSubstr("body\nfor i in 0..4:\n  out[i] = 1.0\nfor i_2 in 0..4:"));
}

TEST(KernelBuilder, ListsParametersInTheOrderOfTheirCalls) {
  KernelBuilder b;
  b.param("in", DType::kF16, 10, Direction::kIn);
  b.buffer("local", DType::kF32, Scope::kRegister, 4);
  const BufferId out = b.param("out", DType::kF32, 20, Direction::kOut);
  ASSERT_EQ(b.kernel.params.size(), 2u);
  EXPECT_EQ(b.kernel.params[1].buffer, out);
  EXPECT_EQ(b.kernel.buffer(out).scope, Scope::kGlobal);
}

TEST(Launch, ReadsTasksOffTheParallelLoop) {
  const Launch launch = launch_of(testing::cpu_gemm());
  EXPECT_EQ(launch.work_items, 2);
  EXPECT_EQ(launch.shared_bytes, 0);
}

TEST(Launch, ReadsGridBlockAndSharedBytesOffTheLoops) {
  const Launch launch = launch_of(testing::cuda_gemm());
  EXPECT_EQ(launch.grid, (std::array<std::int64_t, 3>{2, 2, 1}));
  EXPECT_EQ(launch.block, (std::array<std::int64_t, 3>{64, 1, 1}));
  EXPECT_EQ(launch.shared_bytes, 2 * 32 * 8 * 4);
}

TEST(Launch, RoundsEachSharedBufferUpTo16Bytes) {
  KernelBuilder b;
  b.kernel.target = Target::kCuda;
  b.buffer("x", DType::kS8, Scope::kShared, 17);
  b.buffer("y", DType::kF32, Scope::kShared, 1);
  EXPECT_EQ(launch_of(b.kernel).shared_bytes, 32 + 16);
}

TEST(Launch, AcceptsSiblingLoopsOfOneExtentAndRefusesOthers) {
  KernelBuilder b;
  b.kernel.target = Target::kCuda;
  const VarId x = b.var("x"), y = b.var("y");
  b.kernel.body = block(loop(x, 32, LoopKind::kThreadY, {}), loop(y, 32, LoopKind::kThreadY, {}));
  EXPECT_EQ(launch_of(b.kernel).block[1], 32);
  b.kernel.body.push_back(loop(x, 16, LoopKind::kThreadY, {}));
  EXPECT_THROW(launch_of(b.kernel), Error);
}

TEST(Unrolled, IsALoopWhereItRunsMoreThanOnce) {
  KernelBuilder b;
  const BufferId out = b.param("out", DType::kF32, 4, Direction::kOut);
  const auto stored = [&](const Expr& at) { return block(Store{out, at, Float{1}, 1, std::nullopt}); };
  const Unrolled four(b, "i", 4), one(b, "j", 1);
  EXPECT_EQ(four.over(stored(four.at)),
            block(loop(four.at.as_var()->id, 4, LoopKind::kUnrolled, stored(four.at))));
  EXPECT_EQ(one.at, integer(0));
  EXPECT_EQ(one.over(stored(one.at)), stored(integer(0)));
  EXPECT_EQ(b.kernel.vars.size(), 1u);
  EXPECT_THROW(Unrolled(b, "none", 0), Error);
}

TEST(Kernel, IsAValue) {
  const Kernel original = testing::cuda_gemm();
  Kernel copy = original;
  EXPECT_EQ(copy, original);
  copy.body.push_back(Barrier{});
  EXPECT_NE(copy, original);
  EXPECT_EQ(original, testing::cuda_gemm());
  copy = original;
  testing::change_nth<For>(copy.body, 0, [](For& loop) { loop.body = {}; });
  EXPECT_NE(copy, original);
  EXPECT_EQ(original, testing::cuda_gemm());
}

}  // namespace
}  // namespace lehr::ir
