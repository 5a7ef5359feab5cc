// Tests of prepacking, which changes constant inputs before the first launch: rules, launch shape and
// readable form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/analyze.h"
#include "ir/print.h"
#include "tests/support/verify.h"

namespace lehr::ir {
namespace {

using ::testing::HasSubstr;

/// y = 2 x f, where u = 2 f is made first.
struct Doubled {
  KernelBuilder b;
  BufferId x, f, y, u;
  VarId work_item, task;

  Doubled() {
    b.kernel.name = "doubled";
    b.kernel.target = Target::kCpu;
    x = b.param("x", DType::kF32, 8, Direction::kIn);
    f = b.param("f", DType::kF32, 8, Direction::kIn);
    y = b.param("y", DType::kF32, 8, Direction::kOut);
    u = b.param("u", DType::kF32, 8, Direction::kPrepacked);
    work_item = b.var("part");
    task = b.var("task_index");
    b.kernel.prepack =
        block(loop(work_item, 8, LoopKind::kParallel,
                   block(set(u, load(f, var(work_item)) + load(f, var(work_item)), work_item))));
    b.kernel.body = block(
        loop(task, 4, LoopKind::kParallel, block(set(y, load(x, var(task)) * load(u, var(task)), task))));
  }
  static Stmt set(BufferId buffer, Expr value, VarId at) {
    return Store{buffer, var(at), std::move(value), 1, std::nullopt};
  }
  std::string complaint() const { return why_malformed(b.kernel).value_or(""); }
};

TEST(Prepack, IsAcceptedAndHasTasksOfItsOwn) {
  const Doubled d;
  EXPECT_EQ(d.complaint(), "");
  EXPECT_EQ(launch_of(d.b.kernel).work_items, 4);
  EXPECT_EQ(launch_of(d.b.kernel).prepack_work_items, 8);
}

TEST(Prepack, IsNoPartOfWhatIsTimed) {
  EXPECT_EQ(analyze(Doubled().b.kernel).flops, 4);
}

TEST(Prepack, MustStandBehindTheTensors) {
  Doubled d;
  std::swap(d.b.kernel.params[2], d.b.kernel.params[3]);
  EXPECT_THAT(d.complaint(), HasSubstr("parameter y stands behind a prepacked one"));
}

TEST(Prepack, MustFillItsParameters) {
  Doubled d;
  d.b.kernel.prepack = {};
  EXPECT_THAT(d.complaint(), HasSubstr("prepacked parameter u is never written"));
}

TEST(Prepack, FillsNothingElse) {
  Doubled d;
  d.b.kernel.prepack.push_back(Store{d.y, integer(0), load(d.f, integer(0)), 1, std::nullopt});
  EXPECT_THAT(d.complaint(), HasSubstr("y is out and cannot be written while prepacking"));
}

TEST(Prepack, IsNotWrittenByTheBody) {
  Doubled d;
  d.b.kernel.body.push_back(Store{d.u, integer(0), load(d.f, integer(0)), 1, std::nullopt});
  EXPECT_THAT(d.complaint(), HasSubstr("u is prepacked and cannot be written but while prepacking"));
}

TEST(Prepack, ExistsOnTheCpuOnly) {
  Doubled d;
  d.b.kernel.target = Target::kCuda;
  EXPECT_THAT(d.complaint(), HasSubstr("u is prepacked, which only kernels for cpu have"));
}

TEST(Prepack, IsPrinted) {
  const std::string text = to_text(Doubled().b.kernel);
  EXPECT_THAT(text, HasSubstr("out y: f32[8], prepacked u: f32[8])\nprepack\n"));
  EXPECT_THAT(text, HasSubstr("\nbody\n"));
}

}  // namespace
}  // namespace lehr::ir
